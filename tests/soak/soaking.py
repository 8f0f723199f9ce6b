"""The soak: rounds of questions on all streams while manifests change, and what the server holds after each."""

from __future__ import annotations

import select
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from random import Random

from tests.soak.questions import inside, known_outside, new_outside, outside_name
from tests.soak.site import Site
from tests.soak.stream import Stream
from tests.soak.wires import TcpWire, UdpWire
from tests.support.footprint import Footprint, footprint
from tests.support.process import PATIENCE_SECONDS, Running

_CHANGE_SECONDS = 2.0
_MAX_FILES_MORE = 4
SHARES = {"inside, UDP": 0.83, "inside, TCP": 0.05, "outside, known": 0.11, "outside, new": 0.01}
"""What each stream asks of a round."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A round: how many were asked in how long, and what the server holds once all is quiet."""

    asked: int
    seconds: float
    cpu_seconds: float
    held: Footprint

    def __str__(self) -> str:
        rate = self.asked / self.seconds
        return (
            f"{self.asked:>9,} in {self.seconds:6.1f} s, {rate:>7,.0f}/s, {self.cpu_seconds:5.1f} s of CPU: {self.held}"
        )


class Soak:
    """Asks ``server``, which serves ``site``, by ``streams``."""

    def __init__(self, server: Running, site: Site, streams: dict[str, Stream]) -> None:
        self.streams = streams
        self._server = server
        self._site = site

    def round(self, count: int, most_files: int | None = None) -> Reading:
        """Ask ``count`` questions, and wait until no more than about ``most_files`` files are open.

        Raises:
            AssertionError: a change of the manifests was not seen.
        """
        began, spent = time.monotonic(), self._cpu_seconds()
        shares = {name: max(int(count * share), 1) for name, share in SHARES.items()}
        for name, share in shares.items():
            self.streams[name].begin(share)
        self._pump_all()
        seconds = time.monotonic() - began
        self._site.await_change(self._server)
        held = self._quiet(most_files)
        return Reading(sum(shares.values()), seconds, held.cpu_seconds - spent, held)

    def faults(self) -> list[str]:
        """What should not have been, in words."""
        tallies = {name: stream.tally for name, stream in self.streams.items()}
        found = [f"{name}: {tally.lost} lost, {tally.wrong} wrong" for name, tally in tallies.items() if tally.told]
        return found + [line for tally in tallies.values() for line in tally.told]

    def _pump_all(self) -> None:
        change = time.monotonic() + _CHANGE_SECONDS
        while busy := {stream.wire.socket: stream for stream in self.streams.values() if not stream.is_done}:
            ready, _, _ = select.select(list(busy), [], [], 0.2)
            for socket in ready:
                busy[socket].pump()
            now = time.monotonic()
            if now >= change:
                self._site.change()
                for stream in busy.values():
                    stream.give_up(now)
                change = now + _CHANGE_SECONDS

    def _quiet(self, most_files: int | None) -> Footprint:
        """What the server holds when what it asks in the background has ended, if it ends."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        held = footprint(self._server.process.pid)
        while most_files is not None and held.files > most_files + _MAX_FILES_MORE and time.monotonic() < deadline:
            time.sleep(0.1)
            held = footprint(self._server.process.pid)
        return held

    def _cpu_seconds(self) -> float:
        return footprint(self._server.process.pid).cpu_seconds


def growth(warm: Footprint, held: Footprint) -> tuple[int, int]:
    """KiB and files more than before, of which the files are counted past the few that come and go."""
    return held.memory_kib - warm.memory_kib, max(held.files - warm.files - _MAX_FILES_MORE, 0)


@contextmanager
def soaking(server: Running, site: Site, seed: int = 0) -> Iterator[Soak]:
    """A soak that has asked every known name of the outside once."""
    random = Random(seed)
    known = list(known_outside())
    for number in range(len(known)):
        _await_outside(server, number)
    order = random.choices(known, k=20 * len(known))
    made = {
        "inside, UDP": Stream(UdpWire(server.port), inside(site.services, random), 100),
        "inside, TCP": Stream(TcpWire(server.port), inside(site.services, random), 20),
        "outside, known": Stream(UdpWire(server.port), cycle(order), 20),
        "outside, new": Stream(UdpWire(server.port), new_outside(), 50),
    }
    try:
        yield Soak(server, site, made)
    finally:
        for stream in made.values():
            stream.wire.close()


def _await_outside(server: Running, number: int) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not server.ask(outside_name(number)).answer:
        assert time.monotonic() < deadline, f"{outside_name(number)} is not answered"
