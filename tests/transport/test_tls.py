"""Connections over TLS: the same messages, and clients that speak none, or stop half way."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from kubedns.observe.metrics import TransportMetrics
from kubedns.transport.framing import framed
from kubedns.transport.limits import Manner, TcpLimits
from kubedns.transport.tcp import TcpListener
from tests.support.certificates import client_context, server_context
from tests.transport.fakes import FakeResponder, metrics, on_free_port, run, until

PATIENT = TcpLimits(idle=600, message=600, unread=600)


class Scene:
    """A TLS listener with what it answers by and what it counts."""

    def __init__(self, limits: TcpLimits) -> None:
        self.responder = FakeResponder()
        self.responder.keep(b"kept", b"answer")
        self.metrics: TransportMetrics = metrics()
        context = server_context()
        manner = Manner(limits, lambda: context)
        self.listener = on_free_port("127.0.0.1", lambda each: TcpListener(each, self.responder, self.metrics, manner))

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.listener.address.port, ssl=client_context())

    @property
    def connections(self) -> int:
        return len(self.listener._admission)


@asynccontextmanager
async def listening(limits: TcpLimits = PATIENT) -> AsyncIterator[Scene]:
    scene = Scene(limits)
    await scene.listener.start()
    try:
        yield scene
    finally:
        scene.listener.close()
        await until(lambda: not scene.connections)


async def receive(reader: asyncio.StreamReader) -> bytes:
    async with asyncio.timeout(20):
        return await reader.readexactly(int.from_bytes(await reader.readexactly(2)))


async def close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    await writer.wait_closed()


REACTIONS = [
    (b"01kept", b"01answer"),
    (b"02made", b"02R:made"),
    (b"03nap", b"03R:nap"),
    (b"04big", b"04" + bytes(60_000)),
    (b"05huge", b"05" + bytes(65_533)),
]


def test_every_kind_of_message_gets_its_reaction() -> None:
    async def play() -> None:
        async with listening() as scene:
            reader, writer = await scene.connect()
            for asked, answered in REACTIONS:
                writer.write(framed(asked))
                assert await receive(reader) == answered
            await close(writer)

    run(play)


def test_messages_may_come_by_the_octet_or_all_at_once() -> None:
    async def play() -> None:
        async with listening() as scene:
            reader, writer = await scene.connect()
            for octet in framed(b"01made"):
                writer.write(bytes((octet,)))
                await writer.drain()
            assert await receive(reader) == b"01R:made"
            writer.write(framed(b"02slow") + framed(b"03kept") + framed(b"04made"))
            assert {await receive(reader), await receive(reader)} == {b"03answer", b"04R:made"}
            scene.responder.release.set()
            assert await receive(reader) == b"02R:slow"
            await close(writer)

    run(play)


@pytest.mark.parametrize("first", [b"", framed(b"01kept"), b"\x16\x03\x01"], ids=["nothing", "no TLS", "half a hello"])
def test_who_makes_no_connection_is_let_go_and_counted(first: bytes) -> None:
    async def play() -> None:
        async with listening(TcpLimits(message=0.3)) as scene:
            with socket.create_connection(("127.0.0.1", scene.listener.address.port)) as client:
                client.sendall(first)
                await until(lambda: scene.metrics.closed.get("handshake", 0) == 1)
                reader, writer = await scene.connect()
                writer.write(framed(b"01kept"))
                assert await receive(reader) == b"01answer"
                await close(writer)
            assert not scene.metrics.errors

    run(play)


def test_a_client_that_goes_away_leaves_nothing() -> None:
    async def play() -> None:
        async with listening() as scene:
            _, writer = await scene.connect()
            writer.write(framed(b"01slow"))
            await until(lambda: bool(scene.responder.resolved))
            writer.transport.abort()
            await until(lambda: not scene.connections)

    run(play)


def test_an_idle_connection_is_closed() -> None:
    async def play() -> None:
        async with listening(TcpLimits(idle=0.1)) as scene:
            reader, writer = await scene.connect()
            writer.write(framed(b"01kept"))
            assert await receive(reader) == b"01answer"
            assert await asyncio.wait_for(reader.read(), 20) == b""
            assert scene.metrics.closed == {"idle": 1}
            await close(writer)

    run(play)


def test_what_has_come_is_answered_before_the_listener_stops() -> None:
    async def play() -> None:
        async with listening() as scene:
            reader, writer = await scene.connect()
            writer.write(framed(b"01nap") + framed(b"02kept"))
            await until(lambda: bool(scene.responder.resolved))
            await scene.listener.stop()
            assert {await receive(reader), await receive(reader)} == {b"01R:nap", b"02answer"}
            await close(writer)

    run(play)
