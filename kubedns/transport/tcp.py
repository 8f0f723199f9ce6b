"""TCP: messages behind a length of two octets, many on one connection, answered as they are ready (RFC 7766)."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from dataclasses import dataclass
from time import monotonic, perf_counter

from kubedns.dns.question import Client, Transport
from kubedns.observe.metrics import TransportMetrics
from kubedns.transport.driving import drive
from kubedns.transport.framing import framed, take_messages
from kubedns.transport.responder import Responder
from kubedns.transport.sockets import ListenAddress, packed, tcp_socket

_LAST_WAIT_SECONDS = 2.0
"""How long queries in flight are waited for when the listener stops."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TcpLimits:
    """What connections may take of the server; times in seconds.

    ``connections`` in all and ``connections_per_client``, so that one client cannot have them all. ``idle``: without a
    message. ``message``: from the first octet of a message to its last, however they trickle in. ``in_flight``: queries
    unanswered on one connection, before it is read no further. ``unread_octets``: responses that the client has not
    taken; ``unread``: for how long they may lie there.
    """

    connections: int = 1000
    connections_per_client: int = 64
    idle: float = 10.0
    message: float = 3.0
    in_flight: int = 128
    unread_octets: int = 64 << 10
    unread: float = 5.0


class TcpListener:
    """Answers connections to one address. The socket is bound when it is made, and read once it is started.

    Raises:
        ListenError: the address cannot be bound.
    """

    def __init__(
        self, address: ListenAddress, responder: Responder, metrics: TransportMetrics, limits: TcpLimits | None = None
    ) -> None:
        self.address = address
        self.responder = responder
        self.metrics = metrics
        self.limits = limits or TcpLimits()
        self._socket = tcp_socket(address)
        self._server: asyncio.Server | None = None
        self._connections: dict[Connection, None] = {}
        self._clients: Counter[str] = Counter()

    def __str__(self) -> str:
        return f"{self.address} (TCP)"

    async def start(self) -> None:
        """Begin to take connections."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: Connection(self), sock=self._socket, backlog=512)

    async def stop(self) -> None:
        """Take no more connections; answer what has come, then close."""
        if self._server is not None:
            self._server.close()
        for connection in list(self._connections):
            connection.finish()
        closing = [connection.closed for connection in self._connections]
        if closing:
            await asyncio.wait(closing, timeout=_LAST_WAIT_SECONDS)
        self.close()

    def close(self) -> None:
        """Give the socket and all connections up at once."""
        for connection in list(self._connections):
            connection.abort()
        if self._server is not None:
            self._server.close()
        self._socket.close()

    def admit(self, connection: Connection, host: str) -> bool:
        """Whether one more connection fits; the one that has been idle longest makes room."""
        if self._clients[host] >= self.limits.connections_per_client:
            self.metrics.refused += 1
            return False
        if len(self._connections) >= self.limits.connections:
            idle = [each for each in self._connections if each.is_idle]
            if not idle:
                self.metrics.refused += 1
                return False
            self.metrics.dropped += 1
            min(idle, key=lambda each: each.last_active).abort()
        self._connections[connection] = None
        self._clients[host] += 1
        return True

    def forget(self, connection: Connection, host: str) -> None:
        """A connection is gone."""
        if connection in self._connections:
            del self._connections[connection]
            self._clients[host] -= 1
            if not self._clients[host]:
                del self._clients[host]


class Connection(asyncio.Protocol):
    """One client's connection."""

    def __init__(self, listener: TcpListener) -> None:
        self.last_active = monotonic()
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._listener = listener
        self._limits = listener.limits
        self._responder = listener.responder
        self._buffer = bytearray()
        self._in_flight = 0
        self._suspended: set[asyncio.Task[None]] = set()
        self._message_began: float | None = None
        self._unread_since: float | None = None
        self._is_last = False
        self._host = ""
        self._transport: asyncio.Transport
        self._timer: asyncio.TimerHandle
        self._client: Client

    @property
    def is_idle(self) -> bool:
        """Whether nothing is under way."""
        return not self._in_flight and not self._buffer

    @property
    def _may_read(self) -> bool:
        """Whether further queries are taken: the client takes its responses, and not too many are owed to it."""
        if self._unread_since is not None or self._is_last or self._transport.is_closing():
            return False
        return self._in_flight < self._limits.in_flight

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the connection, if there is room for it."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        host, port = transport.get_extra_info("peername")[:2]
        self._host = host
        self._client = Client(packed(host), host, port, Transport.TCP)
        transport.set_write_buffer_limits(self._limits.unread_octets)
        self._message_began = monotonic()  # the first message must come as soon as any other must be complete
        self._watch()
        if not self._listener.admit(self, host):
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget everything about it."""
        self._timer.cancel()
        for task in self._suspended:
            task.cancel()
        self._listener.forget(self, self._host)
        if not self.closed.done():
            self.closed.set_result(None)

    def data_received(self, data: bytes) -> None:
        """Answer every message that is complete."""
        self.last_active = monotonic()
        self._buffer += data
        self._proceed()

    def eof_received(self) -> bool:
        """The client sends no more; what it has asked is answered all the same."""
        self._is_last = True
        self._buffer.clear()
        self._close_if_done()
        return True

    def pause_writing(self) -> None:
        """The client does not take its responses: it is asked for no more queries."""
        self._unread_since = monotonic()
        self._pace()

    def resume_writing(self) -> None:
        """The client has caught up."""
        self._unread_since = None
        self._proceed()

    def finish(self) -> None:
        """Read no more; close once everything is answered."""
        self._is_last = True
        self._pace()
        self._close_if_done()

    def abort(self) -> None:
        """Close at once."""
        self._transport.abort()

    def _proceed(self) -> None:
        progressing = True
        while progressing and self._may_read:
            progressing = False
            for message in take_messages(self._buffer, self._limits.in_flight - self._in_flight):
                progressing = True
                self._message_began = None
                self._answer(message)
                if not self._may_read:
                    break
        if not self._may_read or not self._buffer:
            self._message_began = None
        elif self._message_began is None:
            self._message_began = monotonic()
        self._pace()
        self._close_if_done()

    def _answer(self, message: bytes) -> None:
        serve = self._responder.find(self._client.address)(message[2:]) if len(message) > 2 else None
        if serve is not None:
            began = perf_counter()
            self._transport.write(framed(message[:2] + serve()))
            self._responder.served(1, perf_counter() - began)
            return
        self._in_flight += 1
        try:
            drive(self._responder.resolve(message, self._client), self._done, self._suspended)
        except Exception:
            self._listener.metrics.panics += 1
            _log.exception("error while answering a message of %d octets", len(message))
            self.abort()

    def _done(self, response: bytes | None) -> None:
        self._in_flight -= 1
        self.last_active = monotonic()
        if response is None:
            self._transport.close()
        elif not self._transport.is_closing():
            self._transport.write(framed(response))
            if self._suspended:
                self._proceed()

    def _pace(self) -> None:
        """Read on only while the client takes its responses and not too many are owed to it."""
        if self._transport.is_closing():
            return
        if self._may_read:
            self._transport.resume_reading()
        else:
            self._transport.pause_reading()

    def _close_if_done(self) -> None:
        if self._is_last and not self._in_flight:
            self._transport.close()

    def _watch(self) -> None:
        """Look now and then whether the connection has outstayed a limit: one timer, whatever happens on it."""
        now = monotonic()
        limits = self._limits
        overdue = (
            (self._message_began is not None and now - self._message_began >= limits.message)
            or (self._unread_since is not None and now - self._unread_since >= limits.unread)
            or (not self._in_flight and self._unread_since is None and now - self.last_active >= limits.idle)
        )
        if overdue:
            self.abort() if self._unread_since is not None else self._transport.close()
            return
        period = min(limits.message, limits.idle, limits.unread) / 4
        self._timer = asyncio.get_running_loop().call_later(period, self._watch)
