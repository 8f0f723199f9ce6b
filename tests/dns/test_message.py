"""Responses, read back by dnspython, a reader that is not ours."""

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.tsig
import pytest

from kubedns.dns.answer import Answer, Rcode, data, nodata, nxdomain, servfail
from kubedns.dns.edns import udp_limit
from kubedns.dns.message import MAX_MESSAGE_OCTETS, write_rejection, write_response, write_responses
from kubedns.dns.names import ROOT, name_of, parse_name
from kubedns.dns.question import Query
from kubedns.dns.rdata import AAAA, CNAME, NS, PTR, SOA, SRV, TXT, A, Opaque, Rdata
from kubedns.dns.reader import Rejected, read_query
from kubedns.dns.rrset import RRset
from tests.dns.test_reader import CLIENT, GOOD, QUESTION, REJECTED, message, opt

OWNER = parse_name("web.shop.svc.cluster.local.")
ZONE = parse_name("cluster.local.")
SOA_SET = RRset(ZONE, 5, (SOA(ZONE.child(b"ns", b"dns"), ZONE.child(b"hostmaster"), 7, 7200, 1800, 86400, 5),))


def query(octets: bytes = GOOD["plain"]) -> Query:
    got = read_query(octets, CLIENT)
    assert isinstance(got, Query)
    return got


def respond(answer: Answer, octets: bytes = GOOD["plain"], limit: int = 512) -> dns.message.Message:
    written = write_response(query(octets), answer, limit)
    assert len(written) <= limit
    return dns.message.from_wire(written)


RDATAS: list[tuple[Rdata, str]] = [
    (A(bytes((10, 96, 0, 1))), "10.96.0.1"),
    (AAAA(bytes.fromhex("fd00") + bytes(13) + b"\1"), "fd00::1"),
    (CNAME(ZONE.child(b"a")), "a.cluster.local."),
    (NS(ZONE.child(b"ns")), "ns.cluster.local."),
    (PTR(OWNER), "web.shop.svc.cluster.local."),
    (SRV(0, 33, 8080, OWNER), "0 33 8080 web.shop.svc.cluster.local."),
    (TXT((b"1.1.0", b'a"b')), '"1.1.0" "a\\"b"'),
    (Opaque(13, b"\7RFC8482\0"), '"RFC8482" ""'),
]


@pytest.mark.parametrize(("rdata", "text"), RDATAS)
def test_every_kind_of_rdata_reads_back(rdata: Rdata, text: str) -> None:
    (rrset,) = respond(data((RRset(OWNER, 5, (rdata,)),), frozenset())).answer
    assert (rrset.rdtype, rrset.ttl, rrset[0].to_text()) == (rdata.type, 5, text)
    if not isinstance(rdata, Opaque):
        assert str(rdata) == text


def addresses(count: int) -> tuple[A, ...]:
    return tuple(A(bytes((10, 0, number >> 8, number & 255))) for number in range(count))


FITS = [(1, 512, 1), (28, 512, 28), (30, 512, 29), (120, 512, 29), (120, 1232, 74), (5000, 65535, 4093)]


@pytest.mark.parametrize(("count", "limit", "kept"), FITS)
def test_whole_records_are_kept_up_to_the_limit(count: int, limit: int, kept: int) -> None:
    response = respond(data((RRset(OWNER, 5, addresses(count)),), frozenset()), limit=limit)
    (rrset,) = response.answer
    assert len(rrset) == kept
    assert bool(response.flags & dns.flags.TC) is (kept < count and limit < MAX_MESSAGE_OCTETS)


def test_targets_are_cut_by_whole_records_and_extras_go_without_tc() -> None:
    targets = tuple(SRV(0, 1, 80, ZONE.child(b"endpoint-%d" % number)) for number in range(60))
    response = respond(data((RRset(OWNER, 5, targets),), frozenset(), (RRset(OWNER, 5, addresses(2)),)))
    assert response.flags & dns.flags.TC
    assert 5 < len(response.answer[0]) < 60
    assert not response.additional
    response = respond(data((RRset(OWNER, 5, targets[:8]),), frozenset(), (RRset(OWNER, 5, addresses(60)),)))
    assert not response.flags & dns.flags.TC
    assert len(response.answer[0]) == 8
    assert len(response.additional[0]) < 60


def test_a_long_chain_keeps_names_readable_beyond_the_reach_of_pointers() -> None:
    texts = [RRset(ZONE.child(b"t%d" % number), 5, (TXT((b"x" * 250,)),)) for number in range(100)]
    late = RRset(parse_name("late.example.org."), 5, addresses(3))
    response = respond(data((*texts, late, late), frozenset()), limit=MAX_MESSAGE_OCTETS)
    assert response.answer[-1].name.to_text() == "late.example.org."
    assert len(response.answer[-1]) == 3


def test_flags_and_question_follow_the_query() -> None:
    response = respond(nxdomain(SOA_SET, frozenset()), message(0x0110))
    assert response.rcode() == dns.rcode.NXDOMAIN
    assert response.flags & ~0xF == dns.flags.QR | dns.flags.AA | dns.flags.RD | dns.flags.CD
    assert respond(nodata(SOA_SET, frozenset()), message(0x0060)).flags == dns.flags.QR | dns.flags.AA


def test_the_question_is_echoed_octet_for_octet() -> None:
    body = b"\3wEb\x05a.\xff\0b\5LOCAL\0\0\1\0\1"
    written = write_response(query(message(body=body)), nodata(SOA_SET, frozenset()), 512)
    assert written[12 : 12 + len(body)] == body


def test_an_opt_answers_an_opt_and_only_that() -> None:
    assert respond(nodata(SOA_SET, frozenset())).edns == -1
    octets = message(counts=(1, 0, 0, 1), body=QUESTION + opt(ttl=0xFFFF, rdata=b"\xfd\xe9\0\1x"))
    response = respond(nodata(SOA_SET, frozenset()), octets)
    assert (response.edns, response.ednsflags, response.options) == (0, 0x8000, ())
    failed = respond(servfail(14, "not synced"), octets)
    assert [option.to_text() for option in failed.options] == ["EDE 14 (Not Ready): not synced"]


@pytest.mark.parametrize(("size", "limit"), [(0, 512), (512, 512), (600, 600), (1232, 1232), (65535, 1232)])
def test_the_udp_limit_is_the_clients_within_ours(size: int, limit: int) -> None:
    assert udp_limit(query(message(counts=(1, 0, 0, 1), body=QUESTION + opt(size))).edns) == limit
    assert udp_limit(None) == 512


def responses(rrsets: list[RRset], octets: bytes = GOOD["plain"]) -> list[dns.message.Message]:
    written = [each for each in write_responses(query(octets), Answer(records=iter(rrsets))) if each]
    assert all(len(each) <= MAX_MESSAGE_OCTETS for each in written)
    assert all(len(each) > MAX_MESSAGE_OCTETS - 400 for each in written[:-1])
    return [dns.message.from_wire(each, one_rr_per_rrset=True) for each in written]


@pytest.mark.parametrize("name", ["plain", "opt"])
def test_many_records_go_into_as_few_messages_as_hold_them(name: str) -> None:
    texts = [RRset(OWNER.child(b"t%d" % at), 5, (TXT((b"x" * 200,)),)) for at in range(1000)]
    rrsets = [SOA_SET, RRset(OWNER, 5, addresses(9000)), *texts, SOA_SET]
    messages = responses(rrsets, GOOD[name])
    lines = [rrset.to_text() for each in messages for rrset in each.answer]
    assert lines == [line for rrset in rrsets for line in rrset.lines()]
    assert {each.edns for each in messages} == {0 if name == "opt" else -1}
    assert {each.id for each in messages} == {0x4B44}
    assert all(each.question for each in messages)


def test_while_many_records_are_written_others_have_their_turn() -> None:
    work = iter(RRset(OWNER, 5, addresses(1)) for _ in range(1000))
    for written in write_responses(query(), Answer(records=work)):
        if not written:
            break
    assert next(work, None) is not None


def test_no_record_is_broken_over_two_messages() -> None:
    with pytest.raises(ValueError, match="longer than a message"):
        responses([SOA_SET, RRset(OWNER, 5, (Opaque(65280, bytes(65500)),))])


@pytest.mark.parametrize("name", REJECTED)
def test_a_rejection_is_a_sound_message(name: str) -> None:
    rejected = read_query(REJECTED[name][0], CLIENT)
    assert isinstance(rejected, Rejected)
    written = write_rejection(rejected)
    response = dns.message.from_wire(written, keyring=False) if name != "unknown-key" else None
    if response is not None:
        assert response.rcode() == int(rejected.rcode)
        assert response.flags & dns.flags.QR
    assert written[2] & 0x78 == REJECTED[name][0][2] & 0x78
    if rejected.rcode == Rcode.NOTIMP:
        assert len(written) == 12


def test_an_unknown_key_is_told_so() -> None:
    rejected = read_query(REJECTED["unknown-key"][0], CLIENT)
    assert isinstance(rejected, Rejected)
    with pytest.raises(dns.tsig.PeerBadKey):
        dns.message.from_wire(
            write_rejection(rejected), keyring={dns.name.from_text("bad."): dns.tsig.Key("bad.", b"")}
        )


def test_compression_keeps_the_questions_spelling() -> None:
    octets = message(body=b"\3WEB\7Cluster\5local\0\0\1\0\1")
    asked = query(octets)
    answer = data((RRset(asked.question.name, 5, (CNAME(name_of((b"x", b"cluster", b"local"))),)),), frozenset())
    response = dns.message.from_wire(write_response(asked, answer, 512))
    assert response.answer[0].name.to_text() == "WEB.Cluster.local."
    assert response.answer[0][0].to_text() == "x.cluster.local."


def test_names_point_into_the_question() -> None:
    asked = query(message(body=b"\5_http\4_tcp\3web\7cluster\5local\0\0\x21\0\1"))
    target = name_of(asked.question.name.labels[2:])
    srv = RRset(asked.question.name, 5, (SRV(0, 100, 80, target),))
    answer = data((srv,), frozenset(), (RRset(target, 5, addresses(1)), RRset(ZONE, 5, addresses(1))))
    written = write_response(asked, answer, 512)
    assert len(written) == asked.octets + (12 + 6 + target.octets()) + (12 + 4) + (12 + 4)
    response = dns.message.from_wire(written)
    assert [rrset.name.to_text() for rrset in response.additional] == ["web.cluster.local.", "cluster.local."]


def test_the_root_is_never_pointed_to() -> None:
    asked = query(message(body=b"\0\0\1\0\1"))
    written = write_response(asked, data((RRset(ROOT, 5, addresses(1)),), frozenset()), 512)
    assert len(written) == asked.octets + 11 + 4
    assert dns.message.from_wire(written).answer[0].name.to_text() == "."
