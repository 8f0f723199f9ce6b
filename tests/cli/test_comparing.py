"""Two servers are asked the same, whatever the network does."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable

import dns.message
import pytest

from kubedns.cli.comparing import Respondent, compare
from kubedns.cli.comparison import Difference, Part
from kubedns.dns.names import parse_name
from kubedns.dns.question import Question
from kubedns.dns.rdata import RecordType
from kubedns.errors import UnreachableError
from kubedns.upstream.exchange import UpstreamAddress
from tests.support.process import free_port
from tests.upstream.fakes import FakeUpstream, Script, reply, truncated

QUESTIONS = [Question(parse_name(f"n{number}.test."), RecordType.A) for number in range(600)]
PATIENT, HASTY = 20.0, 0.05


def name_of(query: dns.message.Message) -> str:
    return query.question[0].name.to_text()


def plain(query: dns.message.Message, transport: str) -> Iterable[bytes]:
    return [reply(query, f"{name_of(query)} 5 IN A 10.0.0.1")]


def compared(
    old: Script, new: Script, questions: list[Question] = QUESTIONS, seconds: float = PATIENT
) -> tuple[list[Difference], list[FakeUpstream]]:
    """What differs between servers that do as the scripts say, and the servers."""

    async def run() -> tuple[list[Difference], list[FakeUpstream]]:
        servers = [FakeUpstream(script, keeps=True) for script in (old, new)]
        for server in servers:
            await server.start()
        try:
            first, second = (Respondent(server.address, seconds) for server in servers)
            return await compare(questions, first, second), servers
        finally:
            for server in servers:
                await server.stop()

    return asyncio.run(run())


def test_the_same_answers_are_no_difference_and_each_is_asked_for_once() -> None:
    found, servers = compared(plain, plain)
    assert found == []
    assert [server.asked for server in servers] == [["udp"] * len(QUESTIONS)] * 2


def test_differences_come_in_the_order_of_the_questions() -> None:
    asked: Counter[str] = Counter()

    def odd(query: dns.message.Message, transport: str) -> Iterable[bytes]:
        asked[name_of(query)] += 1
        if name_of(query) == "n1.test." and asked["n1.test."] == 1:
            return []  # so that it comes last
        is_odd = int(name_of(query).partition(".")[0][1:]) % 2
        return [reply(query, rcode="NXDOMAIN")] if is_odd else plain(query, transport)

    found, _ = compared(plain, odd, seconds=1.0)
    assert [each.question for each in found] == QUESTIONS[1::2]
    assert {each.parts for each in found} == {(Part.RCODE, Part.ANSWER)}


def test_what_has_changed_meanwhile_is_no_difference() -> None:
    asked: Counter[str] = Counter()

    def late(query: dns.message.Message, transport: str) -> Iterable[bytes]:
        asked[name_of(query)] += 1
        return plain(query, transport) if asked[name_of(query)] > 1 else [reply(query)]

    assert compared(late, plain, QUESTIONS[:20])[0] == []


@pytest.mark.parametrize("lost", [1, 2])
def test_lost_datagrams_are_asked_for_again(lost: int) -> None:
    asked: Counter[str] = Counter()

    def losing(query: dns.message.Message, transport: str) -> Iterable[bytes]:
        asked[name_of(query)] += 1
        return [] if name_of(query) == "n1.test." and asked["n1.test."] <= lost else plain(query, transport)

    assert compared(losing, plain, QUESTIONS[:2], seconds=1.0)[0] == []
    assert asked["n1.test."] == lost + 1


def test_what_is_cut_off_is_asked_for_over_tcp() -> None:
    def long(query: dns.message.Message, transport: str) -> Iterable[bytes]:
        return [truncated(query)] if transport == "udp" else plain(query, transport)

    found, (old, _) = compared(long, plain, QUESTIONS[:20])
    assert found == []
    assert sorted(old.asked) == ["tcp"] * 20 + ["udp"] * 20


def test_a_question_without_a_reply_is_a_difference() -> None:
    def silent(query: dns.message.Message, transport: str) -> Iterable[bytes]:
        return [] if name_of(query) == "n1.test." else plain(query, transport)

    (found,), _ = compared(silent, plain, QUESTIONS[:3], seconds=1.0)
    assert (found.question, found.old, found.parts) == (QUESTIONS[1], None, (Part.RESPONSE,))
    assert found.new is not None


@pytest.mark.parametrize("is_first", [True, False])
def test_a_server_that_never_replies_ends_it(is_first: bool) -> None:
    def nothing(query: dns.message.Message, transport: str) -> Iterable[bytes]:
        return []

    with pytest.raises(UnreachableError, match=r"no reply within 0\.1 s; is a DNS server running there\?"):
        compared(*(nothing, plain) if is_first else (plain, nothing), seconds=HASTY)


def test_a_server_that_has_gone_ends_it() -> None:
    left = len(QUESTIONS) // 4

    def going(query: dns.message.Message, transport: str) -> Iterable[bytes]:
        nonlocal left
        left -= 1
        return plain(query, transport) if left > 0 else []

    with pytest.raises(UnreachableError, match="no reply within"):
        compared(going, plain, seconds=HASTY)


def test_where_nothing_listens_is_told_at_once() -> None:
    async def run() -> None:
        nobody = UpstreamAddress("127.0.0.1", free_port())
        await compare(QUESTIONS, Respondent(nobody, PATIENT), Respondent(nobody, PATIENT))

    with pytest.raises(UnreachableError, match=r"^127\.0\.0\.1:\d+: connection refused; "):
        asyncio.run(run())
