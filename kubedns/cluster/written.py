"""What manifests say, read but not yet worked out: whatever a controller would still have to act on.

Everything that can be wrong with a document is found here, so that working it out (cluster.workloads) cannot fail.
"""

from __future__ import annotations

import msgspec

from kubedns.cluster.bodies import (
    EndpointsBody,
    Labels,
    OwnedMetadata,
    PodBody,
    PodSpec,
    PodStatus,
    Reference,
    ServiceBody,
    ServicePortBody,
    ServiceSpec,
    TemplateMetadata,
    WorkloadBody,
)
from kubedns.cluster.checks import BadObjectError, check_label, check_port
from kubedns.cluster.decoding import (
    decode_endpoints,
    decode_pod,
    decode_service,
    host_and_subdomain,
    names_of,
    status_addresses,
)
from kubedns.cluster.objects import EndpointSlice, Object, Pod, Service

READY_ANNOTATION = "kubedns.io/ready"
"""On a Pod, a pod template or a workload: ``"false"`` makes it not ready."""
MOST_REPLICAS = 10_000
WorkloadKey = tuple[str, str, str]
"""Kind, namespace and name."""


class WrittenService(msgspec.Struct, frozen=True):
    """A Service that selects Pods or lacks an address. ``families``: IPv4, IPv6 as asked for; empty: not said.

    ``targets``: for each port of the Service, a container port's number or its name.
    """

    service: Service
    selector: Labels
    families: tuple[str, ...]
    wants_every_family: bool
    targets: tuple[int | str, ...]


class WrittenEndpoints(msgspec.Struct, frozen=True):
    """Endpoints in their old form, as the slices that they stand for; real slices of the Service make them void."""

    namespace: str
    service: str
    slices: tuple[EndpointSlice, ...]


class PodTraits(msgspec.Struct, frozen=True):
    """What selectors and target ports look at. ``ports``: the numbers of the container ports that have names."""

    labels: Labels
    ports: dict[str, int]
    is_ready: bool
    uses_host_network: bool


class WrittenPod(msgspec.Struct, frozen=True):
    """A Pod. ``host_addresses``: where it is reached in its node's network; ``owners``: what it was made by."""

    pod: Pod
    traits: PodTraits
    lacks_address: bool
    host_addresses: tuple[bytes, ...]
    owners: tuple[WorkloadKey, ...]


class WrittenWorkload(msgspec.Struct, frozen=True):
    """A Deployment, ReplicaSet, StatefulSet or DaemonSet. ``start``: the first ordinal of a StatefulSet."""

    kind: str
    namespace: str
    name: str
    replicas: int
    start: int
    traits: PodTraits
    hostname: str
    subdomain: str
    node: str
    origin: str
    owners: tuple[WorkloadKey, ...]


Entry = Object | WrittenService | WrittenEndpoints | WrittenPod | WrittenWorkload


def written_service(body: ServiceBody, origin: str) -> Service | WrittenService:
    """The Service itself where nothing needs to be worked out."""
    service = decode_service(body, origin)
    spec = body.spec or ServiceSpec()
    has_place = bool(service.cluster_ips or service.is_headless)
    if service.external_name or (has_place and not spec.selector):
        return service
    targets = tuple(_target(port, f"spec.ports[{position}]") for position, port in enumerate(spec.ports or ()))
    wants_every_family = spec.ip_family_policy in ("PreferDualStack", "RequireDualStack")
    return WrittenService(service, spec.selector or {}, tuple(spec.ip_families or ()), wants_every_family, targets)


def written_endpoints(body: EndpointsBody, origin: str) -> WrittenEndpoints:
    """The Endpoints; none at all are a statement too."""
    return WrittenEndpoints(*names_of(body.metadata), decode_endpoints(body, origin))


def written_pod(body: PodBody, origin: str) -> WrittenPod:
    """The Pod; one that is not known to have stopped is taken to run, and gets an address where it has none."""
    spec, status, metadata = body.spec or PodSpec(), body.status or PodStatus(), body.metadata
    pod = decode_pod(body, origin)
    addresses = status_addresses(status)
    is_ready = _is_ready(metadata.annotations) and _has_come_up(status)
    return WrittenPod(
        pod,
        _traits(metadata.labels, spec, is_ready),
        not addresses and not spec.host_network and status.phase in (None, "Running"),
        addresses if spec.host_network and status.phase in (None, "Running") else (),
        _owners(pod.namespace, metadata),
    )


def written_workload(kind: str, body: WorkloadBody, origin: str) -> WrittenWorkload:
    """The workload, of which Pods can be made."""
    namespace, name = names_of(body.metadata)
    template = body.spec.template
    metadata, spec = template.metadata or TemplateMetadata(), template.spec or PodSpec()
    replicas = _replicas(body)
    hostname, subdomain = host_and_subdomain(spec, "spec.template.spec")
    start = (body.spec.ordinals.start if body.spec.ordinals else None) or 0
    if start < 0:
        raise BadObjectError("spec.ordinals.start", f"{start} is below 0", "give the number of the first Pod")
    if kind == "StatefulSet":
        check_label(f"{name}-{start + replicas}", "metadata.name")
        subdomain = check_label(body.spec.service_name or "", "spec.serviceName")
    return WrittenWorkload(
        kind,
        namespace,
        name,
        replicas,
        start,
        _traits(metadata.labels, spec, _is_ready(body.metadata.annotations) and _is_ready(metadata.annotations)),
        hostname,
        subdomain,
        spec.node_name or "",
        origin,
        _owners(namespace, body.metadata),
    )


def _target(body: ServicePortBody, where: str) -> int | str:
    if isinstance(body.target_port, str):
        return body.target_port
    # 0 is what other programs write for "not said".
    return check_port(body.target_port, f"{where}.targetPort") if body.target_port else body.port


def _replicas(body: WorkloadBody) -> int:
    replicas = 1 if body.spec.replicas is None else body.spec.replicas
    if not 0 <= replicas <= MOST_REPLICAS:
        raise BadObjectError("spec.replicas", f"{replicas} is out of range", f"give a number from 0 to {MOST_REPLICAS}")
    return replicas


def _traits(labels: Labels | None, spec: PodSpec, is_ready: bool) -> PodTraits:
    ports = {
        port.name: port.container_port
        for container in spec.containers or ()
        for port in container.ports or ()
        if port.name and 1 <= port.container_port <= 65535
    }
    return PodTraits(labels or {}, ports, is_ready, bool(spec.host_network))


def _is_ready(annotations: Labels | None) -> bool:
    return (annotations or {}).get(READY_ANNOTATION) != "false"


def _has_come_up(status: PodStatus) -> bool:
    """What the status says of readiness; one that says nothing was not written by a cluster."""
    return all(condition.status == "True" for condition in status.conditions or () if condition.type == "Ready")


def _owners(namespace: str, metadata: OwnedMetadata) -> tuple[WorkloadKey, ...]:
    references: list[Reference] = metadata.owner_references or []
    return tuple((each.kind or "", namespace, each.name or "") for each in references)
