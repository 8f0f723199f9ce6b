"""An onslaught of messages on a server process, and what must hold afterwards: it lives, answers, has not grown."""

from __future__ import annotations

import re
import socket
import struct
from collections import Counter
from dataclasses import dataclass, field

import dns.message
import dns.rcode

from tests.fuzz.messages import GOOD_NAME, Messages
from tests.support.footprint import Footprint, footprint
from tests.support.process import PATIENCE_SECONDS, Running

BATCH = 64
"""Datagrams sent before a good query is asked; few enough for the smallest receive buffer."""
STREAM_MESSAGES = 4
"""On one connection; few, since the first one that gets no answer ends it."""
_MAX_FILES_MORE = 4
_TRIES = 20
_BAD_LOG = re.compile(r"Traceback|error while|Exception|Task was destroyed", re.IGNORECASE)
_GOOD = dns.message.make_query(GOOD_NAME, "A", id=0x600D)


@dataclass(slots=True)
class Onslaught:
    """Messages sent to ``server``, and ``reactions`` by rcode."""

    server: Running
    messages: Messages
    reactions: Counter[str] = field(default_factory=Counter)

    def fill_cache(self, count: int) -> None:
        """Ask ``count`` names for the first time over each transport, so that the answer cache is full."""
        for _ in range(0, count, BATCH):
            self._send_datagrams([self.messages.unheard_of() for _ in range(BATCH)])
        for _ in range(0, count, BATCH):
            self._send_stream(_framed([self.messages.unheard_of() for _ in range(BATCH)]), "127.0.0.1")

    def over_udp(self, count: int) -> None:
        """Send at least ``count`` datagrams; after each batch a good query must be answered."""
        for _ in range(0, count, BATCH):
            self._send_datagrams([self.messages.next() for _ in range(BATCH)])

    def over_tcp(self, count: int) -> None:
        """Send at least ``count`` messages, some on each connection; now and then a good query must be answered."""
        for number in range(0, count, STREAM_MESSAGES):
            most = 65535 if number % 50 == 0 else 1024
            batch = [self.messages.next(most) for _ in range(STREAM_MESSAGES)]
            stream = _framed(batch)
            if number % 7 == 0:
                stream = stream[: len(stream) // 2]  # an end in the middle
            self._send_stream(stream, f"127.0.1.{number // STREAM_MESSAGES % 250 + 1}", is_reset=number % 11 == 0)
            if number % (STREAM_MESSAGES * 50) == 0:
                self._answers_good_stream()

    def settled(self, before: Footprint, most_growth_kib: int) -> Footprint:
        """What the server holds afterwards.

        Raises:
            AssertionError: it has grown by more than ``most_growth_kib``, or has logged an error.
        """
        log = self.server.log.read_text()
        found = _BAD_LOG.search(log)
        assert found is None, log[max(0, found.start() - 2000) : found.start() + 4000]
        after = footprint(self.server.process.pid)
        assert after.memory_kib - before.memory_kib < most_growth_kib, f"{before} became {after}"
        assert after.files - before.files <= _MAX_FILES_MORE, f"{before} became {after}"
        return after

    def _send_datagrams(self, batch: list[bytes]) -> None:
        with _datagrams(self.server) as flood:
            for message in batch:
                flood.send(message)
            self._answers_good_datagram(batch)
            flood.setblocking(False)
            try:
                while True:
                    self._note(flood.recv(65535))
            except BlockingIOError:
                return

    def _answers_good_datagram(self, batch: list[bytes]) -> None:
        for _ in range(_TRIES):
            with _datagrams(self.server) as asker:
                asker.settimeout(PATIENCE_SECONDS / _TRIES)
                asker.send(_GOOD.to_wire())
                try:
                    self._is_good(asker.recv(65535))
                except TimeoutError:
                    continue
                return
        raise AssertionError(f"no answer after {[message.hex() for message in batch]}")

    def _send_stream(self, stream: bytes, source: str, *, is_reset: bool = False) -> None:
        server = (self.server.address, self.server.port)
        with socket.create_connection(server, PATIENCE_SECONDS, (source, 0)) as connection:
            try:
                connection.sendall(stream)
                if is_reset:
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    return
                connection.shutdown(socket.SHUT_WR)
                with connection.makefile("rb") as responses:
                    while head := responses.read(2):
                        self._note(responses.read(int.from_bytes(head)))
            except TimeoutError:
                raise
            except OSError:
                self.reactions["closed"] += 1  # while more was on its way, after a message that gets no answer

    def _answers_good_stream(self) -> None:
        response = self.server.ask(GOOD_NAME, tcp=True)
        assert response.answer, response

    def _note(self, response: bytes) -> None:
        assert len(response) >= 12
        assert response[2] & 0x80, f"no response: {response.hex()}"
        self.reactions[dns.rcode.to_text(dns.rcode.Rcode(response[3] & 15))] += 1

    @staticmethod
    def _is_good(octets: bytes) -> None:
        response = dns.message.from_wire(octets)
        assert response.id == _GOOD.id
        assert response.answer, response


def _framed(batch: list[bytes]) -> bytes:
    return b"".join(struct.pack("!H", len(message)) + message for message in batch)


def _datagrams(server: Running) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.connect((server.address, server.port))
    return made
