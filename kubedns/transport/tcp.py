"""TCP, and TLS on it: takes connections, within limits, and sees each to its end (RFC 7766 §6, RFC 7858 §3)."""

from __future__ import annotations

import asyncio
import logging
import socket
from time import monotonic

from kubedns.dns.question import Client, Transport
from kubedns.observe.metrics import TransportMetrics
from kubedns.transport.admission import Admission
from kubedns.transport.connection import Connection, Shared
from kubedns.transport.driving import Driver
from kubedns.transport.limits import Manner
from kubedns.transport.responder import Responder
from kubedns.transport.sockets import ListenAddress, packed, tcp_socket

_ACCEPTS = 64
"""Connections taken per wake-up, so that queries get their turn in a flood of connects."""
_BACK_OFF_SECONDS = 0.5
"""How long none is taken when the system has no means for one more, such as a file descriptor."""
_CHECK_SECONDS = 0.25
"""How often it is looked whether a connection has outstayed a limit."""
_FIRST_WAIT_SECONDS = 0.5
"""How long the first query of a connection that has just been opened is waited for when the listener stops."""
_LAST_WAIT_SECONDS = 2.0
"""How long queries in flight are waited for when the listener stops."""
_POLL_SECONDS = 0.01
_log = logging.getLogger(__name__)


class TcpListener:
    """Answers connections to one address. The socket is bound when it is made, and read once it is started.

    Raises:
        ListenError: the address cannot be bound.
    """

    def __init__(
        self, address: ListenAddress, responder: Responder, metrics: TransportMetrics, manner: Manner | None = None
    ) -> None:
        self.address = address
        self.transport = Transport.TCP
        self._metrics = metrics
        self._manner = manner or Manner()
        self._shared = Shared(responder, self._manner.limits, Driver(metrics))
        self._admission = Admission(self._manner.limits, metrics)
        self._opening: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._is_exhausted = False
        self._socket = tcp_socket(address)
        self._loop: asyncio.AbstractEventLoop

    def __str__(self) -> str:
        return f"{self.address} ({'TCP' if self._manner.tls is None else 'TLS'})"

    def answer_by(self, responder: Responder, manner: Manner) -> None:
        """Have ``responder`` answer what is read from now on; what is in flight is answered as it began.

        Connections that are there are held in the ``manner`` in which they were taken.
        """
        self._shared.responder = responder
        self._shared.limits = self._admission.limits = manner.limits
        self._manner = manner

    async def start(self) -> None:
        """Begin to take connections, those first that have waited since the socket was bound."""
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._socket, self._accept)
        self._check()

    async def stop(self) -> None:
        """Take no more connections; answer what has come, then close."""
        if self._timer is not None:
            while self._accept():
                pass
            self._close_socket()
            if self._opening:
                await asyncio.wait(self._opening)
            # Two turns of the loop, so that what has come on any connection is read.
            for _ in range(2):
                await asyncio.sleep(0)
            for connection in self._admission:
                connection.retire()
            await self._wait_for_all(_FIRST_WAIT_SECONDS)
            for connection in self._admission:
                connection.finish()
            await self._wait_for_all(_LAST_WAIT_SECONDS)
        self.close()

    async def _wait_for_all(self, seconds: float) -> None:
        """Until all connections have ended, but no longer."""
        deadline = monotonic() + seconds
        while len(self._admission) and monotonic() < deadline:
            await asyncio.sleep(_POLL_SECONDS)

    def close(self) -> None:
        """Give the socket and all connections up at once."""
        self._close_socket()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for connection in self._admission:
            connection.abort()

    def _close_socket(self) -> None:
        if self._timer is not None and self._socket.fileno() >= 0:
            self._loop.remove_reader(self._socket)
        self._socket.close()

    def _accept(self) -> bool:
        """Take the connections that wait, up to so many; whether there may be more."""
        for _ in range(_ACCEPTS):
            try:
                accepted, peer = self._socket.accept()
            except (BlockingIOError, ConnectionAbortedError):
                self._is_exhausted = False
                return False
            except OSError as error:
                self._back_off(error)
                return False
            local = accepted.getsockname()[0]
            self._open(accepted, Client(packed(peer[0]), peer[0], peer[1], Transport.TCP, local))
        return True

    def _back_off(self, error: OSError) -> None:
        """Take no connection for a while: they stay queued, and trying at once would only burn time."""
        self._metrics.failed(error)
        if not self._is_exhausted:
            self._is_exhausted = True
            _log.error("%s takes no connections for now: %s", self, error.strerror)
        self._loop.remove_reader(self._socket)
        self._loop.call_later(_BACK_OFF_SECONDS, self._accept_again)

    def _accept_again(self) -> None:
        if self._socket.fileno() >= 0:
            self._loop.add_reader(self._socket, self._accept)

    def _open(self, accepted: socket.socket, client: Client) -> None:
        if not self._admission.make_room(client.address):
            accepted.close()
            return
        connection = Connection(self._shared, client, self._admission.remove)
        self._admission.add(connection)
        task = self._loop.create_task(self._connect(accepted, connection))
        self._opening.add(task)
        task.add_done_callback(self._opening.discard)

    async def _connect(self, accepted: socket.socket, connection: Connection) -> None:
        tls = None if self._manner.tls is None else self._manner.tls()
        patience = None if tls is None else self._manner.limits.message
        try:
            await self._loop.connect_accepted_socket(
                lambda: connection, accepted, ssl=tls, ssl_handshake_timeout=patience
            )
        except OSError as error:
            # A client that speaks no TLS, trusts us not, or says nothing; errno tells of nothing here.
            self._metrics.failed(error) if tls is None else self._metrics.limited("handshake")
            self._admission.remove(connection)
            accepted.close()

    def _check(self) -> None:
        self._admission.close_overdue(monotonic())
        self._timer = self._loop.call_later(_CHECK_SECONDS, self._check)
