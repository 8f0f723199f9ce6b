"""A kept connection to a server, over TCP or TLS: several questions under way at once, replies in any order (RFC 7766).

Each question has an ID of its own on the connection. When the connection ends, questions that wait on it fail with
:class:`ConnectionLostError`, and whoever asked may ask again over another one.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
import ssl

from kubedns.dns.reply import Reply
from kubedns.upstream.exchange import Asked, UpstreamAddress, UpstreamError

_LENGTH_OCTETS = 2
_OPENING_SECONDS = 4.0
"""Longer than anybody waits: questions that come later shall try anew, not share a handshake that is stuck."""


class ConnectionLostError(UpstreamError):
    """The connection ended while a question waited on it; ``str()`` says of whom it was."""


class Connection(asyncio.Protocol):
    """An open connection. It closes itself ``idle_seconds`` after its last reply.

    ``replied``: whether anything was ever answered over it.
    """

    def __init__(self, address: UpstreamAddress, idle_seconds: float) -> None:
        self._address = address
        self._idle_seconds = idle_seconds
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._waiting: dict[int, tuple[Asked, asyncio.Future[Reply]]] = {}
        self._received = bytearray()
        self._idle: asyncio.TimerHandle | None = None
        self._retired = False
        self.replied = False

    @property
    def under_way(self) -> int:
        """Questions that wait for a reply."""
        return len(self._waiting)

    @property
    def is_open(self) -> bool:
        """Whether more may be asked over it."""
        return self._transport is not None and not self._retired and not self._transport.is_closing()

    async def ask(self, asked: Asked) -> Reply:
        """The reply, however long it takes. If whoever waits gives up, nothing more is asked over this connection.

        Raises:
            ConnectionLostError: the connection ended before.
            UpstreamError: what was answered is not to the question.
        """
        if self._transport is None or not self.is_open:
            raise ConnectionLostError(f"{self._address}: the connection has ended")
        ident = self._free_ident()
        reply: asyncio.Future[Reply] = self._loop.create_future()
        self._waiting[ident] = (asked, reply)
        query = asked.query(ident)
        self._transport.write(len(query).to_bytes(_LENGTH_OCTETS) + query)
        try:
            return await reply
        except asyncio.CancelledError:
            # A server that is silent here may be gone without a word: the next question shall find out anew.
            self._retired = True
            raise
        finally:
            self._waiting.pop(ident, None)
            self._settle()

    def close(self) -> None:
        """End it at once."""
        self._retired = True
        if self._idle is not None:
            self._idle.cancel()
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection stands."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        if self._retired:
            transport.abort()
        # Whoever wanted it may have given up.
        self._settle()

    def data_received(self, data: bytes) -> None:
        """Hand each whole message to the question that it answers."""
        self._received += data
        while len(self._received) >= _LENGTH_OCTETS:
            end = _LENGTH_OCTETS + int.from_bytes(self._received[:_LENGTH_OCTETS])
            if len(self._received) < end:
                return
            message = bytes(self._received[_LENGTH_OCTETS:end])
            del self._received[:end]
            self._hand_over(message)

    def connection_lost(self, error: Exception | None) -> None:
        """Nobody answers any more."""
        self._retired = True
        if self._idle is not None:
            self._idle.cancel()
        why = f": {error}" if error else " was closed"
        for _, reply in self._waiting.values():
            if not reply.done():
                reply.set_exception(ConnectionLostError(f"{self._address}: the connection{why}"))

    def _hand_over(self, message: bytes) -> None:
        asked, future = self._waiting.get(int.from_bytes(message[:2]), (None, None))
        if asked is None or future is None or future.done():
            # The reply to a question that nobody waits for any more.
            return
        reply = asked.reply(message)
        if reply is None:
            future.set_exception(UpstreamError(f"{self._address}: the reply is not to what was asked"))
            return
        self.replied = True
        future.set_result(reply)

    def _free_ident(self) -> int:
        while (ident := secrets.randbits(16)) in self._waiting:
            pass
        return ident

    def _settle(self) -> None:
        """Once nothing is under way: end what is retired, wait a while with the rest."""
        if self._waiting or self._transport is None:
            return
        if self._retired:
            self._transport.close()
            return
        if self._idle is not None:
            self._idle.cancel()
        self._idle = self._loop.call_later(self._idle_seconds, self._end_if_idle)

    def _end_if_idle(self) -> None:
        if not self._waiting:
            self._retired = True
            if self._transport is not None:
                self._transport.close()


async def connect(address: UpstreamAddress, tls: ssl.SSLContext | None, idle_seconds: float) -> Connection:
    """A connection to ``address``, over TLS with ``tls``.

    Raises:
        UpstreamError: there is none to be had; for a certificate, why it is not trusted.
    """
    loop = asyncio.get_running_loop()
    name = (address.server_name or address.host) if tls is not None else None
    try:
        async with asyncio.timeout(_OPENING_SECONDS):
            _, connection = await loop.create_connection(
                lambda: Connection(address, idle_seconds),
                address.host,
                address.port,
                flags=socket.AI_NUMERICHOST,
                ssl=tls,
                server_hostname=name,
            )
    except ssl.SSLCertVerificationError as error:
        raise UpstreamError(f"{address}: its certificate is not trusted: {error.verify_message}") from error
    except (OSError, EOFError) as error:
        # TimeoutError is an OSError; like what a cut handshake gives, it has no words of its own.
        wordless = "no connection in time" if isinstance(error, TimeoutError) else "the connection was cut off"
        raise UpstreamError(f"{address}: {str(error) or wordless}") from error
    return connection
