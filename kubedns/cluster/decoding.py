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
    NodeStatus,
    PodBody,
    PodSpec,
    PodStatus,
    PortBody,
    Reference,
    ServiceBody,
    ServicePortBody,
    ServiceSpec,
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
_NAME = re.compile(r"(?=.{1,253}\Z)[a-z0-9]([-a-z0-9.]*[a-z0-9])?", re.ASCII)
_LABEL = re.compile(r"[A-Za-z0-9_]([-A-Za-z0-9_]{0,61}[A-Za-z0-9_])?", re.ASCII)
_WORD = re.compile(r"[!-~]{0,253}", re.ASCII)
_DECIMAL = {str(octet): octet for octet in range(256)}
_FINISHED = ("Succeeded", "Failed")


class BadObjectError(ValueError):
    """An object that cannot be used. ``field``: where (``spec.ports[0].port``); ``remedy``: what would be right."""

    def __init__(self, field: str, message: str, remedy: str = "") -> None:
        self.field = field
        self.message = message
        self.remedy = remedy
        super().__init__(f"{field}: {message}")


def decode_service(body: ServiceBody, origin: str) -> Service:
    """The Service. A headless one has the cluster IP ``None``; one without any has none yet.

    External addresses (externalIPs, load balancers) are not kept: anyone who may write Services could claim any.
    """
    spec = body.spec or ServiceSpec()
    namespace, name = names_of(body.metadata)
    check_label(name, "metadata.name")
    ports = tuple([_service_port(port, f"spec.ports[{position}]") for position, port in enumerate(spec.ports or ())])
    publish_not_ready = bool(spec.publish_not_ready_addresses)
    if spec.type == "ExternalName":
        target = _external_name(spec.external_name)
        return Service(namespace, name, (), ports, False, target, publish_not_ready, origin)
    is_headless = spec.cluster_ip == "None" or "None" in (spec.cluster_ips or ())
    cluster_ips = () if is_headless else _cluster_ips(spec)
    return Service(namespace, name, cluster_ips, ports, is_headless, "", publish_not_ready, origin)


def decode_slice(body: SliceBody, origin: str) -> EndpointSlice:
    """The slice. One of type FQDN has no endpoints: Kubernetes gives its addresses no meaning."""
    namespace, name = names_of(body.metadata)
    service = intern((body.metadata.labels or {}).get(SERVICE_LABEL, ""))
    bodies = [] if body.address_type == "FQDN" else body.endpoints or []
    endpoints = [_endpoint(each, f"endpoints[{position}]") for position, each in enumerate(bodies)]
    return EndpointSlice(namespace, name, service, _ports(body.ports, "ports"), tuple(endpoints), origin)


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
        _word(body.metadata.uid, "metadata.uid"),
        () if owns_none else own_addresses,
        hostname,
        subdomain,
        (body.metadata.labels or {}).get(STATEFUL_LABEL, ""),
        intern(_word(spec.node_name, "spec.nodeName")),
        origin,
    )


def decode_node(body: NodeBody, origin: str) -> Node:
    """The Node with its InternalIPs."""
    found = (body.status or NodeStatus()).addresses or ()
    internal = [
        _address(each.address, f"status.addresses[{position}].address")
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
    namespace = metadata.namespace or DEFAULT_NAMESPACE
    if not _NAME.fullmatch(metadata.name):
        raise BadObjectError("metadata.name", f"{metadata.name!r} is no name", _NAME_REMEDY)
    if not _NAME.fullmatch(namespace):
        raise BadObjectError("metadata.namespace", f"{namespace!r} is no name", _NAME_REMEDY)
    return intern(check_label(namespace, "metadata.namespace")), intern(metadata.name)


_NAME_REMEDY = "use lower-case letters, digits, '-' and '.'"


def host_and_subdomain(spec: PodSpec, field: str) -> tuple[str, str]:
    """What a Pod asks to be called: its hostname, and the Service below which that is a name."""
    hostname = check_label(spec.hostname or "", f"{field}.hostname")
    return hostname, intern(check_label(spec.subdomain or "", f"{field}.subdomain"))


def check_label(text: str, field: str) -> str:
    """``text``, which will be a label of a name, or is empty."""
    if text and not _LABEL.fullmatch(text):
        raise BadObjectError(field, f"{text!r} is no label", "use at most 63 letters, digits and '-'")
    return text


def port_number(number: int, field: str) -> int:
    """``number``, which must be a port's."""
    if not 1 <= number <= 65535:
        raise BadObjectError(field, f"{number} is no port", "give a number from 1 to 65535")
    return number


def addresses(texts: Iterable[str], field: str) -> tuple[bytes, ...]:
    """The addresses, packed."""
    return tuple([_address(text, f"{field}[{position}]") for position, text in enumerate(texts)])


def status_addresses(status: PodStatus) -> tuple[bytes, ...]:
    """The addresses that a Pod's status names, whoever owns them."""
    if status.pod_ips:
        return tuple(
            [_address(each.ip, f"status.podIPs[{position}].ip") for position, each in enumerate(status.pod_ips)]
        )
    return (_address(status.pod_ip, "status.podIP"),) if status.pod_ip else ()


def _address(text: str, field: str) -> bytes:
    try:
        first, second, third, fourth = text.split(".")
        return bytes((_DECIMAL[first], _DECIMAL[second], _DECIMAL[third], _DECIMAL[fourth]))
    except (ValueError, KeyError):
        pass
    try:
        if "%" not in text:  # a zone is of one machine only (RFC 4007 §11)
            return ipaddress.IPv6Address(text).packed
    except ValueError:
        pass
    raise BadObjectError(field, f"{text!r} is no address", "write an IPv4 or IPv6 address")


def _word(text: str | None, field: str) -> str:
    """``text``, which will be shown: no blanks, no control characters, nothing endless."""
    if text and not _WORD.fullmatch(text):
        raise BadObjectError(field, f"{text[:64]!r} has characters that cannot be here, or too many", "")
    return text or ""


def _cluster_ips(spec: ServiceSpec) -> tuple[bytes, ...]:
    """``clusterIPs``, which begin with ``clusterIP``; either may be left out, and empty is left out too."""
    if spec.cluster_ips:
        return addresses(spec.cluster_ips, "spec.clusterIPs")
    return (_address(spec.cluster_ip, "spec.clusterIP"),) if spec.cluster_ip else ()


def _external_name(text: str | None) -> str:
    if not text:
        raise BadObjectError(
            "spec.externalName", "missing", "an ExternalName Service needs the name that it stands for"
        )
    labels = text.removesuffix(".").split(".")
    if len(text) > 254 or not all(1 <= len(label) <= 63 for label in labels) or not _WORD.fullmatch(text[:253]):
        raise BadObjectError("spec.externalName", f"{text[:64]!r} is no domain name", "such as db.example.com")
    return text


def _service_port(body: ServicePortBody, where: str) -> ServicePort:
    return ServicePort(
        intern(check_label(body.name or "", f"{where}.name")),
        _protocol(body.protocol, f"{where}.protocol"),
        port_number(body.port, f"{where}.port"),
    )


def _endpoint(body: EndpointBody, where: str) -> Endpoint:
    # Unknown counts as ready, serving follows ready, and terminating is false unless said (discovery/v1 API).
    conditions = body.conditions or Conditions()
    ready = conditions.ready is not False
    pod, uid = _target(body.target_ref, f"{where}.targetRef")
    return Endpoint(
        addresses(body.addresses or (), f"{where}.addresses"),
        check_label(body.hostname or "", f"{where}.hostname"),
        pod,
        uid,
        intern(_word(body.node_name, f"{where}.nodeName")),
        intern(_word(body.zone, f"{where}.zone")),
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
    node = intern(_word(body.node_name, f"{where}.nodeName"))
    return Endpoint((_address(body.ip, f"{where}.ip"),), hostname, pod, uid, node, "", ready, ready)


def _target(reference: Reference | None, where: str) -> tuple[str, str]:
    """Name and UID of the Pod that is meant, if it is one."""
    if reference is None or reference.kind != "Pod":
        return "", ""
    return _word(reference.name, f"{where}.name"), _word(reference.uid, f"{where}.uid")


def _ports(bodies: Sequence[PortBody] | None, where: str) -> tuple[EndpointPort, ...]:
    return tuple(
        EndpointPort(
            intern(check_label(body.name or "", f"{where}[{position}].name")),
            _protocol(body.protocol, f"{where}[{position}].protocol"),
            0 if body.port is None else port_number(body.port, f"{where}[{position}].port"),
        )
        for position, body in enumerate(bodies or ())
    )


def _protocol(text: str | None, field: str) -> str:
    if text is None:
        return "TCP"
    if text not in PROTOCOLS:
        raise BadObjectError(field, f"{text!r} is no protocol", "one of TCP, UDP, SCTP")
    return intern(text)
