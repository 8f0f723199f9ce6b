"""API objects → our objects: what is left open gets the meaning that the API gives it, what is wrong is named."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Sequence
from sys import intern

from kubedns.cluster.bodies import (
    Conditions,
    EndpointAddress,
    EndpointBody,
    EndpointsBody,
    Metadata,
    NamespaceBody,
    NodeBody,
    PodBody,
    PortBody,
    Reference,
    ServiceBody,
    SliceBody,
    Subset,
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
STATEFUL_LABEL = "statefulset.kubernetes.io/pod-name"
NAMESPACE_LABEL = "kubernetes.io/metadata.name"
DEFAULT_NAMESPACE = "default"
PROTOCOLS = ("TCP", "UDP", "SCTP")
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?", re.ASCII)
_FINISHED = ("Succeeded", "Failed")


class BadObjectError(ValueError):
    """An object that cannot be used. ``field``: where (``spec.ports[0].port``); ``remedy``: what would be right."""

    def __init__(self, field: str, message: str, remedy: str = "") -> None:
        self.field = field
        self.message = message
        self.remedy = remedy
        super().__init__(f"{field}: {message}")


def decode_service(body: ServiceBody, origin: str) -> Service:
    """The Service. A headless one has the cluster IP ``None``; one without any has none yet."""
    spec = body.spec
    namespace, name = names_of(body.metadata)
    ports = [
        ServicePort(
            intern(port.name or ""),
            _protocol(port.protocol, f"spec.ports[{position}].protocol"),
            _port(port.port, f"spec.ports[{position}].port"),
        )
        for position, port in enumerate(spec.ports or ())
    ]
    is_alias = spec.type == "ExternalName"
    if is_alias and not spec.external_name:
        raise BadObjectError(
            "spec.externalName", "missing", "an ExternalName Service needs the name that it stands for"
        )
    texts = [] if is_alias else [ip for ip in (spec.cluster_ips or [spec.cluster_ip or ""]) if ip]
    is_headless = "None" in texts
    return Service(
        namespace,
        name,
        () if is_headless else addresses(texts, "spec.clusterIPs"),
        tuple(ports),
        is_headless,
        (spec.external_name or "") if is_alias else "",
        bool(spec.publish_not_ready_addresses),
        origin,
    )


def decode_slice(body: SliceBody, origin: str) -> EndpointSlice:
    """The slice. One of type FQDN has no endpoints: Kubernetes gives its addresses no meaning."""
    namespace, name = names_of(body.metadata)
    service = (body.metadata.labels or {}).get(SERVICE_LABEL, "")
    bodies = [] if body.address_type == "FQDN" else body.endpoints or []
    endpoints = [_endpoint(each, f"endpoints[{position}]") for position, each in enumerate(bodies)]
    return EndpointSlice(namespace, name, service, _ports(body.ports, "ports"), tuple(endpoints), origin)


def decode_endpoints(body: EndpointsBody, origin: str) -> list[EndpointSlice]:
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
    return slices


def decode_pod(body: PodBody, origin: str) -> Pod:
    """The Pod. It owns no address once it is finished, nor while it uses its node's."""
    namespace, name = names_of(body.metadata)
    status, spec = body.status, body.spec
    texts = [each.ip for each in status.pod_ips or ()] or [status.pod_ip or ""]
    owns_none = status.phase in _FINISHED or bool(spec.host_network)
    return Pod(
        namespace,
        name,
        body.metadata.uid,
        () if owns_none else addresses([text for text in texts if text], "status.podIPs"),
        spec.hostname or "",
        intern(spec.subdomain or ""),
        (body.metadata.labels or {}).get(STATEFUL_LABEL, ""),
        intern(spec.node_name or ""),
        origin,
    )


def decode_node(body: NodeBody, origin: str) -> Node:
    """The Node with its InternalIPs."""
    texts = [each.address for each in body.status.addresses or () if each.type == "InternalIP"]
    return Node(names_of(body.metadata)[1], addresses(texts, "status.addresses"), origin)


def decode_namespace(body: NamespaceBody, origin: str) -> Namespace:
    """The Namespace with its labels, among them the one that the API server gives each."""
    name = names_of(body.metadata)[1]
    return Namespace(name, {NAMESPACE_LABEL: name, **(body.metadata.labels or {})}, origin)


def names_of(metadata: Metadata) -> tuple[str, str]:
    """Namespace and name; a namespace left out is ``default``."""
    namespace = metadata.namespace or DEFAULT_NAMESPACE
    for field, text in (("metadata.name", metadata.name), ("metadata.namespace", namespace)):
        if len(text) > 253 or not _NAME.fullmatch(text):
            raise BadObjectError(field, f"{text!r} is no name", "use lower-case letters, digits, '-' and '.'")
    return intern(namespace), intern(metadata.name)


def addresses(texts: Iterable[str], field: str) -> tuple[bytes, ...]:
    """The addresses, packed."""
    return tuple([_address(text, f"{field}[{position}]") for position, text in enumerate(texts)])


def _address(text: str, field: str) -> bytes:
    try:
        return ipaddress.ip_address(text).packed
    except ValueError as error:
        raise BadObjectError(field, f"{text!r} is no address", "write an IPv4 or IPv6 address") from error


def _endpoint(body: EndpointBody, where: str) -> Endpoint:
    # Unknown counts as ready, serving follows ready, and terminating is false unless said (discovery/v1 API).
    conditions = body.conditions or Conditions()
    ready = conditions.ready is not False
    pod, uid = _target(body.target_ref)
    return Endpoint(
        addresses(body.addresses or (), f"{where}.addresses"),
        body.hostname or "",
        pod,
        uid,
        intern(body.node_name or ""),
        intern(body.zone or ""),
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
            endpoint = _old_endpoint(body, f"{where}.{field}[{position}].ip", ready)
            families.setdefault(4 if len(endpoint.addresses[0]) == 4 else 6, []).append(endpoint)
    return families


def _old_endpoint(body: EndpointAddress, field: str, ready: bool) -> Endpoint:
    pod, uid = _target(body.target_ref)
    address = _address(body.ip, field)
    return Endpoint((address,), body.hostname or "", pod, uid, intern(body.node_name or ""), "", ready, ready)


def _target(reference: Reference | None) -> tuple[str, str]:
    """Name and UID of the Pod that is meant, if it is one."""
    if reference is None or reference.kind != "Pod":
        return "", ""
    return reference.name or "", reference.uid or ""


def _ports(bodies: Sequence[PortBody] | None, where: str) -> tuple[EndpointPort, ...]:
    return tuple(
        EndpointPort(
            intern(body.name or ""),
            _protocol(body.protocol, f"{where}[{position}].protocol"),
            0 if body.port is None else _port(body.port, f"{where}[{position}].port"),
        )
        for position, body in enumerate(bodies or ())
    )


def _protocol(text: str | None, field: str) -> str:
    if text is None:
        return "TCP"
    if text not in PROTOCOLS:
        raise BadObjectError(field, f"{text!r} is no protocol", "one of TCP, UDP, SCTP")
    return intern(text)


def _port(number: int, field: str) -> int:
    if not 1 <= number <= 65535:
        raise BadObjectError(field, f"{number} is no port", "a number from 1 to 65535")
    return number
