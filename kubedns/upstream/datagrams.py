"""Questions to one server over UDP, each from a socket, and so a port, of its own.

A reply counts only if it comes from the address asked, with our ID and our question octet for octet; everything else is
noted and waited past (RFC 5452 §9). The socket is connected and new for each query, so its port is the kernel's choice.
"""

from __future__ import annotations

import asyncio
import secrets
import socket

from kubedns.dns.reply import Reply
from kubedns.upstream.exchange import Asked, UpstreamAddress

_DATAGRAM_OCTETS = 65535
_BAD_REPLIES = 20
"""Forged or late replies to one query after which it is asked over TCP, where guessing does not help."""


class Datagrams:
    """Asks ``address``. Queries of one turn of the loop leave together: waking a server costs more than a query."""

    def __init__(self, address: UpstreamAddress) -> None:
        self._address = address
        self._family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        self._leaving: list[_Exchange] = []

    async def ask(self, asked: Asked) -> Reply | None:
        """The server's reply, however long it takes; None after too many that are none.

        Raises:
            OSError: the server cannot be reached, or there is no socket to be had.
        """
        loop = asyncio.get_running_loop()
        with socket.socket(self._family, socket.SOCK_DGRAM) as asking:
            asking.setblocking(False)
            asking.connect(self._where())
            exchange = _Exchange(asking, asked, loop.create_future())
            if not self._leaving:
                loop.call_soon(self._send)
            self._leaving.append(exchange)
            # By number: to learn that it does not know a socket, the loop would first print it.
            number = asking.fileno()
            loop.add_reader(number, exchange.look)
            try:
                return await exchange.reply
            finally:
                loop.remove_reader(number)

    def _where(self) -> tuple[str, int] | tuple[str, int, int, int]:
        """The socket's peer. The system would ask name servers for an interface that it does not have; we do not."""
        host, _, link = self._address.host.partition("%")
        if not link:
            return host, self._address.port
        return host, self._address.port, 0, int(link) if link.isdigit() else socket.if_nametoindex(link)

    def _send(self) -> None:
        leaving, self._leaving = self._leaving, []
        for exchange in leaving:
            exchange.send()


class _Exchange:
    """One query, and what arrives at its socket until the reply is there."""

    __slots__ = ("_asked", "_bad", "_ident", "_socket", "reply")

    def __init__(self, asking: socket.socket, asked: Asked, reply: asyncio.Future[Reply | None]) -> None:
        self._socket = asking
        self._ident = secrets.token_bytes(2)
        self._asked = asked
        self._bad = 0
        self.reply = reply

    def send(self) -> None:
        """Send the query, if anybody waits still."""
        if self.reply.done():
            return
        try:
            self._socket.send(self._asked.query(int.from_bytes(self._ident)))
        except OSError as error:
            self.reply.set_exception(error)

    def look(self) -> None:
        """A datagram, or an error, is there."""
        if self.reply.done():
            return
        try:
            octets = self._socket.recv(_DATAGRAM_OCTETS)
        except BlockingIOError:
            return
        except OSError as error:
            self.reply.set_exception(error)
            return
        reply = self._asked.reply(octets) if octets[:2] == self._ident else None
        if reply is None:
            self._bad += 1
            if self._bad < _BAD_REPLIES:
                return
        self.reply.set_result(reply)
