"""Octets to and from a server, as clients that know no library would send them."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable
from contextlib import suppress

import dns.message

from tests.support.process import PATIENCE_SECONDS, Running, free_port

WEB = "web.shop.svc.cluster.local."
_TRIES = 50


def port_free_everywhere() -> int:
    """A port that is free on every address of the machine, for UDP and TCP."""
    for _ in range(_TRIES):
        port = free_port()
        try:
            for family, host in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
                for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
                    with socket.socket(family, kind) as probe:
                        if family == socket.AF_INET6:
                            probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                        probe.bind((host, port))
        except OSError:
            continue
        return port
    raise AssertionError("no port is free on every address")


def query(name: str = WEB, rdtype: str = "A", number: int = 1) -> bytes:
    """A query without EDNS."""
    return dns.message.make_query(name, rdtype, id=number).to_wire()


def framed(*messages: bytes) -> bytes:
    """Messages as they follow each other over TCP."""
    return b"".join(struct.pack("!H", len(message)) + message for message in messages)


def over_udp(server: Running, message: bytes) -> bytes:
    """The reply to a datagram."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(PATIENCE_SECONDS)
        client.connect((server.address, server.port))
        client.send(message)
        return client.recv(65535)


def connect(server: Running, source: str = "127.0.0.1") -> socket.socket:
    """A connection from ``source``."""
    return socket.create_connection((server.address, server.port), PATIENCE_SECONDS, (source, 0))


def send(client: socket.socket, octets: bytes, *, is_last: bool = False) -> None:
    """Send to a server that may have closed, and no more where it ``is_last``."""
    with suppress(ConnectionError):
        client.sendall(octets)
    if is_last:
        with suppress(OSError):
            client.shutdown(socket.SHUT_WR)


def rest(connection: socket.socket) -> list[bytes]:
    """The messages that come until the server closes; it may do so without reading what was sent."""
    stream = bytearray()
    with suppress(ConnectionError):
        while more := connection.recv(65535):
            stream += more
    found = []
    while stream:
        end = 2 + int.from_bytes(stream[:2])
        found.append(bytes(stream[2:end]))
        assert len(found[-1]) == end - 2
        del stream[:end]
    return found


def wait_until(claim: Callable[[], bool]) -> None:
    """Look until it is so."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not claim():
        assert time.monotonic() < deadline, "it did not come true"
        time.sleep(0.02)
