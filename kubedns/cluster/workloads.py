"""Laptop mode: what a cluster's controllers would make of what a developer writes.

Deployments, ReplicaSets, StatefulSets and DaemonSets become Pods; Services get addresses; selectors give
EndpointSlices. What is written down already (addresses, slices, Nodes, Namespaces) is taken as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network

from kubedns.cluster.allocation import AddressPool, Network, suffix_for
from kubedns.cluster.bodies import Labels, PodBody, PodSpec, ServiceBody, ServicePortBody, WorkloadBody
from kubedns.cluster.decoding import NAMESPACE_LABEL, STATEFUL_LABEL, decode_pod, names_of
from kubedns.cluster.objects import (
    Endpoint,
    EndpointPort,
    EndpointSlice,
    Namespace,
    Node,
    Object,
    Pod,
    Service,
)

READY_ANNOTATION = "kubedns.io/ready"
"""On a Pod, a pod template or a workload: ``"false"`` makes it not ready."""
NODE_NAME = "laptop"
"""The Node that is made up where Pods need one and none is given."""


@dataclass(frozen=True, slots=True)
class Networks:
    """Where addresses are made up: of Services and of Pods, a network for each family in use."""

    services: tuple[Network, ...] = (ip_network("10.96.0.0/12"),)
    pods: tuple[Network, ...] = (ip_network("10.244.0.0/16"),)


@dataclass(frozen=True, slots=True)
class WrittenService:
    """A Service whose selector or missing address asks for something to be made up."""

    service: Service
    body: ServiceBody


@dataclass(frozen=True, slots=True)
class RunningPod:
    """A Pod with what selectors and target ports look at."""

    pod: Pod
    labels: Labels
    spec: PodSpec
    is_ready: bool


@dataclass(slots=True)
class Written:
    """What manifests say: ``objects`` to be taken as they are, the rest to be worked out."""

    objects: list[Object] = field(default_factory=list)
    services: list[WrittenService] = field(default_factory=list)
    pods: list[tuple[PodBody, str]] = field(default_factory=list)
    workloads: list[tuple[str, WorkloadBody, str]] = field(default_factory=list)

    def extend(self, other: Written) -> None:
        """Add what another document says."""
        self.objects += other.objects
        self.services += other.services
        self.pods += other.pods
        self.workloads += other.workloads


def expand(written: Written, networks: Networks) -> list[Object]:
    """Everything that there is in the cluster that ``written`` describes.

    Raises:
        NoRoomError: more addresses are needed than a network has.
    """
    objects = list(written.objects)
    nodes = sorted(item.name for item in objects if isinstance(item, Node))
    if written.workloads and not nodes:
        objects.append(Node(NODE_NAME, (ip_address("127.0.0.1").packed,), "made up"))
        nodes = [NODE_NAME]
    pods = list(_pods(written, nodes, AddressBook(networks.pods, _taken(objects, written))))
    objects += [running.pod for running in pods]
    services = _addressed(written.services, AddressBook(networks.services, _taken(objects, written)))
    objects += services
    with_slices = {(item.namespace, item.service) for item in objects if isinstance(item, EndpointSlice)}
    for service, written_service in zip(services, written.services, strict=True):
        if (service.namespace, service.name) not in with_slices:
            objects += _slices(service, written_service.body, pods)
    return objects + _namespaces(objects)


class AddressBook:
    """Gives each owner an address of every family asked for."""

    def __init__(self, networks: Sequence[Network], taken: Iterable[bytes]) -> None:
        known = set(taken)
        self._pools = {network.version: AddressPool(network, known) for network in networks}

    def addresses_for(self, owner: str, families: Sequence[str] = ()) -> tuple[bytes, ...]:
        """An address of each of ``families`` (IPv4, IPv6) that there is a network of; of the first network if none."""
        wanted = [4 if family == "IPv4" else 6 for family in families]
        versions = [version for version in wanted if version in self._pools] or [next(iter(self._pools))]
        return tuple(self._pools[version].address_for(owner) for version in versions)

    def every_address_for(self, owner: str) -> tuple[bytes, ...]:
        """An address of every family."""
        return tuple(pool.address_for(owner) for pool in self._pools.values())


def _taken(objects: Iterable[Object], written: Written) -> Iterator[bytes]:
    for item in objects:
        match item:
            case Service():
                yield from item.cluster_ips
            case Pod() | Node():
                yield from item.addresses
            case EndpointSlice():
                for endpoint in item.endpoints:
                    yield from endpoint.addresses
    for each in written.services:
        yield from each.service.cluster_ips
    for body, origin in written.pods:
        yield from decode_pod(body, origin).addresses


def _addressed(services: Sequence[WrittenService], book: AddressBook) -> list[Service]:
    """The Services, each with an address where it has none; in the order of their names, so that none depends on it."""
    given: dict[tuple[str, str], Service] = {}
    for each in sorted(services, key=lambda each: (each.service.namespace, each.service.name)):
        service = each.service
        if not (service.cluster_ips or service.is_headless or service.external_name):
            owner = f"{service.namespace}/{service.name}"
            cluster_ips = book.addresses_for(owner, each.body.spec.ip_families or ())
            service = Service(
                service.namespace, service.name, cluster_ips, service.ports,
                publish_not_ready=service.publish_not_ready, origin=service.origin,
            )  # fmt: skip
        given[service.namespace, service.name] = service
    return [given[each.service.namespace, each.service.name] for each in services]


def _pods(written: Written, nodes: Sequence[str], book: AddressBook) -> Iterator[RunningPod]:
    for kind, body, origin in sorted(written.workloads, key=lambda each: (*names_of(each[1].metadata), each[0])):
        yield from _workload_pods(kind, body, origin, nodes, book)
    for pod_body, origin in sorted(written.pods, key=lambda each: names_of(each[0].metadata)):
        pod = decode_pod(pod_body, origin)
        has_none = not (pod_body.status.pod_ip or pod_body.status.pod_ips or pod_body.spec.host_network)
        if has_none and pod_body.status.phase in (None, "Running"):
            addresses = book.every_address_for(f"{pod.namespace}/{pod.name}")
            pod = _pod(pod, addresses, pod.node or (nodes[0] if nodes else ""))
        metadata = pod_body.metadata
        yield RunningPod(pod, metadata.labels or {}, pod_body.spec, _is_ready(metadata.annotations))


def _pod(pod: Pod, addresses: tuple[bytes, ...], node: str) -> Pod:
    return Pod(
        pod.namespace, pod.name, pod.uid, addresses, pod.hostname, pod.subdomain, pod.stateful_name, node, pod.origin
    )


def _workload_pods(
    kind: str, body: WorkloadBody, origin: str, nodes: Sequence[str], book: AddressBook
) -> Iterator[RunningPod]:
    namespace, workload = names_of(body.metadata)
    spec, template = body.spec, body.spec.template
    labels = template.metadata.labels or {}
    is_ready = _is_ready(body.metadata.annotations) and _is_ready(template.metadata.annotations)
    for place, (name, node) in enumerate(_places(kind, namespace, workload, body, nodes)):
        owner = f"{namespace}/{name}"
        stateful = kind == "StatefulSet"
        addresses = () if template.spec.host_network else book.every_address_for(owner)
        pod = Pod(
            namespace,
            name,
            suffix_for(f"uid/{owner}", 12),
            addresses,
            name if stateful else template.spec.hostname or "",
            (spec.service_name if stateful else template.spec.subdomain) or "",
            name if stateful else "",
            template.spec.node_name or node or nodes[place % len(nodes)],
            origin,
        )
        own = {STATEFUL_LABEL: name, "apps.kubernetes.io/pod-index": name.rsplit("-", 1)[1]} if stateful else {}
        yield RunningPod(pod, {**labels, **own}, template.spec, is_ready)


def _places(
    kind: str, namespace: str, workload: str, body: WorkloadBody, nodes: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """The name of each Pod of a workload and, where the workload decides it, its node."""
    count = 1 if body.spec.replicas is None else body.spec.replicas
    owner = f"{kind}/{namespace}/{workload}"
    match kind:
        case "StatefulSet":
            start = body.spec.ordinals.start if body.spec.ordinals else 0
            for ordinal in range(start, start + count):
                yield f"{workload}-{ordinal}", ""
        case "DaemonSet":
            for node in nodes:
                yield f"{workload}-{suffix_for(f'{owner}/{node}', 5)}", node
        case _:
            middle = f"-{suffix_for(owner, 10)}" if kind == "Deployment" else ""
            for ordinal in range(count):
                yield f"{workload}{middle}-{suffix_for(f'{owner}/{ordinal}', 5)}", ""


def _is_ready(annotations: Labels | None) -> bool:
    return (annotations or {}).get(READY_ANNOTATION) != "false"


def _slices(service: Service, body: ServiceBody, pods: Iterable[RunningPod]) -> Iterator[EndpointSlice]:
    """Slices of the Pods that the Service selects: one for each address family and each set of ports."""
    selector = body.spec.selector
    if not selector or service.external_name:
        return
    groups: dict[tuple[int, tuple[EndpointPort, ...]], list[Endpoint]] = {}
    for running in pods:
        if running.pod.namespace != service.namespace or not selector.items() <= running.labels.items():
            continue
        ports = _target_ports(body.spec.ports or (), running.spec)
        for address in running.pod.addresses:
            groups.setdefault((len(address), ports), []).append(_endpoint(running, address, service))
    for place, ((_, ports), endpoints) in enumerate(groups.items()):
        name = f"{service.name}-{suffix_for(f'{service.namespace}/{service.name}/{place}', 5)}"
        yield EndpointSlice(service.namespace, name, service.name, ports, tuple(endpoints), service.origin)


def _endpoint(running: RunningPod, address: bytes, service: Service) -> Endpoint:
    pod = running.pod
    hostname = pod.hostname if pod.subdomain == service.name else ""
    ready = running.is_ready or service.publish_not_ready
    return Endpoint((address,), hostname, pod.name, pod.uid, pod.node, "", ready, running.is_ready)


def _target_ports(ports: Iterable[ServicePortBody], spec: PodSpec) -> tuple[EndpointPort, ...]:
    """Where a Pod listens for each of a Service's ports; a named target that it lacks is left out."""
    found = []
    for port in ports:
        target = _target_port(port, spec)
        if target:
            found.append(EndpointPort(port.name or "", port.protocol or "TCP", target))
    return tuple(found)


def _target_port(port: ServicePortBody, spec: PodSpec) -> int:
    if not isinstance(port.target_port, str):
        return port.target_port or port.port
    for container in spec.containers or ():
        for container_port in container.ports or ():
            if container_port.name == port.target_port:
                return container_port.container_port
    return 0


def _namespaces(objects: Iterable[Object]) -> list[Object]:
    """The Namespaces that objects are in and that nobody wrote down."""
    given = {item.name for item in objects if isinstance(item, Namespace)}
    used = {item.namespace for item in objects if item.namespace}
    return [Namespace(name, {NAMESPACE_LABEL: name}, "made up") for name in sorted(used - given)]
