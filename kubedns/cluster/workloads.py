"""Laptop mode: what a cluster's controllers would make of what a developer writes.

Deployments, ReplicaSets, StatefulSets and DaemonSets become Pods; Services get addresses; selectors give
EndpointSlices. What is written down already (addresses, slices, Nodes, Namespaces) is taken as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import ip_address, ip_network

from msgspec.structs import replace

from kubedns.cluster.allocation import AddressBook, Network, suffix_for
from kubedns.cluster.decoding import NAMESPACE_LABEL, STATEFUL_LABEL
from kubedns.cluster.derived_slices import Running, SliceMaker
from kubedns.cluster.objects import EndpointSlice, Namespace, Node, Object, Pod, Service
from kubedns.cluster.selectors import LabelSelector
from kubedns.cluster.written import Entry, WorkloadKey, WrittenEndpoints, WrittenPod, WrittenService, WrittenWorkload

NODE_NAME = "laptop"
"""The Node that is made up where Pods need one and none is given."""
MADE_UP = "made up"
"""The origin of what nobody wrote down."""
INDEX_LABEL = "apps.kubernetes.io/pod-index"


@dataclass(frozen=True, slots=True)
class Networks:
    """Where addresses are made up: of Services and of Pods, a network for each family in use."""

    services: tuple[Network, ...] = (ip_network("10.96.0.0/12"),)
    pods: tuple[Network, ...] = (ip_network("10.244.0.0/16"),)


@dataclass(frozen=True, slots=True)
class Expansion:
    """``objects``: all that there is; ``full``: networks that ran out, so that some objects lack an address."""

    objects: list[Object]
    full: tuple[Network, ...]


@dataclass(slots=True)
class _Sorted:
    """Entries by what has to be done with them."""

    objects: list[Object]
    services: list[WrittenService]
    endpoints: list[WrittenEndpoints]
    pods: list[WrittenPod]
    workloads: list[WrittenWorkload]


def expand(entries: Iterable[Entry], networks: Networks, selector: LabelSelector) -> Expansion:
    """Everything that there is in the cluster that ``entries`` describe; ``selector`` says which Pods are shown.

    A Pod that is not shown is an endpoint of Services nevertheless.
    """
    written = _sort(entries)
    objects = written.objects
    if written.workloads and not any(isinstance(item, Node) for item in objects):
        objects.append(Node(NODE_NAME, (ip_address("127.0.0.1").packed,), MADE_UP))
    nodes = {item.name: item for item in objects if isinstance(item, Node)}
    taken = set(_taken(written))
    pod_book, service_book = AddressBook(networks.pods, taken), AddressBook(networks.services, taken)
    pods = list(_running(written, nodes, pod_book))
    objects += [each.pod for each in pods if selector.matches(each.traits.labels)]
    services = _addressed(written.services, service_book)
    objects += [each.service for each in services]
    objects += _slices(written, services, pods)
    objects += _namespaces(objects, {each.namespace for each in written.workloads})
    return Expansion(objects, pod_book.full + service_book.full)


def _sort(entries: Iterable[Entry]) -> _Sorted:
    found = _Sorted([], [], [], [], [])
    for entry in entries:
        match entry:
            case WrittenService():
                found.services.append(entry)
            case WrittenEndpoints():
                found.endpoints.append(entry)
            case WrittenPod():
                found.pods.append(entry)
            case WrittenWorkload():
                found.workloads.append(entry)
            case _:
                found.objects.append(entry)
    # In the order of their names, so that no address depends on which file something is in.
    found.services.sort(key=lambda each: (each.service.namespace, each.service.name))
    found.pods.sort(key=lambda each: (each.pod.namespace, each.pod.name))
    found.workloads.sort(key=lambda each: (each.namespace, each.name, each.kind))
    return found


def _taken(written: _Sorted) -> Iterator[bytes]:
    for item in written.objects:
        match item:
            case Service():
                yield from item.cluster_ips
            case Node():
                yield from item.addresses
            case EndpointSlice():
                for endpoint in item.endpoints:
                    yield from endpoint.addresses
    for service in written.services:
        yield from service.service.cluster_ips
    for pod in written.pods:
        yield from pod.pod.addresses


def _addressed(services: Sequence[WrittenService], book: AddressBook) -> list[WrittenService]:
    """The Services, each with an address where it has none."""
    return [each if each.service.cluster_ips or each.service.is_headless else _placed(each, book) for each in services]


def _placed(written: WrittenService, book: AddressBook) -> WrittenService:
    service = written.service
    owner = f"{service.namespace}/{service.name}"
    if written.wants_every_family and len(written.families) < 2:
        addresses = book.every_address_for(owner)
    else:
        addresses = book.addresses_for(owner, written.families)
    return replace(written, service=replace(service, cluster_ips=addresses))


def _running(written: _Sorted, nodes: dict[str, Node], book: AddressBook) -> Iterator[Running]:
    # What has Pods (or ReplicaSets) of its own among the manifests was at work already, in the cluster they are from.
    at_work: set[WorkloadKey] = {key for pod in written.pods for key in pod.owners}
    at_work |= {key for workload in written.workloads for key in workload.owners}
    names = sorted(nodes)
    for workload in written.workloads:
        if (workload.kind, workload.namespace, workload.name) not in at_work:
            yield from _workload_pods(workload, nodes, names, book)
    for each in written.pods:
        pod = each.pod
        if each.lacks_address:
            addresses = book.every_address_for(f"{pod.namespace}/{pod.name}")
            pod = replace(pod, addresses=addresses, node=pod.node or (names[0] if names else ""))
        reached_at = pod.addresses or each.host_addresses or _host_addresses(each.traits.uses_host_network, pod, nodes)
        yield Running(pod, each.traits, reached_at)


def _workload_pods(
    workload: WrittenWorkload, nodes: dict[str, Node], names: Sequence[str], book: AddressBook
) -> Iterator[Running]:
    is_stateful = workload.kind == "StatefulSet"
    for place, (name, node) in enumerate(_places(workload, names)):
        owner = f"{workload.namespace}/{name}"
        traits = workload.traits
        if is_stateful:
            labels = {**traits.labels, STATEFUL_LABEL: name, INDEX_LABEL: str(workload.start + place)}
            traits = replace(traits, labels=labels)
        pod = Pod(
            workload.namespace,
            name,
            suffix_for(f"uid/{owner}", 12),
            () if traits.uses_host_network else book.every_address_for(owner),
            name if is_stateful else workload.hostname,
            workload.subdomain,
            name if is_stateful else "",
            node or workload.node or names[place % len(names)],
            workload.origin,
        )
        yield Running(pod, traits, pod.addresses or _host_addresses(traits.uses_host_network, pod, nodes))


def _host_addresses(uses_host_network: bool, pod: Pod, nodes: dict[str, Node]) -> tuple[bytes, ...]:
    """Where a Pod in its node's network is reached; it does not own these addresses."""
    node = nodes.get(pod.node)
    return node.addresses if uses_host_network and node is not None else ()


def _places(workload: WrittenWorkload, nodes: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The name of each Pod of a workload and, where the workload decides it, its node."""
    owner = f"{workload.kind}/{workload.namespace}/{workload.name}"
    match workload.kind:
        case "StatefulSet":
            for ordinal in range(workload.start, workload.start + workload.replicas):
                yield f"{workload.name}-{ordinal}", ""
        case "DaemonSet":
            for node in nodes:
                yield f"{workload.name}-{suffix_for(f'{owner}/{node}', 5)}", node
        case _:
            middle = f"-{suffix_for(owner, 10)}" if workload.kind == "Deployment" else ""
            for ordinal in range(workload.replicas):
                yield f"{workload.name}{middle}-{suffix_for(f'{owner}/{ordinal}', 5)}", ""


def _slices(written: _Sorted, services: Iterable[WrittenService], pods: Sequence[Running]) -> Iterator[EndpointSlice]:
    """Of each Service the slices that are not written down: from its Endpoints, else from the Pods that it selects."""
    given = {(item.namespace, item.service) for item in written.objects if isinstance(item, EndpointSlice)}
    for endpoints in written.endpoints:
        if (endpoints.namespace, endpoints.service) not in given:
            yield from endpoints.slices
    given |= {(endpoints.namespace, endpoints.service) for endpoints in written.endpoints}
    maker = SliceMaker(pods)
    for service in services:
        if (service.service.namespace, service.service.name) not in given:
            yield from maker.slices(service)


def _namespaces(objects: Iterable[Object], used: set[str]) -> list[Object]:
    """The Namespaces that are ``used``, or that objects are in, and that nobody wrote down."""
    given = {item.name for item in objects if isinstance(item, Namespace)}
    used |= {item.namespace for item in objects if item.namespace}
    return [Namespace(name, {NAMESPACE_LABEL: name}, MADE_UP) for name in sorted(used - given)]
