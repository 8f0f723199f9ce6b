"""The forwarder and upstreams that are slow, lying, truncating, silent, broken."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Awaitable, Callable, Iterable

import dns.message
import dns.rrset
import pytest

from kubedns.dns.answer import Answer, Rcode
from kubedns.dns.edns import ErrorCode
from kubedns.dns.names import parse_name
from kubedns.dns.question import Client, Query, Question, Transport
from kubedns.dns.rdata import TYPE_NUMBERS
from kubedns.upstream.forwarder import Forwarder, Patience
from kubedns.upstream.health import HealthRules
from kubedns.upstream.policy import Order, Policy
from kubedns.upstream.upstream import Manner, Upstream
from tests.upstream.fakes import FakeUpstream, Script, error_without_question, reply, truncated

A = "www.test. 300 IN A 192.0.2.1"
SOA = "test. 60 IN SOA ns.test. host.test. 1 2 3 4 60"
SHORT = Patience(total=1.2, each=0.4)


def query(name: str = "www.test.", rdtype: str = "A") -> Query:
    client = Client(bytes(4), "0.0.0.0", 1, Transport.UDP)
    return Query(1, 0x0100, Question(parse_name(name), TYPE_NUMBERS[rdtype]), None, 40, client)


def good(asked: dns.message.Message, transport: str) -> Iterable[bytes]:
    return [reply(asked, A)]


def silent(asked: dns.message.Message, transport: str) -> Iterable[bytes]:
    return []


def saying(rcode: str) -> Script:
    return lambda asked, transport: [reply(asked, rcode=rcode, authority=SOA if rcode == "NXDOMAIN" else "")]


def after(*bad: Callable[[dns.message.Message], bytes], times: int = 1) -> Script:
    """Bad datagrams, then the good one."""

    def script(asked: dns.message.Message, transport: str) -> Iterable[bytes]:
        return [*([make(asked) for make in bad] * times if transport == "udp" else []), reply(asked, A)]

    return script


def wrong_id(asked: dns.message.Message) -> bytes:
    octets = reply(asked, "www.test. 300 IN A 6.6.6.6")
    return bytes((octets[0] ^ 1,)) + octets[1:]


def wrong_question(asked: dns.message.Message) -> bytes:
    other = dns.message.make_query("wwv.test.", "A", id=asked.id)
    return reply(other, "wwv.test. 300 IN A 6.6.6.6")


def no_reply(asked: dns.message.Message) -> bytes:
    return asked.to_wire()


def junk(asked: dns.message.Message) -> bytes:
    return b"\xff"


def cut(asked: dns.message.Message) -> bytes:
    return reply(asked, A)[:-2]


def truncating(asked: dns.message.Message, transport: str) -> Iterable[bytes]:
    return [reply(asked, A) if transport == "tcp" else truncated(asked)]


def always_truncating(asked: dns.message.Message, transport: str) -> Iterable[bytes]:
    made = bytearray(reply(asked, A))
    made[2] |= 0x02
    return [bytes(made)]


def truncating_then_cut(asked: dns.message.Message, transport: str) -> Iterable[bytes]:
    return [truncated(asked)] if transport == "udp" else []


def lying_over_tcp(asked: dns.message.Message, transport: str) -> Iterable[bytes]:
    return [truncated(asked) if transport == "udp" else wrong_question(asked)]


def bad_version(asked: dns.message.Message, transport: str) -> Iterable[bytes]:
    return [reply(asked, A) if asked.edns < 0 else reply(asked, rcode="BADVERS")]


def wrong_case(asked: dns.message.Message) -> bytes:
    other = dns.message.make_query("WWW.test.", "A", id=asked.id)
    return reply(other, "WWW.test. 300 IN A 6.6.6.6")


def referring(asked: dns.message.Message, transport: str) -> Iterable[bytes]:
    """To two hundred servers, of which none is to be asked for."""
    servers = [f"ns{number}.bank.test." for number in range(200)]
    made = dns.message.make_response(asked)
    made.authority.append(dns.rrset.from_text_list("test.", 60, "IN", "NS", servers))
    return [truncated(asked)] if transport == "udp" else [made.to_wire(max_size=65535)]


def without_edns(asked: dns.message.Message, transport: str) -> Iterable[bytes]:
    return [reply(asked, A) if asked.edns < 0 else error_without_question(asked, 1)]


CASES: dict[str, tuple[list[Script], str, list[str], list[list[str]]]] = {
    "good": ([good], "NOERROR", [A], [["udp"]]),
    "wrong ID first": ([after(wrong_id)], "NOERROR", [A], [["udp"]]),
    "wrong question first": ([after(wrong_question)], "NOERROR", [A], [["udp"]]),
    "the query back first": ([after(no_reply)], "NOERROR", [A], [["udp"]]),
    "junk and half a reply first": ([after(junk, cut, times=3)], "NOERROR", [A], [["udp"]]),
    "a flood of forged ones": ([after(wrong_id, times=40)], "NOERROR", [A], [["udp", "tcp"]]),
    "truncated": ([truncating], "NOERROR", [A], [["udp", "tcp"]]),
    "wrong case first": ([after(wrong_case)], "NOERROR", [A], [["udp"]]),
    "truncated over TCP too": ([always_truncating], "SERVFAIL", [], [["udp", "tcp"]]),
    "truncated over TCP too, then good": ([always_truncating, good], "NOERROR", [A], [["udp", "tcp"], ["udp"]]),
    "truncated, then cut off over TCP": (
        [truncating_then_cut, good],
        "NOERROR",
        [A],
        [["udp", "tcp", "tcp", "tcp"], ["udp"]],
    ),
    "truncated, then lying over TCP": ([lying_over_tcp, good], "NOERROR", [A], [["udp", "tcp"], ["udp"]]),
    "BADVERS": ([bad_version], "NOERROR", [A], [["udp", "udp"]]),
    "FORMERR, then good": ([saying("FORMERR"), good], "NOERROR", [A], [["udp", "udp"], ["udp"]]),
    "NOTIMP, then good": ([saying("NOTIMP"), good], "NOERROR", [A], [["udp", "udp"], ["udp"]]),
    "a referral is no answer": ([referring], "NOERROR", [], [["udp", "tcp"]]),
    "no EDNS": ([without_edns], "NOERROR", [A], [["udp", "udp"]]),
    "silent, then good": ([silent, good], "NOERROR", [A], [["udp"], ["udp"]]),
    "SERVFAIL, then good": ([saying("SERVFAIL"), good], "NOERROR", [A], [["udp"], ["udp"]]),
    "REFUSED, then good": ([saying("REFUSED"), good], "NOERROR", [A], [["udp"], ["udp"]]),
    "NXDOMAIN is an answer": ([saying("NXDOMAIN"), good], "NXDOMAIN", [], [["udp"], []]),
    "all refuse": ([saying("REFUSED"), saying("REFUSED")], "REFUSED", [], [["udp"], ["udp"]]),
    "all silent": ([silent, silent], "SERVFAIL", [], [["udp"], ["udp"]]),
    "one fails": ([saying("SERVFAIL")], "SERVFAIL", [], [["udp"]]),
}


Act = Callable[[Forwarder, list[FakeUpstream]], Awaitable[None]]


async def with_upstreams(scripts: list[Script], act: Act) -> None:
    fakes = [FakeUpstream(script) for script in scripts]
    for fake in fakes:
        await fake.start()
    upstreams = [Upstream(fake.address, Manner(HealthRules(max_fails=2, probe_seconds=0.02))) for fake in fakes]
    order = Order(Policy.SEQUENTIAL, lambda: 0.0)
    try:
        await act(Forwarder(upstreams, order, patience=SHORT), fakes)
    finally:
        for upstream in upstreams:
            upstream.close()
        for fake in fakes:
            await fake.stop()


@pytest.mark.parametrize("case", CASES)
def test_what_upstreams_do_and_what_clients_get(case: str) -> None:
    scripts, rcode, records, asked = CASES[case]

    async def act(forwarder: Forwarder, fakes: list[FakeUpstream]) -> None:
        answer = await forwarder.answer(query(), over_tcp=False)
        assert answer.rcode.name == rcode
        assert [line for rrset in answer.answer for line in rrset.lines()] == records
        assert [fake.asked for fake in fakes] == asked
        assert (answer.extended_error is None) is (rcode in ("NOERROR", "NXDOMAIN"))
        assert answer.lifetime_seconds == 0

    asyncio.run(with_upstreams(scripts, act))


@pytest.mark.parametrize(
    ("scripts", "code"),
    [
        ([silent], ErrorCode.NO_REACHABLE_AUTHORITY),
        ([saying("SERVFAIL")], ErrorCode.OTHER),
        ([saying("SERVFAIL"), silent], ErrorCode.OTHER),
    ],
    ids=["silent", "failing", "failing and silent"],
)
def test_it_is_told_whether_any_upstream_said_that_it_failed(scripts: list[Script], code: int) -> None:
    async def act(forwarder: Forwarder, fakes: list[FakeUpstream]) -> None:
        error = (await forwarder.answer(query(), over_tcp=False)).extended_error
        assert error is not None
        assert error.code == code

    asyncio.run(with_upstreams(scripts, act))


def test_equal_questions_share_one_query_each_in_its_own_spelling() -> None:
    async def act(forwarder: Forwarder, fakes: list[FakeUpstream]) -> None:
        names = ["www.test.", "WWW.test.", "www.TEST."] * 30
        answers = await asyncio.gather(*(forwarder.answer(query(name), over_tcp=False) for name in names))
        assert [str(answer.answer[0].owner) for answer in answers] == names
        assert fakes[0].asked == ["udp"]
        assert forwarder.under_way == 0

    asyncio.run(with_upstreams([good], act))


def test_one_who_gives_up_leaves_the_others_their_answer() -> None:
    async def act(forwarder: Forwarder, fakes: list[FakeUpstream]) -> None:
        first = asyncio.ensure_future(forwarder.answer(query(), over_tcp=False))
        second = asyncio.ensure_future(forwarder.answer(query(), over_tcp=False))
        await asyncio.sleep(0)
        first.cancel()
        assert (await second).rcode == Rcode.NOERROR

    asyncio.run(with_upstreams([good], act))


def test_an_upstream_that_is_down_comes_last_and_recovers_without_traffic() -> None:
    async def act(forwarder: Forwarder, fakes: list[FakeUpstream]) -> None:
        for name in ("a.test.", "b.test.", "c.test."):
            await forwarder.answer(query(name), over_tcp=False)
        assert forwarder.upstreams[0].is_down
        assert len(fakes[0].asked) == 2
        fakes[0].script = good
        while forwarder.upstreams[0].is_down:
            await asyncio.sleep(0.01)
        await forwarder.answer(query("d.test."), over_tcp=False)
        assert len(fakes[0].asked) == 3

    asyncio.run(asyncio.wait_for(with_upstreams([silent, good], act), 60))


def answer_to(name: str, rdtype: str, *records: str) -> Answer:
    answers: list[Answer] = []

    async def act(forwarder: Forwarder, fakes: list[FakeUpstream]) -> None:
        answers.append(await forwarder.answer(query(name, rdtype), over_tcp=True))

    asyncio.run(with_upstreams([lambda asked, transport: [reply(asked, *records, authority=SOA)]], act))
    return answers[0]


CHAIN = ("a.test. 9 IN CNAME b.test.", "b.test. 9 IN CNAME c.test.", "c.test. 9 IN A 192.0.2.9")
MX = "a.test. 9 IN MX \\# 15 000a046d61696c0161047465737400"
STRANGER = "bank.test. 9 IN A 6.6.6.6"
SCRUBBED = [
    ("a.test.", "A", [*CHAIN], [*CHAIN], 0),
    ("a.test.", "A", [STRANGER, *CHAIN[::-1]], [*CHAIN], 0),
    ("a.test.", "A", [*CHAIN[:2], STRANGER], [*CHAIN[:2]], 1),
    ("a.test.", "CNAME", [*CHAIN], [CHAIN[0]], 0),
    ("a.test.", "A", [STRANGER], [], 1),
    ("a.test.", "TXT", ['a.test. 4294967295 IN TXT "x" "y"'], ['a.test. 0 IN TXT "x" "y"'], 0),
    (
        "a.test.",
        "MX",
        ["a.test. 9 IN MX 10 mail.a.test."],
        [MX],
        0,
    ),
    ("_x._tcp.test.", "SRV", ["_x._tcp.test. 9 IN SRV 1 2 3 a.test."], ["_x._tcp.test. 9 IN SRV 1 2 3 a.test."], 0),
]


@pytest.mark.parametrize(("name", "rdtype", "records", "kept", "authority"), SCRUBBED)
def test_only_the_chain_from_the_question_is_believed(
    name: str, rdtype: str, records: list[str], kept: list[str], authority: int
) -> None:
    answer = answer_to(name, rdtype, *records)
    lines = [line for rrset in answer.answer for line in rrset.lines()]
    assert [line.replace(" ", "") for line in lines] == [line.replace(" ", "") for line in kept]
    assert len(answer.authority) == authority


def test_a_server_without_edns_is_asked_so_at_once_the_next_time() -> None:
    async def act(forwarder: Forwarder, fakes: list[FakeUpstream]) -> None:
        for name in ("www.test.", "WWW.test."):
            await forwarder.answer(query(name), over_tcp=False)
        assert fakes[0].edns == [0, -1, -1]

    asyncio.run(with_upstreams([without_edns], act))


def test_what_we_lack_ourselves_is_not_blamed_on_upstreams(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_socket(*_: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    async def act(forwarder: Forwarder, fakes: list[FakeUpstream]) -> None:
        with monkeypatch.context() as patched:
            patched.setattr("kubedns.upstream.datagrams.socket.socket", no_socket)
            for name in ("a.test.", "b.test.", "c.test."):
                answer = await forwarder.answer(query(name), over_tcp=False)
                assert answer.rcode == Rcode.SERVFAIL
                assert answer.extended_error is not None
                assert "Too many open files" in answer.extended_error.text
        assert not forwarder.upstreams[0].is_down

    asyncio.run(with_upstreams([good], act))


def test_what_fails_after_the_end_is_probed_no_more() -> None:
    async def act(forwarder: Forwarder, fakes: list[FakeUpstream]) -> None:
        (upstream,) = forwarder.upstreams
        found = asyncio.create_task(forwarder.answer(query(), over_tcp=False))
        while not fakes[0].asked:
            await asyncio.sleep(0)
        upstream.close()
        assert (await found).rcode == Rcode.SERVFAIL
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(with_upstreams([silent], act))
