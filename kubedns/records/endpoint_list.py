"""``endpoints.<zone>``: every endpoint of every Service, ready or not, with what a balancer wants to know of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubedns.cluster.objects import EndpointSlice, Service, ServicePort
from kubedns.dns.rdata import RecordType
from kubedns.dns.rrset import RRset
from kubedns.records.endpoint import Member, all_endpoints, fact_rdatas, members_of
from kubedns.records.lookup import EXISTS, Found, Lookup
from kubedns.records.owner import PROTOCOL_LABELS, ListedPort, ListedProtocol, ListedService
from kubedns.records.rdatas import Listener, srv_rdatas, target_rrsets
from kubedns.records.zone import child_of

_MAX_PORT = 65535


def find_listed_service(lookup: Lookup, owner: ListedService) -> Found | None:
    """No data, where the Service exists and is no alias."""
    return EXISTS if listed_service(lookup, owner.namespace, owner.service) else None


def find_listed_protocol(lookup: Lookup, owner: ListedProtocol) -> Found | None:
    """No data, where the Service has a port of that protocol; a headless one is reached at any."""
    service = listed_service(lookup, owner.namespace, owner.service)
    if service is None:
        return None
    has_port = any(port.protocol == owner.protocol for port in service.ports)
    return EXISTS if service.is_headless or has_port else None


def find_listed_port(lookup: Lookup, owner: ListedPort) -> Found | None:
    """SRV of every endpoint at the port; no data where there is none just now.

    The port goes by the name of the Service's port or its number. A headless Service has any further number too.
    """
    service = listed_service(lookup, owner.namespace, owner.service)
    if service is None:
        return None
    port = service_port(service, owner.protocol, owner.port)
    number = _any_number(owner.port) if port is None and service.is_headless else 0
    if port is None and not number:
        return None
    if lookup.type != RecordType.SRV:
        return EXISTS
    members = list(members_of(lookup, service, all_endpoints(lookup, service)))
    listeners = list(_listeners(lookup, service, members, port, number))
    targets = {each.target.key[0].decode() for each in listeners}
    facts = fact_rrsets(lookup, service, [member for member in members if member.label in targets])
    return Found(srv_rdatas(listeners), target_rrsets(listeners, lookup.options.ttl) + facts)


def port_labels(service: Service) -> Iterator[tuple[str, str]]:
    """The labels of each declared port, by its name and by its number: ``_http``, ``_tcp``."""
    for declared in service.ports:
        for word in filter(None, (declared.name, str(declared.number))):
            yield f"_{word}", PROTOCOL_LABELS[declared.protocol]


def service_port(service: Service, protocol: str, word: str) -> ServicePort | None:
    """The Service's port of that name or number."""
    for port in service.ports:
        if port.protocol == protocol and word in (port.name, str(port.number)):
            return port
    return None


def fact_rrsets(lookup: Lookup, service: Service, members: Iterable[Member]) -> tuple[RRset, ...]:
    """The TXT RRset of each label among the members."""
    labels: dict[str, list[Member]] = {}
    for member in members:
        labels.setdefault(member.label, []).append(member)
    zone, ttl = lookup.zone, lookup.options.ttl
    return tuple([
        RRset(zone.service_child(service.namespace, service.name, label), ttl, fact_rdatas(found))
        for label, found in labels.items()
    ])  # fmt: skip


def listed_service(lookup: Lookup, namespace: str, name: str) -> Service | None:
    """The Service, if its endpoints are listed: where names for the mesh are served, and it is no alias."""
    if not lookup.options.mesh:
        return None
    service = lookup.service(namespace, name)
    return None if service is None or service.external_name else service


def _any_number(word: str) -> int:
    """The port number that ``word`` is, spelt plainly; 0 where it is none."""
    if word.isdecimal() and len(word) <= 5 and word[0] != "0" and int(word) <= _MAX_PORT:
        return int(word)
    return 0


def _listeners(
    lookup: Lookup, service: Service, members: list[Member], port: ServicePort | None, number: int
) -> Iterator[Listener]:
    """Where each member listens: at ``number``, or where its slice says that ``port`` leads."""
    parent = lookup.zone.service_name(service.namespace, service.name)
    for member in members:
        where = number if port is None else _target_number(member.endpoint_slice, port)
        if where:
            yield Listener("", "", where, child_of(parent, member.label), member.address)


def _target_number(endpoint_slice: EndpointSlice, port: ServicePort) -> int:
    for each in endpoint_slice.ports:
        if each.name == port.name and each.protocol == port.protocol:
            return each.number
    return 0
