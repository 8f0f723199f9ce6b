"""Every record of a cluster: the names there are, with what is answered at each.

Names without records of their own (empty non-terminals) are not given, nor names without number: spellings of pods'
addresses in mode ``insecure``, and undeclared ports of headless Services in ``endpoints.<zone>``.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubedns.cluster.objects import Service
from kubedns.dns.names import MAX_LABEL_OCTETS, MAX_NAME_OCTETS, Name, reverse_name
from kubedns.dns.question import Question
from kubedns.dns.rdata import RecordType
from kubedns.dns.rrset import RRset
from kubedns.records.cluster_zone import ClusterZone
from kubedns.records.dashed import dashed
from kubedns.records.endpoint import Member, members_found, members_of, published
from kubedns.records.endpoint_list import port_labels
from kubedns.records.owner import PROTOCOL_LABELS, RESERVED, Tree
from kubedns.records.service import service_listeners
from kubedns.records.zone import Zone

_ADDRESSES = (RecordType.A, RecordType.AAAA)
_PORT = (*_ADDRESSES, RecordType.SRV)
_ENDPOINT = (*_PORT, RecordType.TXT)

Names = Iterator[tuple[Name, tuple[int, ...]]]
"""Names, each with the types that it may have."""


def records(cluster: ClusterZone) -> Iterator[RRset]:
    """Every RRset of every zone, the apex first, then Service by Service; none before the source has synced."""
    for zone in cluster.zones:
        yield from zone_records(cluster, zone)


def zone_records(cluster: ClusterZone, zone: Zone) -> Iterator[RRset]:
    """Every RRset of one of the cluster's zones, its SOA first; none before the source has synced."""
    if not cluster.lister.has_synced:
        return
    for name, types in _names(cluster, zone):
        for rtype in types:
            yield from cluster.answer(Question(name, rtype)).answer
    if not zone.is_reverse:
        yield from _endpoints(cluster, zone)


def _names(cluster: ClusterZone, zone: Zone) -> Names:
    """The names of one zone but those of endpoints; some may turn out to have nothing."""
    yield zone.name, (RecordType.SOA, RecordType.NS)
    yield zone.name_server, _ADDRESSES
    if zone.is_reverse:
        yield from _reverse_names(cluster, zone)
        return
    yield zone.child("dns-version"), (RecordType.TXT,)
    for service in cluster.lister.services():
        name = zone.service_name(service.namespace, service.name)
        yield name, (RecordType.CNAME,) if service.external_name else _PORT
        if not service.external_name:
            yield from _port_names(cluster, zone, service)
    yield from _pod_names(cluster, zone)
    yield from _node_names(cluster, zone)


def _reverse_names(cluster: ClusterZone, zone: Zone) -> Names:
    for octets in (4, 16):
        for address in cluster.lister.addresses_within(b"", 0, octets):
            name = reverse_name(address)
            if cluster.zone_of(name) is zone:
                yield name, (RecordType.PTR,)


def _port_names(cluster: ClusterZone, zone: Zone, service: Service) -> Names:
    listeners = service_listeners(cluster.lookup(zone, RecordType.SRV), service)
    for port, protocol in dict.fromkeys([(each.port, each.protocol) for each in listeners]):
        if port and protocol in PROTOCOL_LABELS:
            yield zone.service_child(service.namespace, service.name, f"_{port}", PROTOCOL_LABELS[protocol]), _PORT
    if cluster.options.mesh:
        for labels in port_labels(service):
            yield zone.child(*labels, service.name, service.namespace, Tree.ENDPOINTS.value), (RecordType.SRV,)


def _pod_names(cluster: ClusterZone, zone: Zone) -> Names:
    for pod in cluster.lister.pods():
        for address in pod.addresses:
            yield zone.child(dashed(address), pod.namespace, Tree.PODS.value), _ADDRESSES


def _node_names(cluster: ClusterZone, zone: Zone) -> Names:
    for node in cluster.lister.nodes():
        labels = node.name.split(".")
        for name in (zone.child(*labels), zone.child(*labels, "node")):
            if max(map(len, name.labels)) > MAX_LABEL_OCTETS or name.octets() > MAX_NAME_OCTETS:
                continue
            if labels[-1] not in RESERVED or name.key[len(labels)] == b"node":
                yield name, _ADDRESSES


def _endpoints(cluster: ClusterZone, zone: Zone) -> Iterator[RRset]:
    """Records at the endpoints' own names, in one walk over each Service's endpoints."""
    lookups = [cluster.lookup(zone, rtype) for rtype in _ENDPOINT]
    for service in cluster.lister.services():
        if service.external_name or not lookups[0].exposes(service.namespace):
            continue
        labels: dict[tuple[str, ...], list[Member]] = {}
        for member in members_of(lookups[0], service, published(lookups[0], service)):
            labels.setdefault(member.labels, []).append(member)
        for label, members in labels.items():
            owner = zone.service_child(service.namespace, service.name, *label)
            for lookup in lookups:
                found = members_found(lookup, service, members)
                if found.rdatas:
                    yield RRset(owner, cluster.options.ttl, found.rdatas)
