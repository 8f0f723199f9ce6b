"""dns64: whose answers are made of A records, when, and how long they live (RFC 6147)."""

from __future__ import annotations

import asyncio
import ipaddress

import msgspec
import pytest

from kubedns.dns.answer import Answer, Rcode, nodata, nxdomain, servfail
from kubedns.dns.edns import Edns
from kubedns.dns.embedding import prefix_of
from kubedns.dns.names import parse_name
from kubedns.dns.question import Client, Query, Transport
from kubedns.dns.rdata import AAAA, CNAME, SOA, A, RecordType
from kubedns.dns.rrset import RRset
from kubedns.observe.metrics import Cell
from kubedns.plugins.dns64 import Dns64
from tests.plugins.asking import CLIENT, query_for

PREFIX = prefix_of(ipaddress.IPv6Network("64:ff9b::/96"))
SIX = Client(ipaddress.IPv6Address("2001:db8::7").packed, "2001:db8::7", 9, Transport.UDP)
NAME, TEST = parse_name("a.test."), parse_name("test.")
SOA_SET = RRset(TEST, 30, (SOA(TEST, TEST, 1, 2, 3, 4, 5),))
DENIED = nodata(SOA_SET, frozenset({"six"}))
ADDRESS = Answer(answer=(RRset(NAME, 100, (A(bytes((192, 0, 2, 1))),)),), depends_on=frozenset({"four"}))
REAL = Answer(answer=(RRset(NAME, 100, (AAAA(ipaddress.IPv6Address("2001:db8::1").packed),)),))
MAPPED = Answer(answer=(RRset(NAME, 100, (AAAA(ipaddress.IPv6Address("::ffff:10.0.0.1").packed),)),))
NO_SOA = Answer()
ALIASED = Answer(answer=(RRset(NAME, 7, (CNAME(parse_name("b.test.")),)),), follow=parse_name("b.test."))


def asked(query: Query, six: Answer, four: Answer = ADDRESS, every: bool = False, allow_ipv4: bool = False) -> Answer:
    async def rest(query: Query) -> Answer:
        return four if query.question.type == RecordType.A else six

    return asyncio.run(Dns64(PREFIX, every, allow_ipv4, Cell()).answer(query, rest))


def lines(answer: Answer) -> list[str]:
    return [line for rrset in answer.answer for line in rrset.lines()]


MADE_30, MADE_100 = "a.test. 30 IN AAAA 64:ff9b::c000:201", "a.test. 100 IN AAAA 64:ff9b::c000:201"
CASES = [
    (DENIED, ADDRESS, False, [MADE_30]),
    (NO_SOA, ADDRESS, False, [MADE_100]),
    (MAPPED, ADDRESS, False, [MADE_100]),
    (servfail(0, "broken"), ADDRESS, False, [MADE_100]),
    (REAL, ADDRESS, False, lines(REAL)),
    (REAL, ADDRESS, True, [MADE_100]),
    (REAL, DENIED, True, lines(REAL)),
    (DENIED, DENIED, False, []),
    (nxdomain(SOA_SET, frozenset()), ADDRESS, False, []),
    (ALIASED, ADDRESS, False, lines(ALIASED)),
]


@pytest.mark.parametrize(("six", "four", "every", "records"), CASES)
def test_records_are_made_where_there_are_none(six: Answer, four: Answer, every: bool, records: list[str]) -> None:
    assert lines(asked(query_for("a.test.", "AAAA", SIX), six, four, every)) == records


def test_only_clients_at_ipv6_addresses_are_served_unless_all_are() -> None:
    query = query_for("a.test.", "AAAA", CLIENT)
    assert asked(query, DENIED) is DENIED
    assert lines(asked(query, DENIED, allow_ipv4=True)) == [MADE_30]
    classes = [Dns64(PREFIX, False, allow, Cell()).client_class(CLIENT.address) for allow in (False, True)]
    assert classes == [False, True]


def test_a_client_that_validates_is_told_the_truth() -> None:
    query = query_for("a.test.", "AAAA", SIX)
    edns = Edns(0, 1232, True, ())
    assert asked(msgspec.structs.replace(query, edns=edns, flags=0x0110), DENIED) is DENIED
    assert lines(asked(msgspec.structs.replace(query, edns=edns), DENIED)) == [MADE_30]


def test_made_answers_rest_on_what_both_answers_do() -> None:
    assert asked(query_for("a.test.", "AAAA", SIX), DENIED).depends_on == {"six", "four"}
    assert asked(query_for("a.test.", "AAAA", SIX), servfail(0, "broken")).lifetime_seconds == 0


def test_reverse_names_of_made_addresses_are_aliases() -> None:
    made = "1.0.2.0.0.0.0.c.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.b.9.f.f.4.6.0.0.ip6.arpa."
    answer = asked(query_for(made, "PTR", SIX), NO_SOA)
    assert lines(answer) == [f"{made} 600 IN CNAME 1.2.0.192.in-addr.arpa."]
    assert answer.follow == parse_name("1.2.0.192.in-addr.arpa.")
    other = made.replace("b.9.f.f", "b.9.f.e")
    assert asked(query_for(other, "PTR", SIX), NO_SOA) is NO_SOA
    assert asked(query_for("ip6.arpa.", "PTR", SIX), NO_SOA).rcode == Rcode.NOERROR
