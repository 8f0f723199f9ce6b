"""ClusterZone: questions about a cluster's names, forward and reverse, and their answers."""

from __future__ import annotations

from typing import assert_never

import msgspec

from kubedns.cluster.lister import Lister
from kubedns.dns.answer import Answer, cname, data, nodata, not_ready, nxdomain, refused
from kubedns.dns.names import Name
from kubedns.dns.question import Question
from kubedns.dns.rdata import ANY_REFUSED, RecordType
from kubedns.dns.rrset import RRset
from kubedns.dns.trace import NO_TRACE, Trace
from kubedns.records import owner as owners
from kubedns.records.apex import find_apex, find_dns_version, find_name_server
from kubedns.records.endpoint import find_endpoint
from kubedns.records.endpoint_list import find_listed_port, find_listed_protocol, find_listed_service
from kubedns.records.explanation import explain
from kubedns.records.lookup import EXISTS, Found, Lookup
from kubedns.records.node import find_node
from kubedns.records.options import RecordOptions
from kubedns.records.own_proxy import find_own_proxy
from kubedns.records.pod import find_pod
from kubedns.records.reverse import find_reverse
from kubedns.records.service import find_port, find_protocol, find_service
from kubedns.records.staleness import as_known
from kubedns.records.zone import Zone


class ClusterZone:
    """Answers about one cluster, as ``options`` say, from the newest objects that ``lister`` has.

    ``serial``: what the SOA's serial starts from; the lister's version is added.
    """

    def __init__(self, options: RecordOptions, lister: Lister, serial: int = 0) -> None:
        self.options = options
        self.lister = lister
        self.first_serial = serial
        zones = [Zone(name, options.ttl) for name in options.zones]
        self._forward = next((zone for zone in zones if not zone.is_reverse), None)
        self.zones = tuple(sorted(zones, key=lambda zone: -len(zone.key)))

    def answer(self, question: Question, trace: Trace = NO_TRACE, client: bytes = b"") -> Answer:
        """The answer to a question of class IN from the longest zone that holds its name; REFUSED where none does.

        ``client``: the packed address of whoever asks.
        SERVFAIL until the source has synced, for nothing can be denied before. An alias is given with ``follow``.
        """
        zone = self.zone_of(question.name)
        if zone is None:
            return refused()
        if not self.lister.has_synced:
            return not_ready("the cluster's objects have not been listed yet")
        lookup = self.lookup(zone, question.type, client)
        owner = zone.owner(question.name)
        found = find(lookup, owner, self.serial)
        if trace.active:
            explain(trace, lookup, owner, found)
        answer = as_known(self._answer(lookup, question, found), self.lister)
        return msgspec.structs.replace(answer, varies_by_client=True) if lookup.knows_client else answer

    def zone_of(self, name: Name) -> Zone | None:
        """The longest zone that holds ``name``."""
        for zone in self.zones:
            if zone.holds(name):
                return zone
        return None

    def begins_at(self, apex: Name) -> Zone | None:
        """The zone whose apex that is."""
        return next((zone for zone in self.zones if zone.name == apex), None)

    def lookup(self, zone: Zone, rtype: int, client: bytes = b"") -> Lookup:
        """What reads the objects for one question of ``rtype`` in ``zone``, asked by ``client``."""
        return Lookup(self.lister, self.options, zone, self._forward if zone.is_reverse else zone, rtype, client)

    def frozen(self) -> ClusterZone:
        """The same cluster as it is now, whatever changes later."""
        return ClusterZone(self.options, self.lister.frozen(), self.first_serial)

    @property
    def serial(self) -> int:
        """The serial of every zone just now; it counts round (RFC 1982)."""
        return (self.first_serial + self.lister.version) & 0xFFFFFFFF

    def _answer(self, lookup: Lookup, question: Question, found: Found | None) -> Answer:
        keys = frozenset(lookup.keys)
        ttl = self.options.ttl
        if found is None:
            return nxdomain(lookup.zone.soa(self.serial), keys)
        if found.alias is not None:
            return cname(question.name, found.alias, ttl, keys)
        rdatas = found.rdatas or ((ANY_REFUSED,) if question.type == RecordType.ANY else ())
        if not rdatas:
            return nodata(lookup.zone.soa(self.serial), keys)
        rrset = RRset(question.name, ttl if found.ttl is None else found.ttl, rdatas)
        answer = data((rrset,), keys, found.additional)
        if question.type == RecordType.SOA:  # its serial changes with everything, so it is not kept
            return msgspec.structs.replace(answer, lifetime_seconds=0)
        return answer


def find(lookup: Lookup, owner: owners.Owner, serial: int = 0) -> Found | None:
    """What exists at the owner; None: neither it nor anything below it. Owners asked for most come first."""
    match owner:
        case owners.ServiceName():
            return find_service(lookup, owner)
        case owners.EndpointName():
            return find_endpoint(lookup, owner)
        case owners.PortName():
            return find_port(lookup, owner)
        case owners.Nothing():
            return None
        case owners.NodeName():
            return find_node(lookup, owner)
        case owners.ReverseName():
            return find_reverse(lookup, owner)
        case owners.PodName():
            return find_pod(lookup, owner)
        case owners.ListedPort():
            return find_listed_port(lookup, owner)
        case owners.NamespaceName():
            return EXISTS if lookup.serves(owner.tree) and lookup.has_namespace(owner.namespace) else None
        case owners.TreeName():
            return EXISTS if lookup.serves(owner.tree) else None
        case owners.ProtocolName():
            return find_protocol(lookup, owner)
        case owners.ListedProtocol():
            return find_listed_protocol(lookup, owner)
        case owners.ListedService():
            return find_listed_service(lookup, owner)
        case owners.OwnProxy():
            return find_own_proxy(lookup, owner)
        case owners.Apex():
            return find_apex(lookup, serial)
        case owners.NameServer():
            return find_name_server(lookup)
        case owners.DnsVersion():
            return find_dns_version(lookup)
        case owners.EmptyNonTerminal():
            return EXISTS
        case _:
            assert_never(owner)
