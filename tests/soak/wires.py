"""How questions get to the server and responses back: datagrams, or messages down a connection."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Protocol

from tests.support.process import PATIENCE_SECONDS

_PER_CONNECTION = 2000


class Wire(Protocol):
    """Messages to and from a server. ``takes``: one more may be sent before it is renewed."""

    socket: socket.socket

    @property
    def takes(self) -> bool: ...

    def send(self, message: bytes) -> None: ...

    def receive(self) -> Iterator[bytes]:
        """The messages that have come so far."""
        ...

    def renew(self) -> None:
        """Go on from another port; nothing may be on its way."""

    def close(self) -> None: ...


class UdpWire:
    """Datagrams."""

    takes = True

    def __init__(self, port: int) -> None:
        self._port = port
        self.socket = self._connected()

    def send(self, message: bytes) -> None:
        self.socket.send(message)

    def receive(self) -> Iterator[bytes]:
        while True:
            try:
                yield self.socket.recv(4096)
            except BlockingIOError:
                return

    def renew(self) -> None:
        self.close()
        self.socket = self._connected()

    def close(self) -> None:
        self.socket.close()

    def _connected(self) -> socket.socket:
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.connect(("127.0.0.1", self._port))
        made.setblocking(False)
        return made


class TcpWire:
    """One connection, for so many messages."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.socket = self._connected()
        self._sent = 0
        self._read = b""

    @property
    def takes(self) -> bool:
        return self._sent < _PER_CONNECTION

    def send(self, message: bytes) -> None:
        self._sent += 1
        self.socket.sendall(len(message).to_bytes(2) + message)

    def receive(self) -> Iterator[bytes]:
        octets = self.socket.recv(1 << 16)
        if not octets:
            raise ConnectionError("the server has closed a connection with questions on it")
        self._read += octets
        while len(self._read) >= 2 and len(self._read) >= (end := 2 + int.from_bytes(self._read[:2])):
            message, self._read = self._read[2:end], self._read[end:]
            yield message

    def renew(self) -> None:
        self.close()
        self.socket = self._connected()
        self._sent = 0

    def close(self) -> None:
        self.socket.close()

    def _connected(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self._port), PATIENCE_SECONDS)
