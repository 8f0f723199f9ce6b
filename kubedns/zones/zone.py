"""Zone: the records of a static zone, and what it answers (RFC 1034 §4.3.2, RFC 4592, RFC 6672). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from kubedns.dns.answer import Answer, Rcode
from kubedns.dns.names import MAX_NAME_OCTETS, Labels, Name, name_of
from kubedns.dns.question import Question
from kubedns.dns.rdata import CNAME, NS, SOA, SRV, Opaque, RecordType
from kubedns.dns.rrset import RRset, soa_of
from kubedns.dns.wire_names import read_name

_WILDCARD = b"*"
_MX, _DS = 15, 43
Node = Mapping[int, RRset]
"""The RRsets of one owner, by type; none: names exist only below it."""


class BadZoneError(ValueError):
    """Records that make no zone; ``str()`` says why."""


class Zone:
    """The records at and below ``origin``, of which it has a SOA.

    Raises:
        BadZoneError: no SOA or several, a record out of the zone, an alias with other records beside it.
    """

    def __init__(self, origin: Name, rrsets: Iterable[RRset]) -> None:
        self.origin = origin
        self._depth = len(origin.key)
        self._nodes: dict[Labels, dict[int, RRset]] = {}
        for rrset in rrsets:
            self._add(rrset)
        soa = self._nodes.get(origin.key, {}).get(SOA.type)
        if soa is None:
            raise BadZoneError(f"no SOA record of {origin}")
        if len(soa.rdatas) > 1:
            raise BadZoneError(f"{len(soa.rdatas)} SOA records of {origin}")
        self.soa = soa

    @property
    def serial(self) -> int:
        """The SOA's serial."""
        return soa_of(self.soa).serial

    def has_same_records(self, other: Zone) -> bool:
        """Whether both would give the same answers."""
        return self._nodes == other._nodes

    def records(self) -> Iterator[RRset]:
        """Every RRset, the SOA first and once."""
        yield self.soa
        for node in self._nodes.values():
            for rrset in node.values():
                if rrset is not self.soa:
                    yield rrset

    def answer(self, question: Question) -> Answer:
        """What the zone says of a name at or below its origin. An alias is left to ``follow``."""
        name = question.name
        for length in range(self._depth, len(name.key) + 1):
            key = name.key[len(name.key) - length :]
            node = self._nodes.get(key)
            if node is None:
                return self._by_wildcard(question, key[1:])
            is_name = length == len(name.key)
            if RecordType.NS in node and length > self._depth and not (is_name and question.type == _DS):
                return self._referral(node[RecordType.NS])
            if RecordType.DNAME in node and not is_name:
                return _renamed(question, node[RecordType.DNAME])
        return self._at(question, self._nodes[name.key])

    def _add(self, rrset: RRset) -> None:
        if not rrset.owner.is_at_or_below(self.origin):
            raise BadZoneError(f"{rrset.owner} is not in zone {self.origin}")
        key = rrset.owner.key
        node = self._nodes.get(key)
        if node is None:
            # Names above it exist as well, with or without records (RFC 4592 §2.2.2).
            for length in range(self._depth, len(key) + 1):
                node = self._nodes.setdefault(key[len(key) - length :], {})
        assert node is not None
        known = node.get(rrset.type)
        if known is not None:
            rdatas = tuple(dict.fromkeys(known.rdatas + rrset.rdatas))
            rrset = RRset(known.owner, min(known.ttl, rrset.ttl), rdatas)
        node[rrset.type] = rrset
        if CNAME.type in node and len(node.keys() - _BESIDE_ALIASES) > 1:
            raise BadZoneError(f"{rrset.owner} has a CNAME and other records")

    def _by_wildcard(self, question: Question, encloser: Labels) -> Answer:
        """The answer for a name that does not exist, below its closest encloser (RFC 4592 §3.3)."""
        node = self._nodes.get((_WILDCARD, *encloser))
        return self._denial(Rcode.NXDOMAIN) if node is None else self._at(question, node)

    def _at(self, question: Question, node: Node) -> Answer:
        """The answer of a node to a question of its own name, or of one that it stands for."""
        name = question.name
        alias = node.get(CNAME.type)
        if alias is not None and question.type not in (CNAME.type, RecordType.ANY):
            target = alias.rdatas[0]
            assert isinstance(target, CNAME)
            return Answer(answer=(_owned(alias, name),), follow=target.target)
        if question.type == RecordType.ANY and node:
            return Answer(answer=tuple(_owned(rrset, name) for rrset in node.values()))
        found = node.get(question.type)
        if found is None:
            return self._denial(Rcode.NOERROR)
        return Answer(answer=(_owned(found, name),), additional=self._addresses(found))

    def _referral(self, servers: RRset) -> Answer:
        """Who serves the zone below a cut (RFC 1034 §4.3.2 3b), with the addresses that are known here."""
        return Answer(authoritative=False, authority=(servers,), additional=self._addresses(servers))

    def _addresses(self, rrset: RRset) -> tuple[RRset, ...]:
        """Addresses, in the zone, of the names that ``rrset`` leads to (RFC 1034 §3.3, RFC 2782)."""
        found = []
        for target in dict.fromkeys(_targets(rrset)):
            node = self._nodes.get(target.key, {})
            found += [node[rdtype] for rdtype in (RecordType.A, RecordType.AAAA) if rdtype in node]
        return tuple(found)

    def _denial(self, rcode: Rcode) -> Answer:
        """NXDOMAIN or NODATA; it may be kept for the smaller of the SOA's TTL and MINIMUM (RFC 2308 §3)."""
        shown = RRset(self.soa.owner, min(self.soa.ttl, soa_of(self.soa).minimum), self.soa.rdatas)
        return Answer(rcode=rcode, authority=(shown,))


_BESIDE_ALIASES = frozenset((RecordType.RRSIG, RecordType.NSEC))
"""What may stand beside a CNAME: RRSIG and NSEC (RFC 4035 §2.5)."""


def _owned(rrset: RRset, name: Name) -> RRset:
    """The RRset under ``name``: as it was asked, or as a wildcard has it."""
    return msgspec.structs.replace(rrset, owner=name)


def _targets(rrset: RRset) -> Iterator[Name]:
    for rdata in rrset.rdatas:
        match rdata:
            case NS(target) | SRV(target=target):
                yield target
            case Opaque(rdtype, octets) if rdtype == _MX:
                yield name_of(read_name(octets, 2)[0])
            case _:
                return


def _renamed(question: Question, dname: RRset) -> Answer:
    """The alias that a DNAME makes for a name below it (RFC 6672 §3.1)."""
    rdata = dname.rdatas[0]
    assert isinstance(rdata, Opaque)
    target, _ = read_name(rdata.octets, 0)
    name = question.name
    renamed = name_of(name.labels[: len(name.labels) - len(dname.owner.labels)] + target)
    if renamed.octets() > MAX_NAME_OCTETS:
        return Answer(rcode=Rcode.YXDOMAIN, answer=(dname,))
    return Answer(answer=(dname, RRset(name, dname.ttl, (CNAME(renamed),))), follow=renamed)
