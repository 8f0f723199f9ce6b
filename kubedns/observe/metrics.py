"""Counters of what is answered: plain numbers, added to without locks or label look-ups.

A cached answer counts its own hits and hands them in by the dozen, so that counting costs a fraction of answering.
"""

from __future__ import annotations

import errno
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kubedns.observe.rows import DURATION_SECONDS, SIZE_OCTETS, Distribution, Metric


class Histogram:
    """Counts of values up to each bound, and their sum. ``counts`` has one cell more than ``bounds``, for the rest."""

    __slots__ = ("bounds", "counts", "sum")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def add(self, value: float, count: int = 1) -> None:
        """``count`` observations of ``value``."""
        self.counts[bisect_left(self.bounds, value)] += count
        self.sum += value * count

    @property
    def count(self) -> int:
        """How many observations there were."""
        return sum(self.counts)


class Where(NamedTuple):
    """What answers: the server block's zone, and its view if it has one."""

    zone: str
    view: str = ""

    def __str__(self) -> str:
        return f"{self.zone} (view {self.view})" if self.view else self.zone


class Labels(NamedTuple):
    """What tells responses of one listener apart: where they are from, the type asked, what came of it and whence."""

    where: Where
    type: str
    rcode: str
    plugin: str
    dnssec_ok: bool


class ZoneMetrics:
    """What was answered for the names of one zone: octets read and written, and the seconds in between."""

    __slots__ = ("durations", "request_octets", "response_octets")

    def __init__(self) -> None:
        self.request_octets = Histogram(SIZE_OCTETS)
        self.response_octets = Histogram(SIZE_OCTETS)
        self.durations = Histogram(DURATION_SECONDS)


class ResponderMetrics:
    """What one listener of ``server`` answered over ``proto`` to clients of ``family`` (1: IPv4, 2: IPv6)."""

    __slots__ = ("_ready_counts", "_ready_durations", "family", "proto", "responses", "server", "zones")

    def __init__(self, server: str, proto: str, family: int) -> None:
        self.server = server
        self.proto = proto
        self.family = family
        self.responses: dict[Labels, int] = {}
        self.zones: dict[Where, ZoneMetrics] = {}
        self._ready_durations = Histogram(DURATION_SECONDS)
        self._ready_counts: dict[Where, int] = {}

    def count(self, labels: Labels, request_octets: int, response_octets: int, count: int) -> None:
        """``count`` responses alike were sent."""
        if not count:
            return
        self.responses[labels] = self.responses.get(labels, 0) + count
        zone = self._zone(labels.where)
        zone.request_octets.add(request_octets, count)
        zone.response_octets.add(response_octets, count)
        self._ready_counts[labels.where] = self._ready_counts.get(labels.where, 0) + count

    def took(self, where: Where, seconds: float) -> None:
        """A response that had to be worked out took so long; it is counted besides."""
        self._zone(where).durations.add(seconds)
        self._ready_counts[where] = self._ready_counts.get(where, 0) - 1

    def served(self, count: int, seconds: float) -> None:
        """``count`` responses (at least one) that were ready took so long together, whatever their zones."""
        self._ready_durations.add(seconds / count, count)

    def settle(self) -> None:
        """Give each zone its part of the durations of responses that were ready.

        The hot path does not ask which zone a ready response is of, so each zone gets of every duration in the
        proportion of its responses.
        """
        durations, counts = self._ready_durations, self._ready_counts
        self._ready_durations, self._ready_counts = Histogram(DURATION_SECONDS), {}
        left, total = list(durations.counts), durations.count
        for where, count in counts.items():
            part = _part(left, total, min(count, total))
            histogram = self._zone(where).durations
            histogram.counts = [old + new for old, new in zip(histogram.counts, part, strict=True)]
            histogram.sum += durations.sum * sum(part) / max(durations.count, 1)
            left = [old - new for old, new in zip(left, part, strict=True)]
            total -= sum(part)

    def _zone(self, where: Where) -> ZoneMetrics:
        zone = self.zones.get(where)
        if zone is None:
            zone = self.zones[where] = ZoneMetrics()
        return zone


def _part(cells: Sequence[int], total: int, count: int) -> list[int]:
    """``count`` of the ``total`` observations in ``cells``, of each cell in proportion."""
    if not total:
        return [0] * len(cells)
    part = [cell * count // total for cell in cells]
    lacking = count - sum(part)
    for place, cell in enumerate(cells):
        more = min(lacking, cell - part[place])
        part[place] += more
        lacking -= more
    return part


@dataclass(slots=True)
class TransportMetrics:
    """What a listener could not do. ``errors``: refusals of the system, by their name (ENOBUFS, EPERM, EMFILE ...).

    ``dropped``: queries left unanswered, and ``refused``: connections not taken, because a limit was reached.
    ``closed``: connections that were closed because of one, by its name.
    """

    server: str
    proto: str
    errors: dict[str, int] = field(default_factory=dict)
    dropped: int = 0
    refused: int = 0
    closed: dict[str, int] = field(default_factory=dict)
    panics: int = 0

    def failed(self, error: OSError) -> None:
        """The system refused something."""
        name = errno.errorcode.get(error.errno or 0, "other")
        self.errors[name] = self.errors.get(name, 0) + 1

    def limited(self, limit: str) -> None:
        """A connection was closed because of ``limit``."""
        self.closed[limit] = self.closed.get(limit, 0) + 1


@dataclass(slots=True)
class Cell:
    """One number that is reported: added to where something happens, or ``read`` when it is asked for."""

    value: float = 0.0
    read: Callable[[], float] | None = None

    def add(self, count: float = 1) -> None:
        """It happened ``count`` times more."""
        self.value += count


@dataclass(slots=True)
class Metrics:
    """Everything that the process counts. ``panics``: queries that an error in the program answered with SERVFAIL.

    ``cells`` and ``histograms`` are what plugins report, by row and labels. Whoever asks for one again, as the plugins
    of a changed configuration do, gets the same, so that nothing is counted from zero but by a new process.
    """

    responders: list[ResponderMetrics] = field(default_factory=list)
    transports: list[TransportMetrics] = field(default_factory=list)
    panics: int = 0
    cells: dict[Metric, dict[tuple[str, ...], Cell]] = field(default_factory=dict)
    histograms: dict[Distribution, dict[tuple[str, ...], Histogram]] = field(default_factory=dict)

    def cell(self, row: Metric, *labels: str) -> Cell:
        """The number that ``row`` reports under ``labels``, as many as it has; they must be bounded in number."""
        return self.cells.setdefault(row, {}).setdefault(labels, Cell())

    def histogram(self, row: Distribution, *labels: str) -> Histogram:
        """The histogram that ``row`` reports under ``labels``."""
        found = self.histograms.setdefault(row, {})
        if labels not in found:
            found[labels] = Histogram(row.bounds)
        return found[labels]

    def show(self, row: Distribution, histogram: Histogram, *labels: str) -> None:
        """Report ``histogram`` under ``row`` and ``labels`` too: one thing that goes by two names."""
        self.histograms.setdefault(row, {})[labels] = histogram

    def transport(self, server: str, proto: str) -> TransportMetrics:
        """New counters for one listener's troubles."""
        counters = TransportMetrics(server, proto)
        self.transports.append(counters)
        return counters

    def responder(self, server: str, proto: str, family: int) -> ResponderMetrics:
        """The counters of one listener; those that it had before the configuration changed, if it is not new."""
        for known in self.responders:
            if (known.server, known.proto, known.family) == (server, proto, family):
                return known
        counters = ResponderMetrics(server, proto, family)
        self.responders.append(counters)
        return counters
