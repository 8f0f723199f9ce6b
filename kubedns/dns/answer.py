"""Answers: what was found, as a value, and what it depends on."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from enum import IntEnum

import msgspec

from kubedns.dns.edns import MAX_UDP_OCTETS, ErrorCode, ExtendedError
from kubedns.dns.names import Name
from kubedns.dns.rdata import CNAME, SOA, Rdata
from kubedns.dns.rrset import RRset

Key = Hashable
"""Something an answer depends on: compared, never opened."""
Keys = frozenset[Key]
NO_KEYS: Keys = frozenset()


Rank = Callable[[Rdata], int]
"""How early a record is to be given among those of its RRset: 0 first."""


class Rcode(IntEnum):
    """Response codes (RFC 1035 §4.1.1, RFC 2136, RFC 6891 §9)."""

    NOERROR = 0
    FORMERR = 1
    SERVFAIL = 2
    NXDOMAIN = 3
    NOTIMP = 4
    REFUSED = 5
    YXDOMAIN = 6
    NOTAUTH = 9
    BADVERS = 16


def rcode_name(code: int) -> str:
    """The name of a response code, for people; of those without one the number."""
    return Rcode(code).name if code in Rcode._value2member_map_ else str(code)


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What was found for a question.

    ``depends_on``: keys; a change of any of them makes the answer void. ``lifetime_seconds``: how long it may be kept
    if none changes; None: for ever; 0: not at all. ``varies_by_client``: true for this client only, so never kept.
    ``follow``: the target of an alias that whoever asked has still to look up. ``shuffled``: the records of each RRset
    may be given in any order, in turn; ``rank``: those of a lower rank before the others even then. ``plugin``: the
    word that answered. ``silent``: the client gets no response. ``recursion_available``: an upstream was asked.
    ``served_again`` is told, now and then, how many times more the finished response was given.
    ``server_name``: what clients that ask who answers are told (RFC 5001); empty: nothing.
    ``max_udp_octets``: how long the response may be over UDP, whatever the client takes. ``records``: the answer of a
    response that has as many messages as it needs; they are read as they are sent, and once. ``rdclass``: the class of
    all records; None: the question's.
    """

    rcode: Rcode = Rcode.NOERROR
    answer: tuple[RRset, ...] = ()
    authority: tuple[RRset, ...] = ()
    additional: tuple[RRset, ...] = ()
    authoritative: bool = True
    recursion_available: bool = False
    depends_on: Keys = NO_KEYS
    lifetime_seconds: float | None = None
    varies_by_client: bool = False
    follow: Name | None = None
    shuffled: bool = False
    rank: Rank | None = None
    served_again: Callable[[int], None] | None = None
    silent: bool = False
    plugin: str = ""
    extended_error: ExtendedError | None = None
    max_udp_octets: int = MAX_UDP_OCTETS
    records: Iterator[RRset] | None = None
    rdclass: int | None = None
    server_name: bytes = b""

    @property
    def is_denial(self) -> bool:
        """NXDOMAIN, or NODATA: NOERROR with an empty answer section or an alias alone that ends in no data."""
        return self.rcode == Rcode.NXDOMAIN or (
            self.rcode == Rcode.NOERROR and any(rrset.type == SOA.type for rrset in self.authority)
        )

    def also_on(self, keys: Keys) -> Answer:
        """The same, void too when any of ``keys`` changes: what was looked for there first might appear."""
        return msgspec.structs.replace(self, depends_on=self.depends_on | keys)


def data(rrsets: tuple[RRset, ...], depends_on: Keys, additional: tuple[RRset, ...] = ()) -> Answer:
    """Records, authoritative."""
    return Answer(answer=rrsets, additional=additional, depends_on=depends_on)


def cname(owner: Name, target: Name, ttl: int, depends_on: Keys) -> Answer:
    """An alias whose target is still to be looked up (RFC 1034 §3.6.2)."""
    return Answer(answer=(RRset(owner, ttl, (CNAME(target),)),), depends_on=depends_on, follow=target)


def nodata(soa: RRset, depends_on: Keys) -> Answer:
    """The name exists, the type does not (RFC 2308 §2.2)."""
    return Answer(authority=(soa,), depends_on=depends_on)


def nxdomain(soa: RRset, depends_on: Keys) -> Answer:
    """The name does not exist, nor anything below it (RFC 2308 §2.1, RFC 8020)."""
    return Answer(rcode=Rcode.NXDOMAIN, authority=(soa,), depends_on=depends_on)


def refused(why: ExtendedError | None = None) -> Answer:
    """Not served here, or not to this client."""
    return Answer(rcode=Rcode.REFUSED, authoritative=False, extended_error=why)


def servfail(code: int, text: str) -> Answer:
    """Nothing is known for sure; never kept."""
    return Answer(
        rcode=Rcode.SERVFAIL, authoritative=False, lifetime_seconds=0, extended_error=ExtendedError(code, text)
    )


def not_ready(text: str) -> Answer:
    """The source has not synced, so no denial can be proved (RFC 8914 §4.15)."""
    return servfail(ErrorCode.NOT_READY, text)
