"""What a zone answers: RFC 1034 §4.3.2, wildcards, cuts, aliases, denials."""

from __future__ import annotations

import pytest

from kubedns.dns.names import parse_name
from kubedns.dns.question import Question
from kubedns.dns.rdata import TYPE_NUMBERS
from kubedns.dns.rrset import RRset
from kubedns.zones.masterfile import parse_zone
from kubedns.zones.zone import BadZoneError, Zone
from tests.zones.zones import ORIGIN, TEXT, lines, shown

ZONE = parse_zone(TEXT, ORIGIN)
SOA, CUT = ["example.org. 6"], ["sub.example.org. 2"]
CASES: list[tuple[str, str, str, list[str], list[str]]] = [
    ("mail", "A", "NOERROR", ["{} 300 IN A 192.0.2.2"], []),
    ("MaIl", "A", "NOERROR", ["{} 300 IN A 192.0.2.2"], []),
    ("mail", "TXT", "NOERROR", [], SOA),
    ("nothing", "A", "NXDOMAIN", [], SOA),
    ("below.mail", "A", "NXDOMAIN", [], SOA),
    ("deep", "A", "NOERROR", [], SOA),
    ("b.c.deep", "TXT", "NOERROR", [], SOA),
    ("x.c.deep", "A", "NXDOMAIN", [], SOA),
    ("www", "A", "NOERROR", ["{} 300 IN CNAME mail.example.org."], []),
    ("www", "CNAME", "NOERROR", ["{} 300 IN CNAME mail.example.org."], []),
    ("x.wild", "A", "NOERROR", ["{} 300 IN A 192.0.2.3"], []),
    ("x.y.wild", "A", "NOERROR", ["{} 300 IN A 192.0.2.3"], []),
    ("x.wild", "AAAA", "NOERROR", [], SOA),
    ("x.wild", "TXT", "NOERROR", [r'{} 300 IN TXT "any of them" "with \"quotes\""'], []),
    ("*.wild", "A", "NOERROR", ["{} 300 IN A 192.0.2.3"], []),
    ("host.wild", "A", "NOERROR", [], SOA),
    ("x.host.wild", "A", "NXDOMAIN", [], SOA),
    ("x.*.wild", "A", "NXDOMAIN", [], SOA),
    ("wild", "A", "NOERROR", [], SOA),
    ("x.alias", "A", "NOERROR", ["{} 300 IN CNAME mail.example.org."], []),
    ("sub", "A", "NOERROR", [], CUT),
    ("sub", "NS", "NOERROR", [], CUT),
    ("hidden.sub", "A", "NOERROR", [], CUT),
    ("x.y.sub", "A", "NOERROR", [], CUT),
    ("sub", "DS", "NOERROR", [rf"{{}} 300 IN DS \# 36 00010802{'00' * 31}aa"], []),
    ("x.sub", "DS", "NOERROR", [], CUT),
    ("old", "A", "NOERROR", ["{} 300 IN A 192.0.2.8"], []),
    ("x.old", "A", "NOERROR",
     [r"old.example.org. 300 IN DNAME \# 17 036e6577076578616d706c65036f726700",
      "{} 300 IN CNAME x.new.example.org."], []),
    ("_tcp", "SRV", "NOERROR", [], SOA),
    ("_http._tcp", "SRV", "NOERROR", ["{} 60 IN SRV 0 5 80 mail.example.org."], []),
    (r"esc\.aped", "A", "NOERROR", ["{} 300 IN A 192.0.2.9"], []),
    ("esc.aped", "A", "NXDOMAIN", [], SOA),
    ("n2", "A", "NOERROR", ["{} 300 IN A 10.0.0.2"], []),
    ("n4", "A", "NXDOMAIN", [], SOA),
    ("relative.other", "A", "NOERROR", ["{} 300 IN CNAME other.example.org."], []),
]  # fmt: skip


@pytest.mark.parametrize(("label", "rdtype", "rcode", "answer", "authority"), CASES)
def test_what_a_name_has(label: str, rdtype: str, rcode: str, answer: list[str], authority: list[str]) -> None:
    name = f"{label}.example.org."
    found = ZONE.answer(Question(parse_name(name), TYPE_NUMBERS[rdtype]))
    assert shown(found) == (rcode, sorted(line.format(name) for line in answer), authority)
    assert found.authoritative is (authority != CUT)


FOLLOWED = [("www", "mail.example.org."), ("outside", "www.elsewhere.test."), ("x.old", "x.new.example.org.")]


@pytest.mark.parametrize(("label", "target"), FOLLOWED)
def test_an_alias_is_left_to_follow(label: str, target: str) -> None:
    assert str(ZONE.answer(Question(parse_name(f"{label}.example.org."), 1)).follow) == target


ADDITIONAL = [
    ("example.org.", "MX", ["mail.example.org. 300 IN A 192.0.2.2", "mail.example.org. 300 IN AAAA 2001:db8::2"]),
    ("example.org.", "NS", ["ns1.example.org. 300 IN A 192.0.2.1"]),
    ("_http._tcp.example.org.", "SRV",
     ["mail.example.org. 300 IN A 192.0.2.2", "mail.example.org. 300 IN AAAA 2001:db8::2"]),
    ("x.sub.example.org.", "A", ["ns.sub.example.org. 300 IN A 192.0.2.5", "ns1.example.org. 300 IN A 192.0.2.1"]),
    ("mail.example.org.", "A", []),
]  # fmt: skip


@pytest.mark.parametrize(("name", "rdtype", "expected"), ADDITIONAL)
def test_addresses_come_along(name: str, rdtype: str, expected: list[str]) -> None:
    assert lines(ZONE.answer(Question(parse_name(name), TYPE_NUMBERS[rdtype])).additional) == expected


def test_a_denial_is_kept_for_the_smaller_of_ttl_and_minimum() -> None:
    assert [each.ttl for each in ZONE.answer(Question(parse_name("no.example.org."), 1)).authority] == [60]
    assert ZONE.answer(Question(ORIGIN, 6)).answer[0].ttl == 3600


def test_a_name_that_a_dname_makes_too_long_is_said_to_be() -> None:
    text = "@ 1 SOA . . 1 1 1 1 1\nd 1 DNAME " + ".".join(["a" * 63] * 3) + ".\n"
    zone = parse_zone(text, ORIGIN)
    answer = zone.answer(Question(parse_name("b" * 63 + ".c.d.example.org."), 1))
    assert (answer.rcode.name, len(answer.answer), answer.follow) == ("YXDOMAIN", 1, None)


def test_any_gets_all_that_there_is() -> None:
    found = ZONE.answer(Question(parse_name("mail.example.org."), 255))
    assert lines(found.answer) == ["mail.example.org. 300 IN A 192.0.2.2", "mail.example.org. 300 IN AAAA 2001:db8::2"]


def test_records_begin_with_the_soa_and_have_each_once() -> None:
    records = list(ZONE.records())
    assert records[0] is ZONE.soa
    assert len({(each.owner, each.type) for each in records}) == len(records)
    again = Zone(ORIGIN, records)
    assert sorted(map(str, again.records())) == sorted(map(str, records))


def test_rrsets_of_one_name_and_type_become_one() -> None:
    soa = ZONE.soa
    half = [RRset(ORIGIN, 60, (rdata,)) for rdata in ZONE.answer(Question(ORIGIN, 2)).answer[0].rdatas]
    found = Zone(ORIGIN, [soa, *half, half[0]]).answer(Question(ORIGIN, 2)).answer[0]
    assert (len(found.rdatas), found.ttl) == (2, 60)


BAD = [
    ([], "no SOA record of example.org."),
    ([RRset(parse_name("other.test."), 1, ZONE.soa.rdatas)], "other.test. is not in zone example.org."),
]


@pytest.mark.parametrize(("rrsets", "fault"), BAD)
def test_what_is_no_zone_is_refused(rrsets: list[RRset], fault: str) -> None:
    with pytest.raises(BadZoneError, match=fault):
        Zone(ORIGIN, rrsets)
