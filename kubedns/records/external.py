"""Names for clients outside the cluster: ``SERVICE.NAMESPACE.<zone>``, with the addresses that Services have there.

What CoreDNS's k8s_external answers. External addresses can be claimed by whoever may write Services, so they stand in
zones of their own, never in the cluster's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from kubedns.cluster.lister import Lister
from kubedns.cluster.objects import Service
from kubedns.dns.answer import Answer, cname, data, nodata, not_ready, nxdomain, refused
from kubedns.dns.names import BadNameError, Name, parse_name
from kubedns.dns.question import Question
from kubedns.dns.rdata import ANY_REFUSED, NS, RecordType
from kubedns.dns.rrset import RRset
from kubedns.dns.trace import NO_TRACE, Trace
from kubedns.records.apex import DNS_SERVICE
from kubedns.records.endpoint import find_endpoint
from kubedns.records.lookup import EXISTS, Found, Lookup
from kubedns.records.options import RecordOptions
from kubedns.records.owner import EndpointName, PortName, ServiceName
from kubedns.records.rdatas import Listener, address_rdatas, srv_rdatas, target_rrsets
from kubedns.records.service import service_addresses, service_listeners
from kubedns.records.staleness import as_known
from kubedns.records.zone import Zone

_PROTOCOLS = {b"_tcp": "TCP", b"_udp": "UDP", b"_sctp": "SCTP"}


class ExternalOptions(msgspec.Struct, frozen=True, kw_only=True):
    """``apex``: the label below which the zone's name server is named. ``ttl``: seconds, 0..3600.

    ``headless``: whether headless Services and their endpoints have names too.
    """

    zones: tuple[Name, ...]
    apex: str = "dns"
    ttl: int = 5
    headless: bool = False


class ExternalZones:
    """Answers for external zones from the objects of one cluster; ``serial`` is what their SOA's start from.

    ``limits``: the cluster's own options, of which those that hide namespaces count here too.
    """

    def __init__(self, options: ExternalOptions, limits: RecordOptions, lister: Lister, serial: int = 0) -> None:
        self._options = options
        self._limits = msgspec.structs.replace(limits, zones=options.zones, ttl=options.ttl, mesh=False, proxies=None)
        self.lister = lister
        self._first_serial = serial
        zones = [_ExternalZone(name, options) for name in options.zones]
        self.zones = tuple(sorted(zones, key=lambda zone: -len(zone.key)))

    def frozen(self) -> ExternalZones:
        """The same zones as they are now, whatever changes later."""
        return ExternalZones(self._options, self._limits, self.lister.frozen(), self._first_serial)

    def begins_at(self, apex: Name) -> Zone | None:
        """The zone whose apex that is."""
        return next((zone for zone in self.zones if zone.name == apex), None)

    def lookup(self, zone: Zone, rtype: int) -> Lookup:
        """What reads the objects for one question of ``rtype`` in ``zone``."""
        return Lookup(self.lister, self._limits, zone, zone, rtype)

    def holds(self, name: Name) -> bool:
        """Whether ``name`` is in one of the zones."""
        return self._zone_of(name) is not None

    def answer(self, question: Question, trace: Trace = NO_TRACE) -> Answer:
        """The answer to a question of class IN; REFUSED outside of the zones, SERVFAIL until the source has synced."""
        zone = self._zone_of(question.name)
        if zone is None:
            return refused()
        if not self.lister.has_synced:
            return not_ready("the cluster's objects have not been listed yet")
        lookup = self.lookup(zone, question.type)
        found = self._find(lookup, zone, zone.labels_of(question.name))
        if trace.active:
            trace.step("k8s_external", f"{'something' if found else 'nothing'} is at that name of {zone.name}")
        return as_known(self._answer(lookup, question, found), self.lister)

    def _zone_of(self, name: Name) -> _ExternalZone | None:
        return next((zone for zone in self.zones if zone.holds(name)), None)

    @property
    def serial(self) -> int:
        """The serial of every zone just now; it counts round (RFC 1982)."""
        return (self._first_serial + self.lister.version) & 0xFFFFFFFF

    def _answer(self, lookup: Lookup, question: Question, found: Found | None) -> Answer:
        keys = frozenset(lookup.keys)
        if found is None:
            return nxdomain(lookup.zone.soa(self.serial), keys)
        if found.alias is not None:
            return cname(question.name, found.alias, self._options.ttl, keys)
        rdatas = found.rdatas or ((ANY_REFUSED,) if question.type == RecordType.ANY else ())
        if not rdatas:
            return nodata(lookup.zone.soa(self.serial), keys)
        answer = data((RRset(question.name, self._options.ttl, rdatas),), keys, found.additional)
        if question.type == RecordType.SOA:  # its serial changes with everything, so it is not kept
            return msgspec.structs.replace(answer, lifetime_seconds=0)
        return answer

    def _find(self, lookup: Lookup, zone: Zone, labels: Sequence[bytes]) -> Found | None:
        """What exists at ``labels`` of the zone."""
        apex = self._options.apex.encode()
        match [*labels]:
            case []:
                return self._apex(lookup, zone)
            case [only] if only == apex:
                return EXISTS
            case [b"ns1", last] if last == apex:
                return Found(address_rdatas(_name_server_addresses(lookup), lookup.type))
            case [namespace]:
                return EXISTS if lookup.has_namespace(_text(namespace)) else None
            case [service, namespace]:
                return self._service(lookup, _text(namespace), _text(service))
            case [protocol, service, namespace] if protocol in _PROTOCOLS:
                owner = (_text(namespace), _text(service), _PROTOCOLS[protocol])
                return EXISTS if self._has_ports(lookup, *owner) else None
            case [endpoint, service, namespace]:
                return self._endpoint(lookup, EndpointName(_text(namespace), _text(service), _text(endpoint)))
            case [port, protocol, service, namespace] if protocol in _PROTOCOLS and port[:1] == b"_":
                return self._port(
                    lookup, PortName(_text(namespace), _text(service), _PROTOCOLS[protocol], _text(port[1:]))
                )
            case _:
                return None

    def _apex(self, lookup: Lookup, zone: Zone) -> Found:
        if lookup.type == RecordType.SOA:
            return Found(zone.soa(self.serial).rdatas)
        return Found((NS(zone.name_server),)) if lookup.type == RecordType.NS else EXISTS

    def _service(self, lookup: Lookup, namespace: str, name: str) -> Found | None:
        service = self._known(lookup, ServiceName(namespace, name))
        if service is None:
            return None
        if service.external_host and not service.external_addresses:
            return _alias(service.external_host)
        listeners = list(_listeners(lookup, service))
        if lookup.type == RecordType.SRV:
            return Found(srv_rdatas(listeners), target_rrsets(listeners, self._options.ttl))
        addresses = service_addresses(lookup, service) if service.is_headless else service.external_addresses
        return Found(address_rdatas(addresses, lookup.type))

    def _port(self, lookup: Lookup, owner: PortName) -> Found | None:
        service = self._known(lookup, ServiceName(owner.namespace, owner.service))
        if service is None:
            return None
        found = [
            each for each in _listeners(lookup, service) if each.port == owner.port and each.protocol == owner.protocol
        ]
        if not found:
            return None
        if lookup.type == RecordType.SRV:
            return Found(srv_rdatas(found), target_rrsets(found, self._options.ttl))
        return EXISTS

    def _has_ports(self, lookup: Lookup, namespace: str, name: str, protocol: str) -> bool:
        service = self._known(lookup, ServiceName(namespace, name))
        if service is None:
            return False
        return any(each.protocol == protocol and each.port for each in _listeners(lookup, service))

    def _endpoint(self, lookup: Lookup, owner: EndpointName) -> Found | None:
        service = self._known(lookup, ServiceName(owner.namespace, owner.service))
        return find_endpoint(lookup, owner) if service is not None and service.is_headless else None

    def _known(self, lookup: Lookup, owner: ServiceName) -> Service | None:
        """The Service, if it can be reached from outside."""
        service = lookup.service(owner.namespace, owner.service)
        if service is None or service.external_name:
            return None
        if service.is_headless:
            return service if self._options.headless and service_addresses(lookup, service) else None
        return service if service.external_addresses or service.external_host else None


class _ExternalZone(Zone):
    """A zone in which Services stand directly below their namespace."""

    __slots__ = ()

    def __init__(self, name: Name, options: ExternalOptions) -> None:
        super().__init__(name, options.ttl)
        apex = options.apex.encode()
        self._services = self.name.key
        self._mname = self.name.child(b"ns1", apex)
        self._rname = self.name.child(b"hostmaster", apex)

    def labels_of(self, name: Name) -> Sequence[bytes]:
        """The labels in front of the zone's own, folded."""
        return name.key[: len(name.key) - self._length]


def _listeners(lookup: Lookup, service: Service) -> Iterator[Listener]:
    if service.is_headless:
        yield from service_listeners(lookup, service)
        return
    target = lookup.zone.service_name(service.namespace, service.name)
    for port in service.ports:
        for address in service.external_addresses:
            yield Listener(port.name, port.protocol, port.number, target, address)


def _name_server_addresses(lookup: Lookup) -> tuple[bytes, ...]:
    service = lookup.service(*DNS_SERVICE)
    return service.external_addresses if service else ()


def _alias(host: str) -> Found:
    try:
        return Found(alias=parse_name(host))
    except BadNameError:
        return EXISTS


def _text(label: bytes) -> str:
    return label.decode("latin-1")
