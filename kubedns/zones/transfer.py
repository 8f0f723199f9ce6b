"""Zone transfers: what a client that asks for a whole zone is given (RFC 5936, RFC 1995). Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kubedns.dns.answer import Answer, data
from kubedns.dns.question import Query
from kubedns.dns.rdata import RecordType
from kubedns.dns.rrset import RRset, soa_of

_HALF = 1 << 31


def is_newer(serial: int, than: int) -> bool:
    """Whether a serial comes after another one, round the end of their range (RFC 1982 §3.2)."""
    return 0 < (serial - than) % (2 * _HALF) < _HALF


def transferred(query: Query, soa: RRset, records: Callable[[], Iterator[RRset]]) -> Answer:
    """The answer to an AXFR or IXFR: the zone between two copies of its SOA, in messages as they are taken.

    ``records`` gives the zone's RRsets, ``soa`` among them or not. An IXFR from a client that is up to date gets the
    SOA alone; any other is answered as an AXFR is (RFC 1995 §4).
    """
    is_current = query.serial is not None and not is_newer(soa_of(soa).serial, query.serial)
    if query.question.type == RecordType.IXFR and is_current:
        return data((soa,), frozenset())
    return Answer(records=_enclosed(soa, records()))


def _enclosed(soa: RRset, records: Iterator[RRset]) -> Iterator[RRset]:
    yield soa
    for rrset in records:
        if rrset.type != RecordType.SOA:
            yield rrset
    yield soa
