from __future__ import annotations

import pytest

from kubedns.dns.names import parse_name
from kubedns.dns.question import Client, Query, Question, Transport
from kubedns.dns.rdata import NS, SOA, RecordType
from kubedns.dns.rrset import RRset
from kubedns.zones.transfer import is_newer, transferred

ZONE = parse_name("a.test.")
CLIENT = Client(bytes(4), "0.0.0.0", 1, Transport.TCP)
APEX = RRset(ZONE, 5, (SOA(ZONE, ZONE, 7, 1, 2, 3, 4),))
REST = RRset(ZONE, 5, (NS(ZONE),))

SERIALS = [
    (8, 7, True),
    (7, 7, False),
    (6, 7, False),
    (1, 0xFFFFFFFF, True),
    (0xFFFFFFFF, 1, False),
    (0x7FFFFFFF, 0, True),
    (0x80000000, 0, False),
]


@pytest.mark.parametrize(("serial", "than", "newer"), SERIALS)
def test_serials_count_round(serial: int, than: int, newer: bool) -> None:
    assert is_newer(serial, than) is newer


AXFR, IXFR = RecordType.AXFR, RecordType.IXFR


@pytest.mark.parametrize(
    ("rdtype", "serial", "whole"),
    [(AXFR, None, True), (IXFR, None, True), (IXFR, 6, True), (IXFR, 7, False), (IXFR, 8, False)],
)
def test_who_is_up_to_date_gets_the_soa_alone(rdtype: int, serial: int | None, whole: bool) -> None:
    query = Query(1, 0, Question(ZONE, rdtype), None, 30, CLIENT, serial=serial)
    answer = transferred(query, APEX, lambda: iter([APEX, REST]))
    if whole:
        assert list(answer.records or ()) == [APEX, REST, APEX]
    else:
        assert (answer.answer, answer.records) == ((APEX,), None)
