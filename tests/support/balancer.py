"""A balancer of our own: one address in front of several servers, of which it asks those that are ready.

It does with packets what kube-proxy has the kernel do. A datagram goes where the ones before it of the same client
went, as long as that server is ready; a connection stays where it was opened, ready or not.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from itertools import count
from typing import Any

Address = tuple[str, int]
_LOOK_SECONDS = 0.1
_CHUNK_OCTETS = 1 << 16


class Balancer:
    """Listens on ``port`` of 127.0.0.1, UDP and TCP. ``backends``: port of each server → port of its ready page."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.backends: dict[int, int] = {}
        self.ready: tuple[int, ...] = ()
        self._turns = count()
        self._flows: dict[Address, tuple[int, _Flow]] = {}
        self._opened: list[_Flow] = []
        self._front: asyncio.DatagramTransport
        self._connections: set[asyncio.Task[None]] = set()

    async def run(self, opened: asyncio.Event) -> None:
        """Until cancelled; ``opened`` is set as soon as it listens."""
        loop = asyncio.get_running_loop()
        self._front, _ = await loop.create_datagram_endpoint(lambda: _Front(self), ("127.0.0.1", self.port))
        server = await asyncio.start_server(self._splice, "127.0.0.1", self.port)
        opened.set()
        try:
            await self._follow()
        finally:
            server.close()
            self._front.close()
            for flow in self._opened:
                flow.close()
            for connection in self._connections:
                connection.cancel()
            await asyncio.gather(*self._connections, return_exceptions=True)
            await asyncio.sleep(0.01)

    async def _follow(self) -> None:
        while True:
            self.ready = tuple([port for port, page in dict(self.backends).items() if await _is_ready(page)])
            await asyncio.sleep(_LOOK_SECONDS)

    def _next(self) -> int:
        return self.ready[next(self._turns) % len(self.ready)]

    def forward(self, octets: bytes, client: Address) -> None:
        """A datagram has come from ``client``."""
        asyncio.get_running_loop().create_task(self._forward(octets, client))

    async def _forward(self, octets: bytes, client: Address) -> None:
        port, flow = self._flows.get(client, (0, None))
        if flow is None or port not in self.ready:
            # What the server of before still answers comes through, as it would after its conntrack entry has gone.
            port = self._next()
            loop = asyncio.get_running_loop()
            _, flow = await loop.create_datagram_endpoint(
                lambda: _Flow(self._front, client), remote_addr=("127.0.0.1", port)
            )
            self._opened.append(flow)
            self._flows[client] = port, flow
        flow.send(octets)

    async def _splice(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)
        back = await asyncio.open_connection("127.0.0.1", self._next())
        try:
            await asyncio.gather(_pump(reader, back[1]), _pump(back[0], writer))
        finally:
            writer.close()
            back[1].close()


class _Front(asyncio.DatagramProtocol):
    def __init__(self, balancer: Balancer) -> None:
        self._balancer = balancer

    def datagram_received(self, data: bytes, addr: Any) -> None:  # noqa: ANN401
        self._balancer.forward(data, addr)


class _Flow(asyncio.DatagramProtocol):
    """What goes to one server for one client, and back."""

    def __init__(self, front: asyncio.DatagramTransport, client: Address) -> None:
        self._front = front
        self._client = client
        self._back: asyncio.DatagramTransport

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401
        self._back = transport

    def datagram_received(self, data: bytes, addr: Any) -> None:  # noqa: ANN401
        self._front.sendto(data, self._client)

    def send(self, octets: bytes) -> None:
        self._back.sendto(octets)

    def close(self) -> None:
        self._back.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while octets := await reader.read(_CHUNK_OCTETS):
            writer.write(octets)
            await writer.drain()
        writer.write_eof()


async def _is_ready(page: int) -> bool:
    with suppress(OSError, EOFError):
        reader, writer = await asyncio.open_connection("127.0.0.1", page)
        try:
            writer.write(b"GET /ready HTTP/1.0\r\n\r\n")
            return b" 200 " in await reader.readline()
        finally:
            writer.close()
    return False
