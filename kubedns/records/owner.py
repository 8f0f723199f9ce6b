"""What an owner name stands for: parsed once, by its labels' places alone; whether it exists is another question.

Kubernetes DNS specification 1.1.0 §2; names of nodes and of endpoints.<zone> are ours.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

import msgspec

from kubedns.dns.names import Labels, reverse_prefix

PROTOCOLS = {"_tcp": "TCP", "_udp": "UDP", "_sctp": "SCTP"}
"""Protocol labels and what the API calls them."""
PROTOCOL_LABELS = {protocol: label for label, protocol in PROTOCOLS.items()}


class Tree(Enum):
    """Parts of a forward zone that hold a node for each namespace; the value is the part's label."""

    SERVICES = "svc"
    PODS = "pod"
    ENDPOINTS = "endpoints"
    MESH = "mesh"


class Apex(msgspec.Struct, frozen=True, gc=False):
    """The zone's own name."""


class NameServer(msgspec.Struct, frozen=True, gc=False):
    """``ns.dns.<zone>``."""


class DnsVersion(msgspec.Struct, frozen=True, gc=False):
    """``dns-version.<zone>`` (§2.2)."""


class EmptyNonTerminal(msgspec.Struct, frozen=True, gc=False):
    """A name that always has names below it and no records (RFC 8020 §2)."""


class TreeName(msgspec.Struct, frozen=True, gc=False):
    """``svc.<zone>`` and its like."""

    tree: Tree


class NamespaceName(msgspec.Struct, frozen=True, gc=False):
    """``NAMESPACE.svc.<zone>`` and its like."""

    tree: Tree
    namespace: str


class ServiceName(msgspec.Struct, frozen=True, gc=False):
    """``SERVICE.NAMESPACE.svc.<zone>`` (§2.3, §2.4)."""

    namespace: str
    service: str


class EndpointName(msgspec.Struct, frozen=True, gc=False):
    """``ENDPOINT.SERVICE.NAMESPACE.svc.<zone>`` (§2.4.1).

    With ``cluster``: ``ENDPOINT.CLUSTER.SERVICE.NAMESPACE.svc.<zone>`` of a clusterset (KEP-1645).
    """

    namespace: str
    service: str
    endpoint: str
    cluster: str = ""


class ProtocolName(msgspec.Struct, frozen=True, gc=False):
    """``_PROTOCOL.SERVICE.NAMESPACE.svc.<zone>``, above SRV names; ``protocol`` as the API spells it."""

    namespace: str
    service: str
    protocol: str


class PortName(msgspec.Struct, frozen=True, gc=False):
    """``_PORT._PROTOCOL.SERVICE.NAMESPACE.svc.<zone>`` (§2.3.2, §2.4.2)."""

    namespace: str
    service: str
    protocol: str
    port: str


class PodName(msgspec.Struct, frozen=True, gc=False):
    """``A-B-C-D.NAMESPACE.pod.<zone>``."""

    namespace: str
    label: str


class NodeName(msgspec.Struct, frozen=True, gc=False):
    """``NODE.<zone>`` or ``NODE.node.<zone>``; ``name`` may have dots, and is empty for ``node.<zone>`` itself."""

    name: str


class ListedService(msgspec.Struct, frozen=True, gc=False):
    """``SERVICE.NAMESPACE.endpoints.<zone>``."""

    namespace: str
    service: str


class ListedProtocol(msgspec.Struct, frozen=True, gc=False):
    """``_PROTOCOL.SERVICE.NAMESPACE.endpoints.<zone>``."""

    namespace: str
    service: str
    protocol: str


class ListedPort(msgspec.Struct, frozen=True, gc=False):
    """``_PORT._PROTOCOL.SERVICE.NAMESPACE.endpoints.<zone>``; ``port`` is a name or a number."""

    namespace: str
    service: str
    protocol: str
    port: str


class OwnProxy(msgspec.Struct, frozen=True, gc=False):
    """``SERVICE.NAMESPACE.mesh.<zone>``: the Service as the proxy on the asking pod's own node reaches it."""

    namespace: str
    service: str


class ReverseName(msgspec.Struct, frozen=True, gc=False):
    """The first ``bits`` of an address of ``octets`` (4 or 16); all of them: a whole address (§2.3.3, §2.4.3)."""

    prefix: bytes
    bits: int
    octets: int


class Nothing(msgspec.Struct, frozen=True, gc=False):
    """A name that no object can ever have."""


Owner = (
    ServiceName | EndpointName | PortName | ProtocolName | PodName | NamespaceName | NodeName | ReverseName | Nothing
    | Apex | TreeName | ListedPort | ListedProtocol | ListedService | OwnProxy | NameServer | DnsVersion
    | EmptyNonTerminal
)  # fmt: skip

_APEX, _NOTHING = Apex(), Nothing()


def parse_owner(labels: Labels) -> Owner:
    """What the name means whose folded ``labels`` stand left of a forward zone."""
    if not labels:
        return _APEX
    if not b"".join(labels).isascii():  # no Kubernetes name has other octets
        return _NOTHING
    branch = _BRANCHES.get(labels[-1])
    return _node(labels) if branch is None else branch(labels[:-1])


def parse_reverse_owner(labels: Labels, key: Labels) -> Owner:
    """What the folded name ``key`` means, with ``labels`` of it left of a reverse zone."""
    if not labels:
        return _APEX
    if labels[-1] == b"dns":
        return _below_dns(labels[:-1])
    prefix = reverse_prefix(key)
    if prefix is None:
        return _NOTHING
    return ReverseName(prefix[0], prefix[1], 4 if key[-2] == b"in-addr" else 16)


def _service(labels: Labels) -> Owner:
    if len(labels) > 4:
        return _NOTHING
    match [label.decode() for label in labels]:
        case [service, namespace]:
            return ServiceName(namespace, service)
        case [protocol, service, namespace] if protocol in PROTOCOLS:
            return ProtocolName(namespace, service, PROTOCOLS[protocol])
        case [endpoint, service, namespace]:
            return EndpointName(namespace, service, endpoint)
        case [port, protocol, service, namespace] if protocol in PROTOCOLS and port[0] == "_":
            return PortName(namespace, service, PROTOCOLS[protocol], port[1:]) if port != "_" else _NOTHING
        case [endpoint, cluster, service, namespace] if cluster[0] != "_":
            return EndpointName(namespace, service, endpoint, cluster)
        case [namespace]:
            return NamespaceName(Tree.SERVICES, namespace)
        case []:
            return TreeName(Tree.SERVICES)
    return _NOTHING


def _listed(labels: Labels) -> Owner:
    """Below ``endpoints.<zone>`` only ports of Services have records."""
    match _service(labels):
        case PortName(namespace, service, protocol, port):
            return ListedPort(namespace, service, protocol, port)
        case ProtocolName(namespace, service, protocol):
            return ListedProtocol(namespace, service, protocol)
        case ServiceName(namespace, service):
            return ListedService(namespace, service)
        case NamespaceName(_, namespace):
            return NamespaceName(Tree.ENDPOINTS, namespace)
        case TreeName():
            return TreeName(Tree.ENDPOINTS)
    return _NOTHING


def _pod(labels: Labels) -> Owner:
    match [label.decode() for label in labels[:3]]:
        case [label, namespace]:
            return PodName(namespace, label)
        case [namespace]:
            return NamespaceName(Tree.PODS, namespace)
        case []:
            return TreeName(Tree.PODS)
    return _NOTHING


def _node(labels: Labels) -> Owner:
    # A dot inside a label separates nothing, so such a name is no dotted node name.
    if b"." in b"".join(labels):
        return _NOTHING
    return NodeName(b".".join(labels).decode())


def _below_dns(labels: Labels) -> Owner:
    if not labels:
        return EmptyNonTerminal()
    return NameServer() if labels == (b"ns",) else _NOTHING


def _dns_version(labels: Labels) -> Owner:
    return _NOTHING if labels else DnsVersion()


def _mesh(labels: Labels) -> Owner:
    match _service(labels):
        case ServiceName(namespace, service):
            return OwnProxy(namespace, service)
        case NamespaceName(_, namespace):
            return NamespaceName(Tree.MESH, namespace)
        case TreeName():
            return TreeName(Tree.MESH)
    return _NOTHING


_BRANCHES: dict[bytes, Callable[[Labels], Owner]] = {
    b"svc": _service,
    b"pod": _pod,
    b"node": _node,
    b"endpoints": _listed,
    b"dns": _below_dns,
    b"dns-version": _dns_version,
    b"mesh": _mesh,
}

RESERVED = frozenset(label.decode() for label in _BRANCHES)
"""Labels below a forward zone that win against a Node's name."""
