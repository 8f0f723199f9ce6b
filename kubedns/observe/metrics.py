"""Counters of what is answered: plain numbers, added to without locks or label look-ups.

A cached answer counts its own hits and hands them in by the dozen, so that counting costs a fraction of answering.
"""

from __future__ import annotations

import errno
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

DURATION_SECONDS: tuple[float, ...] = tuple(0.00025 * 2**n for n in range(16))
SIZE_OCTETS: tuple[float, ...] = (
    0, 100, 200, 300, 400, 511, 1023, 2047, 4095, 8291, 16_000, 32_000, 48_000, 64_000,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Metric:
    """One row of what is reported: ``name`` ends in the unit or in ``total``; ``labels`` are bounded in number."""

    name: str
    labels: tuple[str, ...]
    help: str


REQUESTS = Metric("coredns_dns_requests_total", ("server", "zone", "view", "proto", "family", "type"), "Queries read.")
RESPONSES = Metric("coredns_dns_responses_total", ("server", "zone", "view", "rcode", "plugin"), "Responses sent.")
DO_REQUESTS = Metric("coredns_dns_do_requests_total", ("server", "zone", "view"), "Queries with the DO bit.")
DURATION = Metric("coredns_dns_request_duration_seconds", ("server", "zone", "view"), "Time from query to response.")
REQUEST_SIZE = Metric("coredns_dns_request_size_bytes", ("server", "zone", "view", "proto"), "Octets of queries.")
RESPONSE_SIZE = Metric("coredns_dns_response_size_bytes", ("server", "zone", "view", "proto"), "Octets of responses.")
PANICS = Metric("coredns_panics_total", (), "Queries answered SERVFAIL because of an error in the program.")
PLUGINS = Metric("coredns_plugin_enabled", ("server", "zone", "view", "name"), "Plugins of each server block.")
BUILD = Metric("coredns_build_info", ("version", "revision", "goversion"), "1, with what runs as labels.")
ANSWERS_KEPT = Metric("kubedns_answers_kept", (), "Finished answers in the answer cache.")
SOURCE_AGE = Metric("kubedns_source_age_seconds", ("source",), "Seconds since a source was last seen to be current.")
TRANSPORT_ERRORS = Metric(
    "kubedns_transport_errors_total", ("server", "proto", "error"), "What the system refused to a listener."
)
TRANSPORT_LIMITS = Metric(
    "kubedns_transport_limits_total", ("server", "proto", "limit"), "How often a limit of a listener was reached."
)
METRICS = (
    REQUESTS, RESPONSES, DO_REQUESTS, DURATION, REQUEST_SIZE, RESPONSE_SIZE, PANICS, PLUGINS, BUILD, ANSWERS_KEPT,
    SOURCE_AGE, TRANSPORT_ERRORS, TRANSPORT_LIMITS,
)  # fmt: skip


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


class Labels(NamedTuple):
    """What tells responses of one listener apart: the zone that matched, the type asked, what came of it and whence."""

    zone: str
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
        self.zones: dict[str, ZoneMetrics] = {}
        self._ready_durations = Histogram(DURATION_SECONDS)
        self._ready_counts: dict[str, int] = {}

    def count(self, labels: Labels, request_octets: int, response_octets: int, count: int) -> None:
        """``count`` responses alike were sent."""
        if not count:
            return
        self.responses[labels] = self.responses.get(labels, 0) + count
        zone = self._zone(labels.zone)
        zone.request_octets.add(request_octets, count)
        zone.response_octets.add(response_octets, count)
        self._ready_counts[labels.zone] = self._ready_counts.get(labels.zone, 0) + count

    def took(self, zone: str, seconds: float) -> None:
        """A response that had to be worked out took so long; it is counted besides."""
        self._zone(zone).durations.add(seconds)
        self._ready_counts[zone] = self._ready_counts.get(zone, 0) - 1

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
        for zone, count in counts.items():
            part = _part(left, total, min(count, total))
            histogram = self._zone(zone).durations
            histogram.counts = [old + new for old, new in zip(histogram.counts, part, strict=True)]
            histogram.sum += durations.sum * sum(part) / max(durations.count, 1)
            left = [old - new for old, new in zip(left, part, strict=True)]
            total -= sum(part)

    def _zone(self, name: str) -> ZoneMetrics:
        zone = self.zones.get(name)
        if zone is None:
            zone = self.zones[name] = ZoneMetrics()
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
class Metrics:
    """Everything that the process counts. ``panics``: queries that an error in the program answered with SERVFAIL."""

    responders: list[ResponderMetrics] = field(default_factory=list)
    transports: list[TransportMetrics] = field(default_factory=list)
    panics: int = 0

    def transport(self, server: str, proto: str) -> TransportMetrics:
        """New counters for one listener's troubles."""
        counters = TransportMetrics(server, proto)
        self.transports.append(counters)
        return counters

    def responder(self, server: str, proto: str, family: int) -> ResponderMetrics:
        """New counters for one listener."""
        counters = ResponderMetrics(server, proto, family)
        self.responders.append(counters)
        return counters
