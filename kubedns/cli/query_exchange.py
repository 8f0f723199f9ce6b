"""One question to one server, for ``kubedns query``: UDP, and TCP where the answer is cut off or it is asked for."""

from __future__ import annotations

import socket
import time
from dataclasses import dataclass

import dns.exception
import dns.flags
import dns.message
import dns.query

from kubedns.errors import UnreachableError


@dataclass(frozen=True, slots=True)
class Server:
    """Where to ask: an address as text, a port, and for how many seconds to wait."""

    address: str
    port: int
    timeout_seconds: float

    def __str__(self) -> str:
        return f"[{self.address}]:{self.port}" if ":" in self.address else f"{self.address}:{self.port}"


@dataclass(frozen=True, slots=True)
class Exchange:
    """A response, how it came and how long it took; ``was_truncated``: UDP was tried before TCP."""

    response: dns.message.Message
    server: Server
    transport: str
    seconds: float
    was_truncated: bool = False


def ask(query: dns.message.Message, server: Server, tcp: bool) -> Exchange:
    """The server's response.

    Raises:
        UnreachableError: none came in time, nothing listens there, or it was no DNS message.
    """
    transport = "tcp" if tcp else "udp"
    try:
        if tcp:
            return _timed(query, server, "tcp")
        exchange = _timed(query, server, "udp")
        if not exchange.response.flags & dns.flags.TC:
            return exchange
        transport = "tcp"
        return _timed(query, server, "tcp", was_truncated=True)
    except dns.exception.Timeout as error:
        text = f"no response from {server} over {transport} within {server.timeout_seconds:g} s"
        raise UnreachableError(text, remedy="is it running there?") from error
    except ConnectionRefusedError as error:
        text = f"nothing listens on {server} ({transport})"
        raise UnreachableError(text, remedy="kubedns serve starts a server") from error
    except (OSError, EOFError) as error:
        raise UnreachableError(f"{server} cannot be reached over {transport}: {error}") from error
    except dns.exception.DNSException as error:
        raise UnreachableError(f"{server} answered with no proper DNS message: {error}") from error


def _timed(query: dns.message.Message, server: Server, transport: str, was_truncated: bool = False) -> Exchange:
    started = time.perf_counter()
    if transport == "tcp":
        response = dns.query.tcp(query, server.address, timeout=server.timeout_seconds, port=server.port)
    else:
        response = _ask_by_udp(query, server)
    return Exchange(response, server, transport, time.perf_counter() - started, was_truncated)


def _ask_by_udp(query: dns.message.Message, server: Server) -> dns.message.Message:
    """Over a connected socket, so that a port where nothing listens is told at once and not by silence."""
    family = socket.AF_INET6 if ":" in server.address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as connected:
        connected.connect((server.address, server.port))
        connected.setblocking(False)
        expires = time.time() + server.timeout_seconds  # noqa: TID251 - dnspython counts in the time of day
        dns.query.send_udp(connected, query, None, expires)
        received = dns.query.receive_udp(connected, None, expires, ignore_errors=True, query=query)
    response = received[0]
    assert isinstance(response, dns.message.Message)
    return response
