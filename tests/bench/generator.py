"""A load generator of our own, for machines without dnsperf: so many queries in flight, the next as one is answered.

``python -m tests.bench.generator PORT FILE SECONDS PASSES udp|tcp EDNS`` prints completed and lost queries, and how
many responses there were of each code.
"""

from __future__ import annotations

import json
import socket
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, repeat
from pathlib import Path

from kubedns.dns.answer import Rcode
from kubedns.dns.names import parse_name
from kubedns.dns.rdata import type_number

_IN_FLIGHT = 100
_PATIENCE_SECONDS = 10.0
_KEPT_OCTETS = 1 << 20  # the kernel counts over 2 KiB for each response, and its own default is less than 100 of them
_OPT_1232 = b"\x00\x00\x29\x04\xd0\x00\x00\x00\x00\x00\x00"


@dataclass(slots=True)
class Tally:
    """What became of the queries."""

    completed: int = 0
    lost: int = 0
    rcodes: Counter[str] = field(default_factory=Counter)

    def count(self, response: bytes) -> None:
        self.completed += 1
        self.rcodes[Rcode(response[3] & 0x0F).name] += 1


def query_octets(line: str, edns: bool) -> bytes:
    """The query that a line ``NAME TYPE`` stands for, after its ID."""
    name, type_text = line.split()
    labels = b"".join(bytes((len(label),)) + label for label in parse_name(name).labels)
    header = b"\x01\x00\x00\x01\x00\x00\x00\x00\x00" + (b"\x01" if edns else b"\x00")
    number = type_number(type_text)
    assert number is not None
    return header + labels + b"\x00" + number.to_bytes(2) + b"\x00\x01" + (_OPT_1232 if edns else b"")


def ask_udp(port: int, queries: Iterator[bytes]) -> Tally:
    """Send the queries as datagrams; what is not answered in ten seconds is lost."""
    tally = Tally()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _KEPT_OCTETS)
        udp.connect(("127.0.0.1", port))
        udp.settimeout(_PATIENCE_SECONDS)
        unanswered = 0
        for number, query in enumerate(queries):
            udp.send((number & 0xFFFF).to_bytes(2) + query)
            unanswered += 1
            while unanswered >= _IN_FLIGHT:
                unanswered = _receive(udp, tally, unanswered)
        while unanswered:
            unanswered = _receive(udp, tally, unanswered)
    return tally


def _receive(udp: socket.socket, tally: Tally, unanswered: int) -> int:
    """Take one response; how many are still to come."""
    try:
        tally.count(udp.recv(4096))
    except TimeoutError:
        tally.lost += unanswered
        return 0
    return unanswered - 1


def ask_tcp(port: int, queries: Iterator[bytes]) -> Tally:
    """Send the queries down one connection, without waiting for each response."""
    tally = Tally()
    with socket.create_connection(("127.0.0.1", port), _PATIENCE_SECONDS) as tcp, tcp.makefile("rb") as responses:
        unanswered = 0
        for number, query in enumerate(queries):
            tcp.sendall((len(query) + 2).to_bytes(2) + (number & 0xFFFF).to_bytes(2) + query)
            unanswered += 1
            if unanswered >= _IN_FLIGHT:
                tally.count(responses.read(int.from_bytes(responses.read(2))))
                unanswered -= 1
        for _ in range(unanswered):
            tally.count(responses.read(int.from_bytes(responses.read(2))))
    return tally


def until(deadline: float, queries: Iterator[bytes]) -> Iterator[bytes]:
    """The queries, as long as it is not yet ``deadline`` (monotonic seconds)."""
    for query in queries:
        if time.monotonic() > deadline:
            return
        yield query


def main(port: str, file: str, seconds: str, passes: str, transport: str, edns: str) -> None:
    """Ask what ``file`` holds so many times, or for so many seconds, whichever ends first."""
    prepared = [query_octets(line, edns == "edns") for line in Path(file).read_text().splitlines()]
    queries = until(time.monotonic() + float(seconds), chain.from_iterable(repeat(prepared, int(passes))))
    tally = ask_tcp(int(port), queries) if transport == "tcp" else ask_udp(int(port), queries)
    json.dump({"completed": tally.completed, "lost": tally.lost, "rcodes": tally.rcodes}, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
