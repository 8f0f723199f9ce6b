"""``SERVICE.NAMESPACE.endpoints.<zone>`` as a zone of its own: one Service's endpoints, however many there are.

It is there for transfers alone, for whoever wants more endpoints than an answer holds.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubedns.cluster.objects import Service
from kubedns.dns.names import Name
from kubedns.dns.question import Question
from kubedns.dns.rdata import NS, RecordType
from kubedns.dns.rrset import RRset
from kubedns.records.cluster_zone import ClusterZone
from kubedns.records.endpoint import Member, all_endpoints, fact_rdatas, members_of
from kubedns.records.endpoint_list import listed_service, port_labels
from kubedns.records.owner import ListedService
from kubedns.records.rdatas import address_rrsets
from kubedns.records.zone import Zone, child_of


def endpoint_zone_soa(cluster: ClusterZone, apex: Name) -> RRset | None:
    """The SOA of the zone that begins at ``apex``, with the cluster's serial; None: no Service has one there."""
    found = _service(cluster, apex)
    return None if found is None else RRset(apex, cluster.options.ttl, found[0].soa(cluster.serial).rdatas)


def endpoint_zone_records(cluster: ClusterZone, apex: Name) -> Iterator[RRset]:
    """The NS record, SRV of every declared port, and what is known of every endpoint, ready or not, at its own name.

    Those names are out of the zone: addresses and TXT as the additional section of the SRV answers has them.
    """
    found = _service(cluster, apex)
    if found is None:
        return
    zone, service = found
    ttl = cluster.options.ttl
    yield RRset(apex, ttl, (NS(zone.name_server),))
    for labels in port_labels(service):
        yield from cluster.answer(Question(child_of(apex, *labels), RecordType.SRV)).answer
    lookup = cluster.lookup(zone, RecordType.SRV)
    members: dict[str, list[Member]] = {}
    for member in members_of(lookup, service, all_endpoints(lookup, service)):
        members.setdefault(member.label, []).append(member)
    for label, alike in members.items():
        owner = zone.service_child(service.namespace, service.name, label)
        yield from address_rrsets(owner, ttl, [member.address for member in alike])
        yield RRset(owner, ttl, fact_rdatas(alike))


def _service(cluster: ClusterZone, apex: Name) -> tuple[Zone, Service] | None:
    """The Service whose zone begins at ``apex``, with the cluster's zone that it is in."""
    zone = cluster.zone_of(apex)
    owner = None if zone is None or zone.is_reverse else zone.owner(apex)
    if zone is None or not isinstance(owner, ListedService):
        return None
    service = listed_service(cluster.lookup(zone, RecordType.SRV), owner.namespace, owner.service)
    return None if service is None else (zone, service)
