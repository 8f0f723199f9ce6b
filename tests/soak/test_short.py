"""The short form of the soak, and that it would tell."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import dns.message
import dns.rcode
import pytest

from tests.soak.questions import question
from tests.soak.site import Site
from tests.soak.soaking import growth, soaking
from tests.soak.stream import Stream
from tests.soak.upstream import response
from tests.soak.wires import UdpWire
from tests.support.footprint import Footprint

QUERIES = 30_000
MOST_GROWTH_KIB = 24 << 10
"""Of a server whose caches are still filling."""


def test_a_server_answers_everything_and_holds_no_more_than_before(tmp_path: Path) -> None:
    site = Site(tmp_path)
    with site.served(fails_each=0.9) as server, soaking(server, site) as soak:
        warm = soak.round(QUERIES)
        last = soak.round(QUERIES, warm.held.files)
        assert soak.faults() == []
        kib, files = growth(warm.held, last.held)
        assert kib < MOST_GROWTH_KIB
        assert files == 0
        assert sum(stream.tally.answered for stream in soak.streams.values()) == warm.asked + last.asked
        assert server.stop() == 0


@pytest.mark.parametrize(
    ("name", "rdtype", "phase", "said"),
    [
        ("www.example.net.", "A", 0.1, ("NOERROR", 1, 0)),
        ("www.example.net.", "AAAA", 0.1, ("NOERROR", 0, 1)),
        ("no-1.example.net.", "A", 0.1, ("NXDOMAIN", 0, 1)),
        ("www.example.net.", "A", 0.75, None),
        ("www.example.net.", "A", 0.9, ("SERVFAIL", 0, 0)),
    ],
)
def test_the_upstream_is_well_silent_and_failing(
    name: str, rdtype: str, phase: float, said: tuple[str, int, int] | None
) -> None:
    octets = response(dns.message.make_query(name, rdtype).to_wire(), phase)
    if octets is None:
        assert said is None
        return
    read = dns.message.from_wire(octets)
    assert (dns.rcode.to_text(read.rcode()), len(read.answer), len(read.authority)) == said


def test_what_is_wrong_or_lost_is_told() -> None:
    with closing(_Echo()) as wire:
        stream = Stream(wire, iter([question("a.test. A"), question("b.test. A")]), 2)
        stream.begin(2)
        wire.come = [wire.sent[0][:2] + b"\x81\x83" + wire.sent[0][4:]]
        stream.pump()
        assert (stream.tally.wrong, stream.tally.lost, stream.is_done) == (1, 0, False)
        stream.give_up(float("inf"))
        assert (stream.tally.wrong, stream.tally.lost, stream.is_done) == (1, 1, True)
        assert len(stream.tally.told) == 2


def test_growth_is_of_memory_and_of_files_past_a_few() -> None:
    assert growth(Footprint(1000, 20, 0.0), Footprint(1500, 30, 0.0)) == (500, 6)
    assert growth(Footprint(1000, 20, 0.0), Footprint(900, 22, 0.0)) == (-100, 0)


class _Echo(UdpWire):
    """Keeps what is sent, and gives what is to come."""

    def __init__(self) -> None:
        super().__init__(9)
        self.sent: list[bytes] = []
        self.come: list[bytes] = []

    def send(self, message: bytes) -> None:
        self.sent.append(message)

    def receive(self) -> Iterator[bytes]:
        yield from self.come
