"""How long an answer of another server may be kept, and what its TTLs are as it ages. Seconds throughout."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from kubedns.dns.answer import Answer, Rcode
from kubedns.dns.rdata import SOA
from kubedns.dns.reply import Reply
from kubedns.dns.rrset import RRset

UNPROVED_DENIAL = 1
"""For how long a denial without its SOA may be kept, which RFC 2308 §5 would rather not have kept at all."""


def lifetime(answer: Answer) -> int:
    """How long the answer may be kept by its own TTLs: the smallest of its records, or what its SOA grants a denial.

    0: not at all. A denial may be kept for the smaller of the SOA's TTL and its MINIMUM (RFC 2308 §5); with an alias in
    front, no longer than the alias.
    """
    ttls = [rrset.ttl for rrset in answer.answer]
    if _denies(answer):
        granted = denial_lifetime(answer.authority)
        ttls.append(UNPROVED_DENIAL if granted is None else granted)
    return min(ttls)


def is_unproved(answer: Answer) -> bool:
    """Whether it is a denial without its SOA."""
    return _denies(answer) and denial_lifetime(answer.authority) is None


def denial_lifetime(authority: Iterable[RRset]) -> int | None:
    """How long the SOA among the ``authority`` lets a denial be kept (RFC 2308 §5); None: there is none."""
    soas = [(rrset.ttl, soa) for rrset in authority for soa in rrset.rdatas if isinstance(soa, SOA)]
    return min((min(ttl, soa.minimum) for ttl, soa in soas), default=None)


def with_ttl(answer: Answer, ttl: int) -> Answer:
    """The answer with ``ttl`` on all its records."""
    return msgspec.structs.replace(
        answer,
        answer=_with_ttl(answer.answer, ttl),
        authority=_with_ttl(answer.authority, ttl),
        additional=_with_ttl(answer.additional, ttl),
    )


def freshness(reply: Reply) -> int:
    """Seconds for which a finished response may be kept by caches that know no DNS (RFC 8484 §5.1); 0: not at all."""
    if reply.rcode not in (Rcode.NOERROR, Rcode.NXDOMAIN):
        return 0
    if reply.answer:
        return min(rrset.ttl for rrset in reply.answer)
    return denial_lifetime(reply.authority) or 0


def _denies(answer: Answer) -> bool:
    return answer.rcode == Rcode.NXDOMAIN or not answer.answer or answer.is_denial


def _with_ttl(rrsets: tuple[RRset, ...], ttl: int) -> tuple[RRset, ...]:
    return tuple(msgspec.structs.replace(rrset, ttl=ttl) for rrset in rrsets)
