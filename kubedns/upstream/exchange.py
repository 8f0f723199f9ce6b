"""One query to one server: over UDP from a port of its own, over TCP where the reply is cut or UDP is under attack.

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
    """A server that is asked."""

    host: str
    port: int = 53

    def __str__(self) -> str:
        return f"{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked: the question section, and the two of the client's flags that change the answer.

    ``edns``: whether an OPT goes with it, which some old servers do not bear.
    """

    question: bytes
    dnssec_ok: bool = False
    checking_disabled: bool = False
    edns: bool = True


class UpstreamError(Exception):
    """No usable reply; ``str()`` says why."""


async def ask(address: UpstreamAddress, asked: Asked, over_tcp: bool) -> Reply:
    """The server's reply, whole. How long it may take is the caller's to decide.

    Raises:
        UpstreamError: the server cannot be reached, or says what cannot be read.
    """
    try:
        if not over_tcp:
            reply = await _ask_udp(address, asked)
            if reply is not None and not reply.truncated:
                return reply
        return await _ask_tcp(address, asked)
    except (OSError, EOFError) as error:
        raise UpstreamError(f"{address}: {error}") from error


async def _ask_udp(address: UpstreamAddress, asked: Asked) -> Reply | None:
    """The reply over UDP; None after too many that are none."""
    loop = asyncio.get_running_loop()
    ident = secrets.randbits(16)
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as asking:
        asking.setblocking(False)
        asking.connect((address.host, address.port))
        await loop.sock_sendall(asking, _query(ident, asked))
        for _ in range(_BAD_REPLIES):
            reply = _matching(await loop.sock_recv(asking, _DATAGRAM_OCTETS), ident, asked)
            if reply is not None:
                return reply
    return None


async def _ask_tcp(address: UpstreamAddress, asked: Asked) -> Reply:
    ident = secrets.randbits(16)
    reader, writer = await asyncio.open_connection(address.host, address.port)
    try:
        query = _query(ident, asked)
        writer.write(len(query).to_bytes(2) + query)
        length = int.from_bytes(await reader.readexactly(2))
        reply = _matching(await reader.readexactly(length), ident, asked)
    finally:
        writer.close()
    if reply is None:
        raise UpstreamError(f"{address}: the reply over TCP is not to what was asked")
    return reply


def _query(ident: int, asked: Asked) -> bytes:
    return query_octets(ident, asked.question, asked.dnssec_ok, asked.checking_disabled, asked.edns)


def _matching(octets: bytes, ident: int, asked: Asked) -> Reply | None:
    """The reply, if it is to our query."""
    if octets[:2] != ident.to_bytes(2):
        return None
    try:
        reply = read_reply(octets)
    except UnreadableReplyError:
        return None
    is_formerr = reply.rcode == Rcode.FORMERR and not reply.question
    return reply if is_formerr or reply.question == asked.question else None
