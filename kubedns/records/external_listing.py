"""Every record of an external zone: the names there are, with what is answered at each."""

from __future__ import annotations

from collections.abc import Iterator

from kubedns.cluster.objects import Service
from kubedns.dns.names import Name
from kubedns.dns.question import Question
from kubedns.dns.rdata import RecordType
from kubedns.dns.rrset import RRset
from kubedns.records.endpoint import members_of, published
from kubedns.records.external import ExternalZones
from kubedns.records.lookup import Lookup
from kubedns.records.owner import PROTOCOL_LABELS
from kubedns.records.zone import Zone

_ADDRESSES = (RecordType.A, RecordType.AAAA)
_PORT = (RecordType.SRV,)
_NAMED = (*_ADDRESSES, RecordType.SRV)

Names = Iterator[tuple[Name, tuple[int, ...]]]
"""Names, each with the types that it may have."""


def external_records(external: ExternalZones, zone: Zone) -> Iterator[RRset]:
    """Every RRset of one of the external zones, its SOA first; none before the source has synced."""
    yield from _answered(external, zone.name, (RecordType.SOA, RecordType.NS))
    yield from _answered(external, zone.name_server, _ADDRESSES)
    lookup = external.lookup(zone, RecordType.SRV)
    for service in external.lister.services():
        for name, types in _names(lookup, zone, service):
            yield from _answered(external, name, types)


def _answered(external: ExternalZones, name: Name, types: tuple[int, ...]) -> Iterator[RRset]:
    for rtype in types:
        yield from external.answer(Question(name, rtype)).answer


def _names(lookup: Lookup, zone: Zone, service: Service) -> Names:
    """Names of a Service; some may turn out not to exist, as it may not be reached from outside."""
    is_alias = service.external_host and not service.external_addresses
    yield zone.service_name(service.namespace, service.name), (RecordType.CNAME,) if is_alias else _NAMED
    ports = {(port.name, port.protocol) for port in service.ports}
    labels: dict[str, None] = {}
    if service.is_headless:
        for member in members_of(lookup, service, published(lookup, service)):
            labels[member.label] = None
            ports |= {(port.name, port.protocol) for port in member.endpoint_slice.ports}
    for port, protocol in sorted(ports):
        if port and protocol in PROTOCOL_LABELS:
            yield zone.service_child(service.namespace, service.name, f"_{port}", PROTOCOL_LABELS[protocol]), _PORT
    for label in labels:
        yield zone.service_child(service.namespace, service.name, label), _NAMED
