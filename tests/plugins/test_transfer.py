from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from kubedns.dns.answer import Answer, Rcode
from kubedns.dns.names import Name, parse_name
from kubedns.dns.question import Client, Query, Transport
from kubedns.dns.rdata import NS, SOA
from kubedns.dns.rrset import RRset
from kubedns.plugins.plugin import Plugin
from kubedns.plugins.transfer import MAX_TRANSFERS, Rule, Transfer
from kubedns.upstream.exchange import UpstreamAddress
from tests.plugins.asking import ask, query_for

A, B = parse_name("a.test."), parse_name("b.a.test.")
REST = Answer(plugin="rest")
ONE = Rule((A,), (UpstreamAddress("192.0.2.1"), UpstreamAddress("2001:db8::1", 5353)))
OPEN = Rule((B,), (), is_open=True)


class Zones:
    """A plugin that has zones."""

    word = "zones"

    def __init__(self, *zones: Name, ready: bool = True) -> None:
        self._zones = zones
        self._ready = ready

    def apexes(self) -> tuple[Name, ...]:
        return self._zones

    def soa(self, zone: Name) -> RRset | None:
        return RRset(zone, 5, (SOA(zone, zone, 7, 1, 2, 3, 4),)) if zone in self._zones and self._ready else None

    def zone_records(self, zone: Name) -> Iterator[RRset]:
        yield RRset(zone, 5, (NS(zone),))


def query(name: str, client: str, octets: bytes, rdtype: str = "AXFR") -> Query:
    return query_for(name, rdtype, Client(octets, client, 1, Transport.TCP))


FIRST, SIXTH, OTHER = bytes((192, 0, 2, 1)), bytes.fromhex("20010db8000000000000000000000001"), bytes((192, 0, 2, 9))

VERDICTS = [
    ("a.test.", FIRST, [ONE], Rcode.NOERROR),
    ("a.test.", SIXTH, [ONE], Rcode.NOERROR),
    ("A.TEST.", FIRST, [ONE], Rcode.NOERROR),
    ("a.test.", OTHER, [ONE], Rcode.REFUSED),
    ("x.a.test.", FIRST, [ONE], Rcode.REFUSED),
    ("b.a.test.", OTHER, [ONE, OPEN], Rcode.NOERROR),
    ("b.a.test.", OTHER, [OPEN, ONE], Rcode.NOERROR),
    ("a.test.", OTHER, [OPEN, ONE], Rcode.REFUSED),
    ("b.a.test.", OTHER, [Rule((A,), (), is_open=True), Rule((B,), ONE.peers)], Rcode.REFUSED),
    ("b.a.test.", OTHER, [Rule((B,), ONE.peers), Rule((A,), (), is_open=True)], Rcode.REFUSED),
    ("nota.test.", FIRST, [ONE], Rcode.REFUSED),
]


@pytest.mark.parametrize(("name", "client", "rules", "rcode"), VERDICTS)
def test_the_longest_zone_says_who_gets_it(name: str, client: bytes, rules: list[Rule], rcode: Rcode) -> None:
    block: list[Plugin] = [Zones(A), Zones(B)]
    answer = ask(Transfer(rules, block), query(name, "", client), REST)
    assert answer.rcode == rcode
    assert (answer.records is not None) is (rcode == Rcode.NOERROR)
    assert answer.varies_by_client


def test_lines_of_a_server_block_count_together() -> None:
    joined = Transfer([ONE], []).joined(Transfer([OPEN], []))
    assert (joined.rules_for(A), joined.rules_for(B)) == ([ONE], [OPEN])


def test_other_questions_go_on() -> None:
    assert ask(Transfer([ONE], [Zones(A)]), query("a.test.", "", FIRST, "SOA"), REST) is REST


def test_a_zone_that_is_not_loaded_is_no_missing_zone() -> None:
    answer = ask(Transfer([ONE], [Zones(A, ready=False)]), query("a.test.", "", FIRST), REST)
    assert answer.rcode == Rcode.SERVFAIL


def test_only_so_many_are_under_way_and_those_that_end_make_room() -> None:
    transfer = Transfer([ONE], [Zones(A)])

    def begin() -> Answer:
        return ask(transfer, query("a.test.", "", FIRST), REST)

    under_way = [begin() for _ in range(MAX_TRANSFERS)]
    assert all(each.records is not None for each in under_way)
    assert begin().rcode == Rcode.SERVFAIL
    next(under_way[0].records or iter(()))
    under_way.pop(0)  # as one that is broken off; nobody has to tell
    gc.collect()
    assert begin().rcode == Rcode.NOERROR
