"""A responder that does what each message says, and clients on loopback."""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from collections.abc import Callable, Coroutine, Iterator
from functools import partial
from itertools import repeat
from typing import Any, TypeVar

from kubedns.dns.question import Client
from kubedns.errors import ListenError
from kubedns.observe.metrics import TransportMetrics
from kubedns.transport.framing import framed
from kubedns.transport.responder import Find, Stream
from kubedns.transport.sockets import ListenAddress
from tests.support.process import free_port

PATIENCE_SECONDS = 20.0
_TRIES = 50
T = TypeVar("T")


class FakeResponder:
    """Answers what comes after a message's ID: ``keep`` puts an answer where ``find`` sees it, the rest is resolved.

    ``many...`` gets, as a stream, what ``stream`` holds then; it ends in an error if it holds None.
    ``slow...`` waits for ``release``, ``nap...`` for a moment; ``...silent`` gets silence, ``...panic`` an error,
    ``...big`` sixty kilobytes and ``...huge`` more than fits a datagram.
    """

    def __init__(self, *, is_client_sensitive: bool = False) -> None:
        self.is_client_sensitive = is_client_sensitive
        self.release = asyncio.Event()
        self.clients: list[Client] = []
        self.resolved: list[bytes] = []
        self.finds: list[bytes] = []
        self.ticks = 0
        self.hits = 0
        self.stream: Iterator[bytes | None] = iter(())
        self._answers: dict[bytes, Callable[[], bytes]] = {}

    def keep(self, query: bytes, *responses: bytes) -> None:
        """Give ``responses`` in turn, the last one for ever; none: an error in the program."""
        if responses:
            self._answers[query] = iter([*responses[:-1], *repeat(responses[-1], 100_000)]).__next__
        else:
            self._answers[query] = iter(()).__next__

    def find(self, address: bytes) -> Find:
        self.finds.append(address)
        return self._answers.get

    def tick(self) -> None:
        self.ticks += 1

    def served(self, count: int, seconds: float) -> None:
        assert count > 0
        assert seconds >= 0
        self.hits += count

    async def resolve_whole(self, octets: bytes, client: Client) -> bytes | Stream | None:
        if octets[2:].startswith(b"many"):
            return map(partial(_stamped, octets[:2]), self.stream)
        return await self.resolve(octets, client)

    async def resolve(self, octets: bytes, client: Client) -> bytes | None:
        self.clients.append(client)
        self.resolved.append(octets)
        text = octets[2:]
        if text.startswith(b"slow"):
            await self.release.wait()
        elif text.startswith(b"nap"):
            await asyncio.sleep(0)
        if text.endswith(b"panic"):
            raise ZeroDivisionError(text)
        if text.endswith(b"silent") or not text:
            return None
        if text.endswith(b"big"):
            return octets[:2] + bytes(60_000)
        if text.endswith(b"huge"):
            return octets[:2] + bytes(65_533)
        return octets[:2] + b"R:" + text[:100]


def _stamped(ident: bytes, message: bytes | None) -> bytes:
    assert message is not None, "the stream breaks"
    return ident + message if message else b""


def on_free_port(host: str, make: Callable[[ListenAddress], T]) -> T:
    """What ``make`` binds on ``host``: a port that is free on one address may be taken on another."""
    for _ in range(_TRIES):
        try:
            return make(ListenAddress(host, free_port()))
        except ListenError:
            continue
    raise AssertionError(f"no port is free on {host}")


def metrics() -> TransportMetrics:
    return TransportMetrics("dns://:53", "test")


def run(scene: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Play a scene on a loop of its own; it may take long only if something is wrong."""

    async def bounded() -> None:
        async with asyncio.timeout(3 * PATIENCE_SECONDS):
            await scene()

    asyncio.run(bounded())


async def until(claim: Callable[[], bool]) -> None:
    """Wait until ``claim`` holds."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not claim():
        assert time.monotonic() < deadline, "it did not come true"
        await asyncio.sleep(0.005)


class UdpClient:
    """A socket that is not connected, so that it sees where replies come from."""

    def __init__(self, host: str, port: int) -> None:
        self.server = (host, port)
        self._socket = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._socket.bind(("::" if ":" in host else "0.0.0.0", 0))

    def __enter__(self) -> UdpClient:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def send(self, *messages: bytes) -> None:
        for message in messages:
            self._socket.sendto(message, self.server)

    async def receive(self) -> bytes:
        """The next reply; it must come from the address that was asked."""
        octets, peer = await asyncio.wait_for(
            asyncio.get_running_loop().sock_recvfrom(self._socket, 65_535), PATIENCE_SECONDS
        )
        assert peer[:2] == self.server
        return octets

    async def ask(self, message: bytes) -> bytes:
        self.send(message)
        return await self.receive()


class TcpClient:
    """A connection; ``room``: octets of the buffer for what is received."""

    def __init__(self, host: str, port: int, source: str = "", room: int = 0) -> None:
        self._socket = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        if room:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        if source:
            self._socket.bind((source, 0))
        try:
            self._socket.connect((host, port))  # the kernel takes it, whatever the listener does
        except OSError:
            self._socket.close()
            raise
        self._socket.setblocking(False)
        self._loop = asyncio.get_running_loop()

    def __enter__(self) -> TcpClient:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    async def send(self, *messages: bytes) -> None:
        await self.send_octets(b"".join(framed(message) for message in messages))

    async def send_octets(self, octets: bytes) -> None:
        await self._loop.sock_sendall(self._socket, octets)

    async def drip(self) -> None:
        """Send an octet now and then until the connection breaks."""
        while True:
            await self.send_octets(b"\xff")
            await asyncio.sleep(0.01)

    def finish(self) -> None:
        """Send no more."""
        self._socket.shutdown(socket.SHUT_WR)

    def reset(self) -> None:
        """Go away without a good-bye."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._socket.close()

    async def receive(self) -> bytes | None:
        """The next response; None: the connection was closed."""
        head = await self._receive_octets(2)
        return head if head is None else await self._receive_octets(int.from_bytes(head))

    async def receive_set(self, count: int) -> set[bytes | None]:
        return {await self.receive() for _ in range(count)}

    async def ask(self, message: bytes) -> bytes | None:
        await self.send(message)
        return await self.receive()

    async def _receive_octets(self, count: int) -> bytes | None:
        octets = b""
        while len(octets) < count:
            async with asyncio.timeout(PATIENCE_SECONDS):
                more = await self._loop.sock_recv(self._socket, count - len(octets))
            if not more:
                assert not octets, "closed in the middle of a message"
                return None
            octets += more
        return octets
