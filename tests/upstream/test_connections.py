"""Kept connections to upstreams, over TCP and TLS: shared, closed under us, stuck, garbage."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress

import dns.message
import pytest

from kubedns.dns.names import parse_name
from kubedns.dns.question import Question
from kubedns.dns.rdata import RecordType
from kubedns.dns.reply import Reply, question_octets
from kubedns.upstream.exchange import Asked, UpstreamAddress, UpstreamError
from kubedns.upstream.pool import Pool, PoolLimits
from tests.support.certificates import client_context, server_context
from tests.support.process import free_port
from tests.upstream.fakes import FakeUpstream, Script, reply

A = "{} 300 IN A 192.0.2.1"


def asked(name: str = "www.test.") -> Asked:
    return Asked(question_octets(Question(parse_name(name), RecordType.A)))


def good(query: dns.message.Message, transport: str) -> Iterable[bytes]:
    return [reply(query, A.format(query.question[0].name))]


def owner(found: Reply) -> str:
    return str(found.answer[0].owner)


class Took:
    def __init__(self) -> None:
        self.kept: list[bool] = []

    def __call__(self, kept: bool) -> None:
        self.kept.append(kept)


Act = Callable[[FakeUpstream, Pool, Took], Awaitable[None]]


def with_pool(act: Act, script: Script = good, keeps: bool = True, limits: PoolLimits | None = None) -> None:
    async def run() -> None:
        fake = FakeUpstream(script, keeps)
        await fake.start()
        took = Took()
        pool = Pool(fake.address, None, limits or PoolLimits(), took)
        try:
            async with asyncio.timeout(20):
                await act(fake, pool, took)
        finally:
            pool.close()
            await fake.stop()

    asyncio.run(run())


async def until(holds: Callable[[], bool]) -> None:
    while not holds():
        await asyncio.sleep(0.01)


def test_one_connection_serves_many_questions() -> None:
    async def act(fake: FakeUpstream, pool: Pool, took: Took) -> None:
        for _ in range(3):
            await pool.ask(asked())
        assert fake.accepted == 1
        assert took.kept == [False, True, True]

    with_pool(act)


def test_questions_at_once_share_a_connection_and_take_replies_in_any_order() -> None:
    held: list[bytes] = []

    def backwards(query: dns.message.Message, transport: str) -> Iterable[bytes]:
        held.insert(0, reply(query, A.format(query.question[0].name)))
        return held if len(held) == 3 else []

    async def act(fake: FakeUpstream, pool: Pool, took: Took) -> None:
        names = ["a.test.", "b.test.", "c.test."]
        found = await asyncio.gather(*(pool.ask(asked(name)) for name in names))
        assert [owner(each) for each in found] == names
        assert fake.accepted == 1

    with_pool(act, backwards)


def test_a_server_that_closes_after_each_reply_answers_all_the_same() -> None:
    async def act(fake: FakeUpstream, pool: Pool, took: Took) -> None:
        names = [f"{each}.test." for each in "abcdef"]
        for name in names:
            assert owner(await pool.ask(asked(name))) == name
        found = await asyncio.gather(*(pool.ask(asked(name)) for name in names))
        assert [owner(each) for each in found] == names

    with_pool(act, keeps=False)


def test_a_connection_that_was_closed_meanwhile_costs_no_question() -> None:
    async def act(fake: FakeUpstream, pool: Pool, took: Took) -> None:
        await pool.ask(asked())
        fake.cut()
        await pool.ask(asked())
        assert fake.accepted == 2

    with_pool(act)


def test_a_busy_connection_gets_company_up_to_a_limit() -> None:
    waiting: list[dns.message.Message] = []

    def slow(query: dns.message.Message, transport: str) -> Iterable[bytes]:
        waiting.append(query)
        return []

    async def act(fake: FakeUpstream, pool: Pool, took: Took) -> None:
        tasks = []
        for count in range(6):
            tasks.append(asyncio.create_task(pool.ask(asked())))
            await until(lambda count=count: len(waiting) > count)  # type: ignore[misc]
        assert fake.accepted == 2
        for task in tasks:
            task.cancel()

    with_pool(act, slow, limits=PoolLimits(connections=2, under_way=2))


def test_nothing_more_is_asked_where_a_question_was_given_up() -> None:
    quiet = True

    def script(query: dns.message.Message, transport: str) -> Iterable[bytes]:
        return [] if quiet else good(query, transport)

    async def act(fake: FakeUpstream, pool: Pool, took: Took) -> None:
        nonlocal quiet
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(pool.ask(asked()), 0.1)
        quiet = False
        await pool.ask(asked())
        assert fake.accepted == 2

    with_pool(act, script)


def test_an_unused_connection_ends() -> None:
    async def act(fake: FakeUpstream, pool: Pool, took: Took) -> None:
        await pool.ask(asked())
        await until(lambda: not fake._open)
        await pool.ask(asked())
        assert fake.accepted == 2

    with_pool(act, limits=PoolLimits(idle_seconds=0.05))


def test_what_is_no_reply_is_an_error_or_waited_past() -> None:
    def other_question(query: dns.message.Message, transport: str) -> Iterable[bytes]:
        return [reply(dns.message.make_query("other.test.", "A", id=query.id), "other.test. 300 IN A 6.6.6.6")]

    def junk_first(query: dns.message.Message, transport: str) -> Iterable[bytes]:
        return [b"", b"\0", bytes((query.id >> 8 ^ 1, query.id & 0xFF)) + reply(query)[2:], *good(query, transport)]

    async def fails(fake: FakeUpstream, pool: Pool, took: Took) -> None:
        with pytest.raises(UpstreamError, match="not to what was asked"):
            await pool.ask(asked())

    async def works(fake: FakeUpstream, pool: Pool, took: Took) -> None:
        assert owner(await pool.ask(asked())) == "www.test."

    with_pool(fails, other_question)
    with_pool(works, junk_first)


def test_a_question_under_way_outlives_the_end_of_the_connections() -> None:
    quiet = True

    def script(query: dns.message.Message, transport: str) -> Iterable[bytes]:
        return [] if quiet else good(query, transport)

    async def opening(fake: FakeUpstream, pool: Pool, took: Took) -> None:
        found = asyncio.create_task(pool.ask(asked()))
        await until(lambda: pool._opening is not None)
        pool.close()
        assert owner(await found) == "www.test."

    async def waiting(fake: FakeUpstream, pool: Pool, took: Took) -> None:
        nonlocal quiet
        found = asyncio.create_task(pool.ask(asked()))
        await until(lambda: len(fake.asked) == 1)
        quiet = False
        pool.close()
        assert owner(await found) == "www.test."
        await until(lambda: not fake._open)

    with_pool(opening)
    with_pool(waiting, script, limits=PoolLimits(idle_seconds=0.05))


def test_a_connection_that_nobody_waits_for_any_more_ends() -> None:
    async def act(fake: FakeUpstream, pool: Pool, took: Took) -> None:
        found = asyncio.create_task(pool.ask(asked()))
        await until(lambda: pool._opening is not None)
        found.cancel()
        await until(lambda: fake.accepted == 1)
        await until(lambda: not fake._open)

    with_pool(act, limits=PoolLimits(idle_seconds=0.05))


def test_where_each_question_takes_a_connection_they_are_no_more_than_the_limit() -> None:
    most = 0

    async def act(fake: FakeUpstream, pool: Pool, took: Took) -> None:
        async def watch() -> None:
            nonlocal most
            while True:
                most = max(most, len(fake._open))
                await asyncio.sleep(0)

        for _ in range(2):
            # Of two at once, the second finds the connection closed.
            await asyncio.gather(pool.ask(asked()), pool.ask(asked()))
        watching = asyncio.create_task(watch())
        found = await asyncio.gather(*(pool.ask(asked(f"n{number}.test.")) for number in range(40)))
        watching.cancel()
        assert len(found) == 40
        assert most <= 3

    with_pool(act, keeps=False, limits=PoolLimits(connections=3))


ENDS = [
    ("nothing", b""),
    ("half a length", b"\0"),
    ("half a message", b"\0\x40" + bytes(20)),
]


@pytest.mark.parametrize("sent", [row[1] for row in ENDS], ids=[row[0] for row in ENDS])
def test_a_reply_that_is_cut_off_is_asked_for_anew_and_given_up(sent: bytes) -> None:
    async def run() -> None:
        accepted = 0

        async def cutting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal accepted
            accepted += 1
            await reader.read(100)
            writer.write(sent)
            writer.close()

        server = await asyncio.start_server(cutting, "127.0.0.1", 0)
        pool = Pool(UpstreamAddress("127.0.0.1", server.sockets[0].getsockname()[1]), None, PoolLimits(), Took())
        with pytest.raises(UpstreamError, match="the connection was closed"):
            await pool.ask(asked())
        assert accepted == 3
        pool.close()
        server.close()
        await asyncio.sleep(0)

    asyncio.run(run())


def test_a_cut_handshake_is_an_error_with_words() -> None:
    async def run() -> None:
        async def cutting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.transport.abort()

        server = await asyncio.start_server(cutting, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        pool = Pool(UpstreamAddress("127.0.0.1", port, True), client_context(), PoolLimits(), Took())
        with pytest.raises(UpstreamError, match=r":\d+: .*[a-z]"):
            await pool.ask(asked())
        server.close()
        await asyncio.sleep(0)

    asyncio.run(run())


def test_nobody_there_is_an_error() -> None:
    async def run() -> None:
        pool = Pool(UpstreamAddress("127.0.0.1", free_port()), None, PoolLimits(), Took())
        with pytest.raises(UpstreamError, match="Connect call failed"):
            await pool.ask(asked())

    asyncio.run(run())


TLS = [
    ("its address is in the certificate", ["127.0.0.1"], "", True, ""),
    ("its name is", ["dns.test"], "dns.test", True, ""),
    ("another name is", ["dns.test"], "other.test", True, "not trusted: Hostname mismatch"),
    ("no address is", ["dns.test"], "", True, "not trusted: IP address mismatch"),
    ("another authority", ["127.0.0.1"], "", False, "not trusted: unable to get local issuer"),
]


@pytest.mark.parametrize(
    ("names", "expected", "trusting", "fault"), [row[1:] for row in TLS], ids=[row[0] for row in TLS]
)
def test_certificates_are_checked(names: list[str], expected: str, trusting: bool, fault: str) -> None:
    async def run() -> None:
        fake = FakeUpstream(good, True, server_context(*names))
        await fake.start()
        address = UpstreamAddress(fake.address.host, fake.address.port, True, expected)
        pool = Pool(address, client_context(trusting), PoolLimits(), Took())
        try:
            if fault:
                with pytest.raises(UpstreamError, match=fault):
                    await pool.ask(asked())
            else:
                for _ in range(3):
                    assert owner(await pool.ask(asked())) == "www.test."
                assert fake.accepted == 1
        finally:
            pool.close()
            await fake.stop()
            await asyncio.sleep(0)

    asyncio.run(run())


def test_a_handshake_that_never_ends_is_given_up() -> None:
    async def run() -> None:
        ended = asyncio.Event()

        async def stuck(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with suppress(ConnectionError):
                await reader.read()
            writer.transport.abort()
            ended.set()

        server = await asyncio.start_server(stuck, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        pool = Pool(UpstreamAddress("127.0.0.1", port, True), client_context(), PoolLimits(), Took())
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(pool.ask(asked()), 0.2)
        pool.close()
        async with asyncio.timeout(20):
            await ended.wait()
        server.close()
        await asyncio.sleep(0)

    asyncio.run(run())


def test_a_handshake_that_fails_when_nobody_waits_says_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async def run() -> None:
        accepted, given_up = asyncio.Event(), asyncio.Event()

        async def cutting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            accepted.set()
            await given_up.wait()
            writer.transport.abort()

        server = await asyncio.start_server(cutting, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        pool = Pool(UpstreamAddress("127.0.0.1", port, True), client_context(), PoolLimits(), Took())
        asking = asyncio.create_task(pool.ask(asked()))
        await accepted.wait()
        asking.cancel()
        await asyncio.sleep(0)
        given_up.set()
        await until(lambda: pool._opening is not None and pool._opening.done())
        server.close()
        await asyncio.sleep(0)

    asyncio.run(run())
    gc.collect()
    assert not caplog.text
