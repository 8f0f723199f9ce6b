"""A shim for the corpus's runners, which know UDP and TCP alone: what they ask comes to the server by TLS or HTTPS.

It adds nothing and judges nothing. Each client keeps its address. What comes back too long for a UDP client is asked
for once more over UDP, since the length of its reply is UDP's affair.
"""

from __future__ import annotations

import asyncio
import base64
import socket
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from typing import Any

import aiohttp
import dns.exception
import dns.message

from tests.support.certificates import client_context
from tests.support.process import PATIENCE_SECONDS, free_port

_Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]
HOST = "127.0.0.1"
_TLS = client_context()


@dataclass(frozen=True, slots=True)
class Server:
    """The ports at which one server block is asked."""

    plain: int
    tls: int
    https: int


@contextmanager
def shimmed(server: Server, transport: str) -> Iterator[int]:
    """The port of a shim that asks ``server`` by ``tls`` or ``https``."""
    port = free_port()
    started, ended = threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()
    made = _Shim(server, transport)

    async def serve() -> None:
        made.udp, _ = await loop.create_datagram_endpoint(lambda: made, local_addr=(HOST, port))
        tcp = await asyncio.start_server(made.connected, HOST, port)
        started.set()
        await ended.wait()
        made.udp.close()
        tcp.close()
        await made.end()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    assert started.wait(PATIENCE_SECONDS)
    try:
        yield port
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(PATIENCE_SECONDS)
        loop.close()
    assert made.errors == []


class _Shim(asyncio.DatagramProtocol):
    """``errors``: what went wrong in the shim itself."""

    def __init__(self, server: Server, transport: str) -> None:
        self._server = server
        self._transport = transport
        self.udp: asyncio.DatagramTransport
        self.errors: list[BaseException] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._sessions: dict[str, aiohttp.ClientSession] = {}
        self._kept: dict[str, _Connection] = {}
        self._requests = count()

    async def end(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for _, writer in self._kept.values():
            writer.transport.abort()
        for session in self._sessions.values():
            await session.close()
        await asyncio.sleep(0)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self._start(self._pass_datagram(data, addr))

    def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """A runner's connection."""
        passing = self._pass_stream if self._transport == "tls" else self._pass_messages
        self._start(passing(reader, writer)).add_done_callback(lambda _: writer.close())

    def _start(self, passing: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(passing)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self.errors.append(error)

    async def _pass_datagram(self, message: bytes, client: tuple[str, int]) -> None:
        asking = self._over_tls if self._transport == "tls" else self._over_https
        reply = await asking(message, client[0])
        if reply is not None and len(reply) > _udp_octets(message):
            reply = await asyncio.to_thread(self._over_udp, message, client[0])
        if reply is not None:
            self.udp.sendto(reply, client)

    def _over_udp(self, message: bytes, client: str) -> bytes:
        with socket.socket(type=socket.SOCK_DGRAM) as asking:
            asking.settimeout(PATIENCE_SECONDS)
            asking.bind((client, 0))
            asking.connect((HOST, self._server.plain))
            asking.send(message)
            return asking.recv(65535)

    async def _over_tls(self, message: bytes, client: str) -> bytes | None:
        """The reply, on the connection of the client's query before if there is one; None: it was closed without."""
        kept = self._kept.pop(client, None)
        if kept is not None and kept[0].at_eof():
            kept[1].close()
            kept = None
        reader, writer = kept or await self._tls_connection(client)
        writer.write(len(message).to_bytes(2) + message)
        reply = await _message(reader)
        if reply is None or client in self._kept:
            writer.close()
        else:
            self._kept[client] = (reader, writer)
        return reply

    async def _over_https(self, message: bytes, client: str) -> bytes | None:
        """The body of the response, by POST and by GET in turn; None: there was none."""
        if client not in self._sessions:
            connector = aiohttp.TCPConnector(ssl=_TLS, local_addr=(client, 0), limit=0)
            self._sessions[client] = aiohttp.ClientSession(connector=connector)
        session, url = self._sessions[client], f"https://{HOST}:{self._server.https}/dns-query"
        if next(self._requests) % 2 and len(message) < 4096:
            parameter = base64.urlsafe_b64encode(message).rstrip(b"=").decode()
            asked = session.get(f"{url}?dns={parameter}")
        else:
            asked = session.post(url, data=message, headers={"content-type": "application/dns-message"})
        async with asked as response:
            body = await response.read()
            if response.status != 200:
                assert response.status == 400, response.status
                return None
            assert response.content_type == "application/dns-message"
            return body

    async def _pass_stream(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Octets as they come, both ways, and the ends of both."""
        there, back = await self._tls_connection(writer.get_extra_info("peername")[0])

        async def forth() -> None:
            while octets := await reader.read(65536):
                back.write(octets)
                await back.drain()
            back.get_extra_info("socket").shutdown(socket.SHUT_WR)

        forward = asyncio.ensure_future(forth())
        try:
            with suppress(ConnectionError):
                while octets := await there.read(65536):
                    writer.write(octets)
                    await writer.drain()
        finally:
            forward.cancel()
            with suppress(asyncio.CancelledError, OSError):
                await forward
            back.close()

    async def _pass_messages(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Each message as a request; the connection ends where one gets no reply."""
        asking: set[asyncio.Task[None]] = set()

        async def ask(message: bytes) -> None:
            reply = await self._over_https(message, writer.get_extra_info("peername")[0])
            if reply is None:
                writer.close()
            else:
                writer.write(len(reply).to_bytes(2) + reply)

        while (message := await _message(reader)) is not None:
            task = asyncio.ensure_future(ask(message))
            asking.add(task)
            task.add_done_callback(asking.discard)
        await asyncio.gather(*asking)

    async def _tls_connection(self, client: str) -> _Connection:
        return await asyncio.open_connection(HOST, self._server.tls, ssl=_TLS, local_addr=(client, 0))


async def _message(reader: asyncio.StreamReader) -> bytes | None:
    """The next message of a stream; None: it ends, or breaks off."""
    try:
        return await reader.readexactly(int.from_bytes(await reader.readexactly(2)))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None


def _udp_octets(message: bytes) -> int:
    """What may come back over UDP for a query."""
    try:
        query = dns.message.from_wire(message)
    except (dns.exception.DNSException, ValueError):
        return 512
    return 512 if query.edns < 0 else min(max(query.payload, 512), 1232)
