"""A connection: many queries on one stream, answered as they are ready, in any order (RFC 7766 §6.2.1.1, §7).

It is read only while its client takes its responses and is owed few; so what it can make the server hold is bounded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic, perf_counter

from kubedns.dns.question import Client
from kubedns.transport.driving import Driver
from kubedns.transport.framing import Messages, framed
from kubedns.transport.limits import TcpLimits
from kubedns.transport.responder import Responder, Stream

_TURN = 64
"""Messages taken at a time, so that others get their turn."""
_READ_OCTETS = 1 << 16


@dataclass(slots=True)
class Shared:
    """What the connections of one listener share; ``room`` is where octets are received, for as long as one call.

    Another ``responder`` answers what is read from then on, on connections that are open too.
    """

    responder: Responder
    limits: TcpLimits
    driver: Driver
    room: memoryview = field(default_factory=lambda: memoryview(bytearray(_READ_OCTETS)))


class Connection(asyncio.BufferedProtocol):
    """One client's connection; ``lost`` is called once, when it is gone."""

    def __init__(self, shared: Shared, client: Client, lost: Callable[[Connection], None]) -> None:
        self.client = client
        self.last_query = monotonic()
        self._shared = shared
        self._limits = shared.limits
        self._lost = lost
        self._transport: asyncio.Transport | None = None
        self._messages = Messages()
        self._unsent = bytearray()
        self._in_flight: set[asyncio.Task[None]] = set()
        self._resumed: asyncio.Event | None = None
        self._has_asked = False
        self._is_retired = False
        self._is_last = False
        self._incomplete_since: float | None = self.last_query
        self._unread_since: float | None = None
        self._closing_since: float | None = None

    @property
    def is_idle(self) -> bool:
        """Whether it is open and none of its queries is in flight, so that nobody misses an answer if it is closed."""
        return self._transport is not None and self._closing_since is None and not self._in_flight

    def overdue(self, now: float) -> str | None:
        """The limit that the connection has outstayed at ``now`` (monotonic seconds), if any."""
        limits = self._limits
        if self._unread_since is not None and now - self._unread_since >= limits.unread:
            return "unread"
        if self._closing_since is not None:
            return "unread" if now - self._closing_since >= limits.unread else None
        if self._incomplete_since is not None:
            return "message" if now - self._incomplete_since >= limits.message else None
        if self._unread_since is None and self.is_idle and now - self.last_query >= limits.idle:
            return "idle"
        return None

    def close(self) -> None:
        """Close it once the responses that are ready have been taken."""
        if self._transport is not None and self._closing_since is None:
            self._flush()
            self._closing_since = monotonic()
            self._transport.close()

    def abort(self) -> None:
        """Close it at once."""
        self._closing_since = monotonic()
        if self._transport is not None:
            self._transport.abort()

    def retire(self) -> None:
        """Close it once every query that has come is answered; who has asked nothing yet may still do so."""
        self._is_retired = True
        if self._has_asked:
            self.finish()

    def finish(self) -> None:
        """Read no more; close it once every query that has come is answered."""
        self._is_last = True
        self._proceed()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin; the client has been admitted before."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.set_write_buffer_limits(self._limits.unread_octets)
        if self._is_last or self._closing_since is not None:
            transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        """Forget everything about it."""
        self._closing_since = monotonic()
        for task in self._in_flight:
            task.cancel()
        self._lost(self)

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where to receive; a view, since asyncio's TLS receives into slices of it."""
        return self._shared.room

    def buffer_updated(self, nbytes: int) -> None:
        """Answer every message that is complete."""
        self._messages.feed(self._shared.room[:nbytes])
        self._proceed()

    def eof_received(self) -> bool:
        """The client sends no more; what it has asked is answered all the same."""
        self.finish()
        # TLS has no half-closed connections: what is ready is sent, and that is all (RFC 8446 §6.1).
        return self._transport is not None and self._transport.get_extra_info("ssl_object") is None

    def pause_writing(self) -> None:
        """The client does not take its responses: it is asked for no more queries."""
        self._unread_since = monotonic()

    def resume_writing(self) -> None:
        """The client has caught up."""
        self._unread_since = None
        if self._resumed is not None:
            self._resumed.set()
        self._proceed()

    @property
    def _may_take(self) -> bool:
        """Whether further queries are taken on: the client takes its responses, and not too many are owed to it."""
        return (
            self._unread_since is None and self._closing_since is None and len(self._in_flight) < self._limits.in_flight
        )

    def _proceed(self) -> None:
        """Answer what has come, as far as the limits let it; then read on, wait, or close."""
        if self._closing_since is not None:
            return
        responder = self._shared.responder
        responder.tick()
        find = responder.find(self.client.address)
        began = perf_counter()
        taken = hits = 0
        while taken < _TURN and self._may_take and (message := self._messages.take()) is not None:
            taken += 1
            serve = find(message[2:])
            if serve is None:
                self._resolve(message)
                continue
            try:
                self._respond(message[:2] + serve())
                hits += 1
            except Exception as error:
                self._shared.driver.failed(error)
                self.close()
        self._flush()
        if hits:
            responder.served(hits, perf_counter() - began)
        self._go_on(taken)

    def _go_on(self, taken: int) -> None:
        """Read on, wait for what holds the connection up, or close it; ``taken`` messages were taken just now."""
        if self._transport is None or self._closing_since is not None:
            return
        now = monotonic()
        if taken:
            self.last_query = now
            self._has_asked = True
            self._is_last |= self._is_retired
        if taken == _TURN:
            asyncio.get_running_loop().call_soon(self._proceed)
        is_read = taken < _TURN and self._may_take
        if not is_read or not self._messages:
            self._incomplete_since = None
        elif taken or self._incomplete_since is None:
            self._incomplete_since = now
        if not self._is_last:
            self._transport.resume_reading() if is_read else self._transport.pause_reading()
        elif is_read and not self._in_flight:
            self.close()

    def _resolve(self, message: bytes) -> None:
        resolving = self._shared.responder.resolve_whole(message, self.client)
        task = self._shared.driver.drive(resolving, self._respond_or_close)
        if task is not None:
            self._await(task)

    def _await(self, task: asyncio.Task[None]) -> None:
        self._in_flight.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._in_flight.discard(task)
        self.last_query = monotonic()
        self._proceed()

    def _respond_or_close(self, response: bytes | Stream | None) -> None:
        if response is None:
            self.close()
        elif isinstance(response, bytes):
            self._respond(response)
        elif self._closing_since is None:
            self._await(asyncio.get_running_loop().create_task(self._send_all(response)))

    async def _send_all(self, messages: Stream) -> None:
        """Send one message after the other, as fast as the client takes them; other queries are answered meanwhile."""
        try:
            async with asyncio.timeout(self._limits.transfer):
                for message in messages:
                    if message:
                        self._respond(message)
                        self._flush()
                        await self._until_taken()
                    await asyncio.sleep(0)
        except TimeoutError:
            self._shared.driver.limited("transfer")
            self.abort()
        except Exception as error:  # the client learns it by a stream that ends before its time
            self._shared.driver.failed(error)
            self.abort()

    async def _until_taken(self) -> None:
        """Wait while the client does not take its responses."""
        while self._unread_since is not None:
            self._resumed = self._resumed or asyncio.Event()
            self._resumed.clear()
            await self._resumed.wait()

    def _respond(self, response: bytes) -> None:
        self._unsent += framed(response)
        if len(self._unsent) >= self._limits.unread_octets:
            self._flush()

    def _flush(self) -> None:
        """Send what is ready in one go."""
        if self._unsent and self._transport is not None:
            unsent, self._unsent = self._unsent, bytearray()
            if self._closing_since is None:
                self._transport.write(unsent)
