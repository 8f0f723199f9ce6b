"""API objects → our objects: what is left open gets the meaning that the API gives it, what is wrong is named."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from sys import intern

import msgspec

from kubedns.cluster.bodies import (
    Conditions,
    EndpointAddress,
    EndpointBody,
    EndpointsBody,
    ImportBody,
    ImportSpec,
    Metadata,
    NamespaceBody,
    NodeBody,
    NodeStatus,
    PodBody,
    PodSpec,
    PodStatus,
    PortBody,
    Reference,
    ServiceBody,
    ServicePortBody,
    ServiceSpec,
    ServiceStatus,
    SliceBody,
    Subset,
)
from kubedns.cluster.checks import (
    check_external_name,
    check_label,
    check_name,
    check_port,
    check_protocol,
    check_word,
    label_or_none,
    packed_address,
    packed_addresses,
)
from kubedns.cluster.objects import (
    Endpoint,
    EndpointPort,
    EndpointSlice,
    Namespace,
    Node,
    Pod,
    Service,
    ServicePort,
)

SERVICE_LABEL = "kubernetes.io/service-name"
IMPORT_LABEL = "multicluster.kubernetes.io/service-name"
SOURCE_CLUSTER_LABEL = "multicluster.kubernetes.io/source-cluster"
STATEFUL_LABEL = "statefulset.kubernetes.io/pod-name"
NAMESPACE_LABEL = "kubernetes.io/metadata.name"
DEFAULT_NAMESPACE = "default"
_FINISHED = ("Succeeded", "Failed")
_PORTS_SHARED = 1024
# The same few ports come again in nearly every Service and slice: equal ones are one object, as interned strings are.
_shared_service_port = lru_cache(_PORTS_SHARED)(ServicePort)
_shared_endpoint_port = lru_cache(_PORTS_SHARED)(EndpointPort)


def decode_service(body: ServiceBody, origin: str) -> Service:
    """The Service. A headless one has the cluster IP ``None``; one without any has none yet."""
    spec = body.spec or ServiceSpec()
    namespace, name = names_of(body.metadata)
    check_label(name, "metadata.name")
    ports = tuple([_service_port(port, f"spec.ports[{position}]") for position, port in enumerate(spec.ports or ())])
    publish_not_ready = bool(spec.publish_not_ready_addresses)
    if spec.type == "ExternalName":
        target = check_external_name(spec.external_name)
        return Service(namespace, name, (), ports, False, target, publish_not_ready, origin)
    is_headless = spec.cluster_ip == "None" or "None" in (spec.cluster_ips or ())
    cluster_ips = () if is_headless else _cluster_ips(spec)
    return Service(
        namespace,
        name,
        cluster_ips,
        ports,
        is_headless,
        "",
        publish_not_ready,
        origin,
        *_external_places(spec, body.status or ServiceStatus()),
    )


def decode_slice(body: SliceBody, origin: str) -> EndpointSlice:
    """The slice. One of type FQDN has no endpoints: Kubernetes gives its addresses no meaning."""
    namespace, name = names_of(body.metadata)
    service = intern((body.metadata.labels or {}).get(SERVICE_LABEL, ""))
    bodies = [] if body.address_type == "FQDN" else body.endpoints or []
    endpoints = [_endpoint(each, f"endpoints[{position}]") for position, each in enumerate(bodies)]
    return EndpointSlice(namespace, name, service, _ports(body.ports, "ports"), tuple(endpoints), origin)


def decode_import(body: ImportBody, origin: str) -> Service:
    """What a ServiceImport is to clients: a Service of the whole clusterset, with its own addresses or without."""
    spec = body.spec or ImportSpec()
    namespace, name = names_of(body.metadata)
    check_label(name, "metadata.name")
    ports = tuple([_service_port(port, f"spec.ports[{position}]") for position, port in enumerate(spec.ports or ())])
    is_headless = spec.type == "Headless"
    addresses = () if is_headless else packed_addresses(spec.ips or (), "spec.ips")
    return Service(namespace, name, addresses, ports, is_headless, origin=origin)


def decode_imported_slice(body: SliceBody, origin: str) -> EndpointSlice:
    """The slice of a ServiceImport, with the cluster that it is from."""
    labels = body.metadata.labels or {}
    cluster = check_label(labels.get(SOURCE_CLUSTER_LABEL, ""), "metadata.labels")
    service = intern(labels.get(IMPORT_LABEL, ""))
    return msgspec.structs.replace(decode_slice(body, origin), service=service, cluster=intern(cluster))


def decode_endpoints(body: EndpointsBody, origin: str) -> tuple[EndpointSlice, ...]:
    """The slices that a slice controller would make of Endpoints: one for each subset and address family."""
    namespace, name = names_of(body.metadata)
    slices = []
    for position, subset in enumerate(body.subsets or ()):
        where = f"subsets[{position}]"
        ports = _ports(subset.ports, f"{where}.ports")
        for family, endpoints in _subset_endpoints(subset, where).items():
            slices.append(
                EndpointSlice(namespace, f"{name}-{position}-ipv{family}", name, ports, tuple(endpoints), origin)
            )
    return tuple(slices)


def decode_pod(body: PodBody, origin: str) -> Pod:
    """The Pod. It owns no address once it is finished, nor while it uses its node's."""
    namespace, name = names_of(body.metadata)
    spec, status = body.spec or PodSpec(), body.status or PodStatus()
    owns_none = status.phase in _FINISHED or bool(spec.host_network)
    own_addresses = status_addresses(status)
    hostname, subdomain = host_and_subdomain(spec, "spec")
    return Pod(
        namespace,
        name,
        check_word(body.metadata.uid, "metadata.uid"),
        () if owns_none else own_addresses,
        hostname,
        subdomain,
        label_or_none((body.metadata.labels or {}).get(STATEFUL_LABEL, "")),
        intern(check_word(spec.node_name, "spec.nodeName")),
        origin,
    )


def decode_node(body: NodeBody, origin: str) -> Node:
    """The Node with its InternalIPs."""
    found = (body.status or NodeStatus()).addresses or ()
    internal = [
        packed_address(each.address, f"status.addresses[{position}].address")
        for position, each in enumerate(found)
        if each.type == "InternalIP"
    ]
    return Node(names_of(body.metadata)[1], tuple(internal), origin)


def decode_namespace(body: NamespaceBody, origin: str) -> Namespace:
    """The Namespace with its labels, among them the one that the API server gives each."""
    name = names_of(body.metadata)[1]
    check_label(name, "metadata.name")
    return Namespace(name, {**(body.metadata.labels or {}), NAMESPACE_LABEL: name}, origin)


def names_of(metadata: Metadata) -> tuple[str, str]:
    """Namespace and name; a namespace left out is ``default``."""
    name = check_name(metadata.name, "metadata.name")
    namespace = check_name(metadata.namespace or DEFAULT_NAMESPACE, "metadata.namespace")
    return intern(check_label(namespace, "metadata.namespace")), intern(name)


def host_and_subdomain(spec: PodSpec, field: str) -> tuple[str, str]:
    """What a Pod asks to be called: its hostname, and the Service below which that is a name."""
    hostname = check_label(spec.hostname or "", f"{field}.hostname")
    return hostname, intern(check_label(spec.subdomain or "", f"{field}.subdomain"))


def status_addresses(status: PodStatus) -> tuple[bytes, ...]:
    """The addresses that a Pod's status names, whoever owns them."""
    if status.pod_ips:
        return tuple(
            [packed_address(each.ip, f"status.podIPs[{position}].ip") for position, each in enumerate(status.pod_ips)]
        )
    return (packed_address(status.pod_ip, "status.podIP"),) if status.pod_ip else ()


def _cluster_ips(spec: ServiceSpec) -> tuple[bytes, ...]:
    """``clusterIPs``, which begin with ``clusterIP``; either may be left out, and empty is left out too."""
    if spec.cluster_ips:
        return packed_addresses(spec.cluster_ips, "spec.clusterIPs")
    return (packed_address(spec.cluster_ip, "spec.clusterIP"),) if spec.cluster_ip else ()


def _external_places(spec: ServiceSpec, status: ServiceStatus) -> tuple[tuple[bytes, ...], str]:
    """Addresses outside of the cluster, and the load balancer's name where it has one."""
    points = (status.load_balancer.ingress if status.load_balancer else None) or ()
    balanced = [
        packed_address(point.ip, f"status.loadBalancer.ingress[{position}].ip")
        for position, point in enumerate(points)
        if point.ip
    ]
    named = next((point.hostname for point in points if point.hostname), "")
    own = packed_addresses(spec.external_ips or (), "spec.externalIPs")
    return tuple(dict.fromkeys((*balanced, *own))), check_word(named, "status.loadBalancer.ingress.hostname")


def _service_port(body: ServicePortBody, where: str) -> ServicePort:
    return _shared_service_port(
        intern(check_label(body.name or "", f"{where}.name")),
        check_protocol(body.protocol, f"{where}.protocol"),
        check_port(body.port, f"{where}.port"),
    )


def _endpoint(body: EndpointBody, where: str) -> Endpoint:
    # Unknown counts as ready, serving follows ready, and terminating is false unless said (discovery/v1 API).
    conditions = body.conditions or Conditions()
    ready = conditions.ready is not False
    pod, uid = _target(body.target_ref, f"{where}.targetRef")
    return Endpoint(
        packed_addresses(body.addresses or (), f"{where}.addresses"),
        check_label(body.hostname or "", f"{where}.hostname"),
        pod,
        uid,
        intern(check_word(body.node_name, f"{where}.nodeName")),
        intern(check_word(body.zone, f"{where}.zone")),
        ready,
        ready if conditions.serving is None else conditions.serving,
        bool(conditions.terminating),
    )


def _subset_endpoints(subset: Subset, where: str) -> dict[int, list[Endpoint]]:
    families: dict[int, list[Endpoint]] = {}
    for field, bodies, ready in (
        ("addresses", subset.addresses, True),
        ("notReadyAddresses", subset.not_ready_addresses, False),
    ):
        for position, body in enumerate(bodies or ()):
            endpoint = _old_endpoint(body, f"{where}.{field}[{position}]", ready)
            families.setdefault(4 if len(endpoint.addresses[0]) == 4 else 6, []).append(endpoint)
    return families


def _old_endpoint(body: EndpointAddress, where: str, ready: bool) -> Endpoint:
    pod, uid = _target(body.target_ref, f"{where}.targetRef")
    hostname = check_label(body.hostname or "", f"{where}.hostname")
    node = intern(check_word(body.node_name, f"{where}.nodeName"))
    return Endpoint((packed_address(body.ip, f"{where}.ip"),), hostname, pod, uid, node, "", ready, ready)


def _target(reference: Reference | None, where: str) -> tuple[str, str]:
    """Name and UID of the Pod that is meant, if it is one."""
    if reference is None or reference.kind != "Pod":
        return "", ""
    return check_word(reference.name, f"{where}.name"), check_word(reference.uid, f"{where}.uid")


def _ports(bodies: Sequence[PortBody] | None, where: str) -> tuple[EndpointPort, ...]:
    return tuple(
        _shared_endpoint_port(
            intern(check_label(body.name or "", f"{where}[{position}].name")),
            check_protocol(body.protocol, f"{where}[{position}].protocol"),
            0 if body.port is None else check_port(body.port, f"{where}[{position}].port"),
        )
        for position, body in enumerate(bodies or ())
    )
