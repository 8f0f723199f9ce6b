from __future__ import annotations

import asyncio
import gc
import logging
import resource
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager

import pytest

from kubedns.dns.question import Client, Transport
from kubedns.observe.metrics import TransportMetrics
from kubedns.transport import admission, tcp
from kubedns.transport.framing import framed
from kubedns.transport.limits import Manner, TcpLimits
from kubedns.transport.tcp import TcpListener
from tests.transport.fakes import FakeResponder, TcpClient, metrics, on_free_port, run, until

PATIENT = TcpLimits(idle=600, message=600, unread=600)


class Scene:
    """A listener with what it answers by and what it counts."""

    def __init__(self, host: str, limits: TcpLimits) -> None:
        self.responder = FakeResponder()
        self.responder.keep(b"kept", b"answer")
        self.metrics: TransportMetrics = metrics()
        self.listener = on_free_port(host, lambda each: TcpListener(each, self.responder, self.metrics, Manner(limits)))

    def client(self, host: str = "127.0.0.1", source: str = "", room: int = 0) -> TcpClient:
        return TcpClient(host, self.listener.address.port, source, room)

    @property
    def connections(self) -> int:
        return len(self.listener._admission)


@asynccontextmanager
async def listening(limits: TcpLimits = PATIENT, host: str = "127.0.0.1") -> AsyncIterator[Scene]:
    scene = Scene(host, limits)
    await scene.listener.start()
    try:
        yield scene
    finally:
        scene.listener.close()
        await until(lambda: not scene.connections)


@pytest.mark.parametrize(
    ("bound", "asked"),
    [("127.0.0.1", "127.0.0.1"), ("::1", "::1"), ("0.0.0.0", "127.0.0.2"), ("::", "::1")],
)
def test_every_kind_of_message_gets_its_reaction(bound: str, asked: str) -> None:
    async def play() -> None:
        async with listening(host=bound) as scene:
            with scene.client(asked) as client:
                assert await client.ask(b"01kept") == b"01answer"
                assert await client.ask(b"02made") == b"02R:made"
                assert await client.ask(b"03nap") == b"03R:nap"
                assert await client.ask(b"04big") == b"04" + bytes(60_000)
                assert await client.ask(b"05huge") == b"05" + bytes(65_533)
                assert await client.ask(b"06kept") == b"06answer"
            assert scene.responder.hits == 2
            assert scene.responder.ticks

    run(play)


def test_a_client_is_told_with_its_port() -> None:
    async def play() -> None:
        async with listening() as scene:
            with scene.client(source="127.0.0.9") as client:
                await client.ask(b"01made")
                port = client._socket.getsockname()[1]
            assert scene.responder.clients == [Client(b"\x7f\0\0\x09", "127.0.0.9", port, Transport.TCP, "127.0.0.1")]

    run(play)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_queries_come_in_whatever_pieces(size: int) -> None:
    async def play() -> None:
        async with listening() as scene:
            with scene.client() as client:
                octets = framed(b"01kept") + framed(b"02made") + framed(b"03nap") + framed(b"04kept") + b"\0"
                for at in range(0, len(octets), size):
                    await client.send_octets(octets[at : at + size])
                    await asyncio.sleep(0)
                expected = {b"01answer", b"02R:made", b"03R:nap", b"04answer"}
                assert await client.receive_set(4) == expected

    run(play)


def test_a_slow_query_holds_up_nobody_and_is_asked_once() -> None:
    async def play() -> None:
        async with listening() as scene:
            with scene.client() as client:
                await client.send(b"01slow", b"02kept", b"03made", b"04nap", b"05slow")
                assert await client.receive_set(3) == {b"02answer", b"03R:made", b"04R:nap"}
                assert await client.ask(b"06made") == b"06R:made"
                scene.responder.release.set()
                assert await client.receive_set(2) == {b"01R:slow", b"05R:slow"}
            assert len(scene.responder.resolved) == 5

    run(play)


def test_thousands_of_queries_in_one_go_are_all_answered() -> None:
    async def play() -> None:
        async with listening() as scene:
            with scene.client() as client:
                kinds = (b"kept", b"made", b"nap")
                await client.send(*(number.to_bytes(2) + kinds[number % 3] for number in range(5000)))
                ids = [response[:2] for response in await client.receive_set(5000) if response]
                assert len(set(ids)) == 5000

    run(play)


@pytest.mark.parametrize("last", [b"", b"06silent", b"06nap silent", b"06panic", b"06nap panic", b"06broken"])
def test_what_gets_no_answer_ends_the_connection_and_no_other(last: bytes) -> None:
    async def play() -> None:
        async with listening() as scene:
            scene.responder.keep(b"broken")
            with scene.client() as other, scene.client() as client:
                await client.send(b"01made", last)
                assert await client.receive() == b"01R:made"
                assert await client.receive() is None
                assert await other.ask(b"02made") == b"02R:made"
            assert scene.metrics.panics == (last.endswith((b"panic", b"broken")))

    run(play)


def test_errors_are_logged_once_of_a_kind(caplog: pytest.LogCaptureFixture) -> None:
    async def play() -> None:
        async with listening() as scene:
            for _ in range(3):
                with scene.client() as client:
                    assert await client.ask(b"01panic") is None

    with caplog.at_level(logging.ERROR):
        run(play)
    assert len(caplog.records) == 1


@pytest.mark.parametrize("kind", [b"kept", b"made", b"nap", b"slow"])
def test_who_sends_no_more_is_still_answered(kind: bytes) -> None:
    async def play() -> None:
        async with listening() as scene:
            with scene.client() as client:
                count = 500  # more than may be in flight, and more than one turn takes
                await client.send(*(number.to_bytes(2) + kind for number in range(count)))
                await client.send_octets(b"\0\x09half")
                client.finish()
                if kind == b"slow":
                    await until(lambda: len(scene.responder.resolved) == PATIENT.in_flight)
                    scene.responder.release.set()
                assert len(await client.receive_set(count)) == count
                assert await client.receive() is None

    run(play)


@pytest.mark.parametrize("octets", [b"", b"\0", b"\0\x09", b"\0\x09half"])
def test_who_goes_away_in_the_middle_leaves_nothing(octets: bytes) -> None:
    async def play() -> None:
        async with listening() as scene:
            with scene.client() as client:
                await client.send_octets(octets)
                await until(lambda: scene.connections == 1)
                client.finish()
                assert await client.receive() is None
            gone = scene.client()
            await gone.send_octets(octets)
            gone.reset()
            await until(lambda: not scene.connections)
            assert scene.metrics == metrics()

    run(play)


def test_who_goes_away_with_queries_in_flight_has_them_cancelled() -> None:
    async def play() -> None:
        async with listening() as scene:
            client = scene.client()
            await client.send(b"01slow", b"02slow")
            await until(lambda: len(scene.responder.resolved) == 2)
            client.reset()
            await until(lambda: not scene.connections)
            await until(lambda: not scene.listener._shared.driver.suspended)

    run(play)


def test_connections_that_are_gone_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "_COLLECT_AFTER", 10)

    async def play() -> None:
        async with listening() as scene:
            for _ in range(60):
                with scene.client() as client:
                    assert await client.ask(b"01made") == b"01R:made"
            await until(lambda: not scene.connections)
            assert sum(isinstance(each, asyncio.Transport) for each in gc.get_objects()) <= 10

    gc.collect()
    gc.disable()  # as good as it is in a server that has much to remember
    try:
        run(play)
    finally:
        gc.enable()


def test_only_so_many_are_in_flight_of_one_connection() -> None:
    async def play() -> None:
        async with listening(TcpLimits(idle=600, message=600, in_flight=4)) as scene:
            with scene.client() as client, scene.client() as other:
                await client.send(*(number.to_bytes(2) + b"slow" for number in range(10)))
                await client.send(b"ZZmade")
                await until(lambda: len(scene.responder.resolved) == 4)
                assert await other.ask(b"01made") == b"01R:made"
                assert len(scene.responder.resolved) == 5
                scene.responder.release.set()
                assert len(await client.receive_set(11)) == 11

    run(play)


def test_who_does_not_read_is_read_no_further_then_closed_and_holds_nobody_up() -> None:
    async def play() -> None:
        async with listening(TcpLimits(idle=600, message=600, unread=0.3)) as scene:
            with scene.client(room=4096) as client, scene.client() as other:
                await client.send(*(number.to_bytes(2) + b"big" for number in range(200)))
                await until(lambda: scene.responder.resolved != [])
                assert await other.ask(b"01made") == b"01R:made"
                await until(lambda: scene.metrics.closed == {"unread": 1})
                await until(lambda: scene.connections == 1)
                assert len(scene.responder.resolved) < 150

    run(play)


def test_who_reads_late_gets_all() -> None:
    async def play() -> None:
        async with listening() as scene:
            with scene.client(room=4096) as client:
                await client.send(*(number.to_bytes(2) + b"big" for number in range(100)))
                await asyncio.sleep(0.05)
                assert len(scene.responder.resolved) < 100
                assert len(await client.receive_set(100)) == 100

    run(play)


BIG = bytes(60_000)


def test_many_messages_come_in_order_while_others_are_answered() -> None:
    async def play() -> None:
        async with listening() as scene:
            sent = [b"1" + BIG, b"", *[b"%d" % at for at in range(500)], b"", BIG]
            scene.responder.stream = iter(sent)
            with scene.client(room=4096) as client, scene.client() as other:
                await client.send(b"01many", b"02made")
                assert await other.ask(b"03made") == b"03R:made"
                got = [await client.receive() for _ in range(sum(map(bool, sent)) + 1)]
            assert b"02R:made" in got
            assert [each for each in got if each != b"02R:made"] == [b"01" + each for each in sent if each]

    run(play)


def test_work_without_a_message_gives_others_their_turn() -> None:
    async def play() -> None:
        async with listening() as scene:
            scene.responder.stream = iter(lambda: b"", None)
            with scene.client() as client, scene.client() as other:
                await client.send(b"01many")
                assert await client.ask(b"02made") == b"02R:made"
                assert await other.ask(b"03made") == b"03R:made"

    run(play)


def test_many_messages_are_made_no_faster_than_they_are_taken_and_who_takes_none_is_closed() -> None:
    made = []

    def making() -> Iterator[bytes]:
        while True:
            made.append(1)
            yield BIG

    async def play() -> None:
        async with listening(TcpLimits(idle=0.1, message=600, unread=0.5)) as scene:
            scene.responder.stream = making()
            with scene.client(room=4096) as client:
                await client.send(b"01many")
                await until(lambda: made != [])
                await until(lambda: not scene.connections)
            assert scene.metrics.closed == {"unread": 1}
            assert len(made) < 20

    run(play)


def test_who_takes_too_long_over_many_messages_is_closed() -> None:
    async def play() -> None:
        async with listening(TcpLimits(transfer=0.3)) as scene:
            scene.responder.stream = iter(lambda: b"x", None)
            with scene.client() as client:
                await client.send(b"01many")
                while await client.receive() is not None:
                    pass
            assert scene.metrics.closed == {"transfer": 1}

    run(play)


def test_many_messages_that_break_off_end_the_connection(caplog: pytest.LogCaptureFixture) -> None:
    async def play() -> None:
        async with listening() as scene:
            scene.responder.stream = iter([b"x", None])
            with scene.client() as client:
                assert await client.ask(b"01many") == b"01x"
                assert await client.receive() is None
            assert scene.metrics.panics == 1

    run(play)
    assert len(caplog.records) == 1


def test_of_many_messages_nobody_makes_more_once_the_client_is_gone() -> None:
    made: set[int] = set()

    def making() -> Iterator[bytes]:
        try:
            while True:
                yield BIG
        finally:
            made.add(1)

    async def play() -> None:
        async with listening() as scene:
            scene.responder.stream = making()
            client = scene.client(room=4096)
            await client.send(b"01many")
            await client.receive()
            scene.responder.stream = iter(())
            client.reset()
            await until(lambda: made == {1})
            await until(lambda: not scene.connections)

    run(play)


def test_who_neither_asks_nor_reads_is_closed() -> None:
    async def play() -> None:
        async with listening(TcpLimits(idle=0.1, unread=0.3)) as scene:
            with scene.client(room=4096) as client:
                # Little enough that the listener is not held up: it becomes idle, and cannot be closed in good order.
                await client.send(*(number.to_bytes(2) + b"big" for number in range(2)))
                await until(lambda: not scene.connections)

    run(play)


@pytest.mark.parametrize(
    ("octets", "limit"), [(b"", "message"), (b"\0", "message"), (b"\0\x09half", "message"), (framed(b"01made"), "idle")]
)
def test_who_is_silent_is_closed(octets: bytes, limit: str) -> None:
    async def play() -> None:
        async with listening(TcpLimits(idle=0.2, message=0.1)) as scene:
            with scene.client() as client:
                await client.send_octets(octets)
                if limit == "idle":
                    assert await client.receive() == b"01R:made"
                assert await client.receive() is None
            assert scene.metrics.closed == {limit: 1}

    run(play)


def test_a_message_in_drops_is_closed_however_it_drips() -> None:
    async def play() -> None:
        async with listening(TcpLimits(message=0.1)) as scene:
            with scene.client() as client:
                assert await client.ask(b"01made") == b"01R:made"
                with pytest.raises(ConnectionError):  # the listener closes, and refuses what comes then
                    await client.drip()
            assert scene.metrics.closed == {"message": 1}

    run(play)


def test_a_message_under_way_is_not_idle() -> None:
    async def play() -> None:
        async with listening(TcpLimits(idle=0.1)) as scene:
            with scene.client() as client:
                for octet in framed(b"01" + b"drip" * 10):
                    await client.send_octets(bytes((octet,)))
                    await asyncio.sleep(0.02)
                assert await client.receive() == b"01R:" + b"drip" * 10
                assert await client.receive() is None
            assert scene.metrics.closed == {"idle": 1}

    run(play)


def test_a_query_in_flight_is_not_idle() -> None:
    async def play() -> None:
        async with listening(TcpLimits(idle=0.1, message=0.1)) as scene:
            with scene.client() as client, scene.client() as idle:
                await client.send(b"01slow")
                assert await idle.ask(b"02made") == b"02R:made"
                assert await idle.receive() is None
                scene.responder.release.set()
                assert await client.receive() == b"01R:slow"

    run(play)


def test_of_too_many_connections_the_one_goes_that_was_idle_longest() -> None:
    async def play() -> None:
        limits = TcpLimits(connections=3, idle=600, message=600)
        async with listening(limits) as scene:
            with scene.client() as busy, scene.client() as idle, scene.client() as fresh:
                await busy.send(b"01slow")
                assert await idle.ask(b"02made") == b"02R:made"
                assert await fresh.ask(b"03made") == b"03R:made"
                with scene.client(source="127.0.0.2") as further:
                    assert await further.ask(b"04made") == b"04R:made"
                    assert await idle.receive() is None
                    assert await fresh.ask(b"05made") == b"05R:made"
                    scene.responder.release.set()
                    assert await busy.receive() == b"01R:slow"
            assert scene.metrics.closed == {"connections": 1}

    run(play)


def test_where_all_are_busy_a_further_one_is_refused() -> None:
    async def play() -> None:
        async with listening(TcpLimits(connections=2, idle=600, message=600)) as scene:
            with scene.client() as first, scene.client() as second:
                await first.send(b"01slow")
                await second.send(b"02slow")
                await until(lambda: len(scene.responder.resolved) == 2)
                with scene.client() as third:
                    assert await third.receive() is None
                scene.responder.release.set()
                assert await first.receive() == b"01R:slow"
            assert scene.metrics.refused == 1

    run(play)


def test_one_client_cannot_have_all_connections() -> None:
    async def play() -> None:
        limits = TcpLimits(connections=10, connections_per_client=3, idle=600, message=600)
        async with listening(limits) as scene:
            with ExitStack() as stack:
                other = stack.enter_context(scene.client(source="127.0.0.2"))
                assert await other.ask(b"01made") == b"01R:made"
                for _ in range(20):
                    greedy = stack.enter_context(scene.client())
                    assert await greedy.ask(b"02made") == b"02R:made"
                assert scene.metrics.closed == {"connections_per_client": 17}
                await until(lambda: scene.connections == 4)
                assert await other.ask(b"03made") == b"03R:made"
            await until(lambda: not scene.connections)
            assert not scene.listener._admission._per_client

    run(play)


def test_a_thousand_that_drip_keep_nobody_out() -> None:
    async def play() -> None:
        async with listening(TcpLimits(connections=100, connections_per_client=20, idle=600, message=600)) as scene:
            with ExitStack() as stack:
                for number in range(200):
                    client = stack.enter_context(scene.client(source=f"127.0.1.{number % 20 + 1}"))
                    await client.send_octets(b"\0")
                with scene.client() as honest:
                    assert await honest.ask(b"01made") == b"01R:made"
                assert scene.connections <= 100

    run(play)


@contextmanager
def no_more_files() -> Iterator[None]:
    """Let the process open no further file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with socket.socket() as highest:
        resource.setrlimit(resource.RLIMIT_NOFILE, (highest.fileno(), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_without_file_descriptors_connections_wait(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tcp, "_BACK_OFF_SECONDS", 0.01)

    async def play() -> None:
        async with listening() as scene:
            with scene.client() as early:
                assert await early.ask(b"01made") == b"01R:made"
                with scene.client() as late:
                    with no_more_files():
                        await until(lambda: scene.metrics.errors.get("EMFILE", 0) > 3)
                        assert await early.ask(b"02made") == b"02R:made"
                    assert await late.ask(b"03made") == b"03R:made"

    with caplog.at_level(logging.ERROR):
        run(play)
    assert [record.name for record in caplog.records] == ["kubedns.transport.tcp"]


def test_a_stop_answers_what_has_come_and_closes_in_good_order() -> None:
    async def play() -> None:
        async with listening() as scene:
            with scene.client() as busy, scene.client() as idle, scene.client() as waiting:
                await busy.send(b"01slow")
                assert await idle.ask(b"02made") == b"02R:made"
                await until(lambda: len(scene.responder.resolved) == 2)
                await waiting.send(b"03made")  # the listener has not read it yet
                with scene.client() as last:  # nor has it seen this one
                    await last.send(b"04made")
                    stopping = asyncio.ensure_future(scene.listener.stop())
                    assert await last.receive() == b"04R:made"
                    assert await last.receive() is None
                assert await waiting.receive() == b"03R:made"
                assert await waiting.receive() is None
                assert await idle.receive() is None
                assert not stopping.done()
                scene.responder.release.set()
                assert await busy.receive() == b"01R:slow"
                assert await busy.receive() is None
                await stopping
                with pytest.raises(ConnectionRefusedError):
                    scene.client()

    run(play)


def test_a_stop_waits_for_the_first_query_of_a_connection_and_for_no_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tcp, "_FIRST_WAIT_SECONDS", 60)

    async def play() -> None:
        async with listening() as scene:
            with scene.client() as new:
                with scene.client():
                    stopping = asyncio.ensure_future(scene.listener.stop())
                    await until(lambda: scene.connections == 2)
                    assert await new.ask(b"01made") == b"01R:made"
                    assert await new.receive() is None
                await stopping

    run(play)


def test_a_stop_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tcp, "_FIRST_WAIT_SECONDS", 0.05)
    monkeypatch.setattr(tcp, "_LAST_WAIT_SECONDS", 0.05)

    async def play() -> None:
        async with listening() as scene:
            with scene.client() as client, scene.client() as silent:
                await client.send(b"01slow")
                await until(lambda: scene.responder.resolved == [b"01slow"])
                await scene.listener.stop()
                assert await client.receive() is None
                assert await silent.receive() is None
            await scene.listener.stop()

    run(play)


def test_a_listener_that_was_never_started_can_be_stopped() -> None:
    async def play() -> None:
        scene = Scene("127.0.0.1", PATIENT)
        await scene.listener.stop()
        scene.listener.close()

    run(play)
