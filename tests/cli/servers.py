"""A DNS server for the client's tests: answers UDP and TCP as it is told."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import dns.message

from tests.support.process import free_port

Respond = Callable[[dns.message.Message, bool], bytes]
"""What to send for a query that came over TCP or not."""


@contextmanager
def answering(respond: Respond) -> Iterator[int]:
    """A server on a free port of 127.0.0.1 that serves one client at a time."""
    port = free_port()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp, socket.create_server(("127.0.0.1", port)) as tcp:
        udp.bind(("127.0.0.1", port))
        threads = [
            threading.Thread(target=_serve_udp, args=(udp, respond)),
            threading.Thread(target=_serve_tcp, args=(tcp, respond)),
        ]
        for thread in threads:
            thread.start()
        try:
            yield port
        finally:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as waker:
                waker.sendto(b"", ("127.0.0.1", port))
            socket.create_connection(("127.0.0.1", port)).close()
            for thread in threads:
                thread.join()


def _serve_udp(udp: socket.socket, respond: Respond) -> None:
    while True:
        octets, client = udp.recvfrom(4096)
        if not octets:
            return
        udp.sendto(respond(dns.message.from_wire(octets), False), client)


def _serve_tcp(tcp: socket.socket, respond: Respond) -> None:
    while True:
        connection, _ = tcp.accept()
        with connection, connection.makefile("rb") as stream:
            head = stream.read(2)
            if not head:
                return
            response = respond(dns.message.from_wire(stream.read(*struct.unpack("!H", head))), True)
            connection.sendall(struct.pack("!H", len(response)) + response)
