"""What is asked of a server, what counts as its reply, and one query over UDP from a port of its own.

A reply counts only if it comes from the address asked, with our ID and our question octet for octet; everything else is
noted and waited past (RFC 5452 §9). The socket is connected and new for each query, so its port is the kernel's choice.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
from dataclasses import dataclass

from kubedns.dns.answer import Rcode
from kubedns.dns.reply import Reply, UnreadableReplyError, query_octets, read_reply

_DATAGRAM_OCTETS = 65535
_BAD_REPLIES = 20
"""Forged or late replies to one query after which it is asked over TCP, where guessing does not help."""


@dataclass(frozen=True, slots=True)
class UpstreamAddress:
    """A server that is asked. ``server_name``: whom its certificate must name; empty: its address."""

    host: str
    port: int = 53
    over_tls: bool = False
    server_name: str = ""

    def __str__(self) -> str:
        where = f"{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"
        return f"tls://{where}" if self.over_tls else where


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked: the question section, and the two of the client's flags that change the answer.

    ``edns``: whether an OPT goes with it, which some old servers do not bear. ``recursion_desired``: as in the flag RD.
    """

    question: bytes
    dnssec_ok: bool = False
    checking_disabled: bool = False
    edns: bool = True
    recursion_desired: bool = True

    def query(self, ident: int) -> bytes:
        """The message that asks it."""
        octets = query_octets(ident, self.question, self.dnssec_ok, self.checking_disabled, self.edns)
        return octets if self.recursion_desired else bytes((*octets[:2], octets[2] & 0xFE)) + octets[3:]

    def reply(self, octets: bytes) -> Reply | None:
        """The reply in ``octets``, whose ID is ours; None if it is to anything else, or cannot be read."""
        try:
            reply = read_reply(octets)
        except UnreadableReplyError:
            return None
        is_formerr = reply.rcode == Rcode.FORMERR and not reply.question
        return reply if is_formerr or reply.question == self.question else None


class UpstreamError(Exception):
    """No usable reply; ``str()`` says why."""


async def ask_over_udp(address: UpstreamAddress, asked: Asked) -> Reply | None:
    """The server's reply over UDP, however long it takes; None after too many that are none.

    Raises:
        OSError: the server cannot be reached.
    """
    ident = secrets.randbits(16)
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    loop = asyncio.get_running_loop()
    with socket.socket(family, socket.SOCK_DGRAM) as asking:
        asking.setblocking(False)
        asking.connect((address.host, address.port))
        asking.send(asked.query(ident))
        arrival = _Arrival(asking, ident, asked, loop.create_future())
        loop.add_reader(asking, arrival.look)
        try:
            return await arrival.reply
        finally:
            loop.remove_reader(asking)


class _Arrival:
    """Looks at what arrives at a socket until the reply is there."""

    __slots__ = ("_asked", "_bad", "_ident", "_socket", "reply")

    def __init__(self, asking: socket.socket, ident: int, asked: Asked, reply: asyncio.Future[Reply | None]) -> None:
        self._socket = asking
        self._ident = ident.to_bytes(2)
        self._asked = asked
        self._bad = 0
        self.reply = reply

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
