"""The kept connections of one server: the least busy is asked, new ones are opened while all are busy."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass

from kubedns.dns.reply import Reply
from kubedns.upstream.connection import Connection, ConnectionLostError, connect
from kubedns.upstream.exchange import Asked, UpstreamAddress

MAX_CONNECTIONS = 16
_TRIES = 3
"""A connection may have been closed on the other side just before it was asked; a new one seldom is, twice never."""


@dataclass(frozen=True, slots=True)
class PoolLimits:
    """``connections``: kept at most, and ``under_way``: questions on each before another is opened.

    ``idle_seconds``: how long one is kept that nobody uses.
    """

    connections: int = MAX_CONNECTIONS
    under_way: int = 64
    idle_seconds: float = 10.0


class Pool:
    """Connections to ``address``, over TLS with ``tls``. ``took`` is told of each question if its connection is old."""

    def __init__(
        self, address: UpstreamAddress, tls: ssl.SSLContext | None, limits: PoolLimits, took: Callable[[bool], None]
    ) -> None:
        self._address = address
        self._tls = tls
        self._limits = limits
        self._took = took
        self._connections: list[Connection] = []
        self._opening: asyncio.Task[Connection] | None = None
        self._pipelines = True
        self._singly = asyncio.Semaphore(limits.connections)

    async def ask(self, asked: Asked) -> Reply:
        """The server's reply, however long it takes.

        Raises:
            UpstreamError: no connection is to be had, or none that lasts until the reply.
        """
        for _ in range(_TRIES - 1):
            with suppress(ConnectionLostError):
                return await self._ask_once(asked)
        return await self._ask_once(asked)

    def close(self) -> None:
        """End all connections at once. A question that is under way is asked over a new one, which ends when unused."""
        if self._opening is not None:
            self._opening.cancel()
        for connection in self._connections:
            connection.close()
        self._connections.clear()

    async def _ask_once(self, asked: Asked) -> Reply:
        # Where each question takes a connection of its own, others wait until one is free.
        async with nullcontext() if self._pipelines else self._singly:
            connection, is_kept = await self._connection()
            self._took(is_kept)
            try:
                return await connection.ask(asked)
            except ConnectionLostError:
                # A server from before pipelining answers one question and closes (RFC 7766 §6.2.1.1).
                if connection.replied and not is_kept:
                    self._pipelines = False
                raise

    async def _connection(self) -> tuple[Connection, bool]:
        """The connection to ask over, and whether it was there already."""
        self._connections = [each for each in self._connections if each.is_open]
        least = min(self._connections, key=lambda each: each.under_way, default=None)
        full = self._limits.under_way if self._pipelines else 1
        if least is not None and (least.under_way < full or len(self._connections) >= self._limits.connections):
            return least, True
        if not self._pipelines:
            return await self._open(), False
        # Whoever needs a connection while one is being opened shares it.
        if self._opening is None or self._opening.done():
            self._opening = asyncio.get_running_loop().create_task(self._open())
            self._opening.add_done_callback(_heed)
        opening = self._opening
        await asyncio.wait((opening,))
        if opening.cancelled():
            raise ConnectionLostError(f"{self._address}: the connection was given up")
        return opening.result(), False

    async def _open(self) -> Connection:
        connection = await connect(self._address, self._tls, self._limits.idle_seconds)
        self._connections.append(connection)
        return connection


def _heed(opening: asyncio.Task[Connection]) -> None:
    """Nobody may wait any more for what goes wrong with it."""
    if not opening.cancelled():
        opening.exception()
