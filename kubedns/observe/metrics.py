"""Counters of what is answered: plain numbers, added to without locks or label look-ups.

A cached answer counts its own hits and hands them in by the dozen, so that counting costs a fraction of answering.
"""

from __future__ import annotations

import errno
from bisect import bisect_left
from collections.abc import Iterator, Sequence
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
METRICS = (REQUESTS, RESPONSES, DO_REQUESTS, DURATION, REQUEST_SIZE, RESPONSE_SIZE, PANICS)


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


@dataclass(slots=True)
class ResponderMetrics:
    """What one listener of ``server`` answered over ``proto`` to clients of ``family`` (1: IPv4, 2: IPv6)."""

    server: str
    proto: str
    family: int
    responses: dict[Labels, int] = field(default_factory=dict)
    request_octets: Histogram = field(default_factory=lambda: Histogram(SIZE_OCTETS))
    response_octets: Histogram = field(default_factory=lambda: Histogram(SIZE_OCTETS))
    durations: Histogram = field(default_factory=lambda: Histogram(DURATION_SECONDS))

    def count(self, labels: Labels, request_octets: int, response_octets: int, count: int) -> None:
        """``count`` responses alike were sent."""
        if not count:
            return
        self.responses[labels] = self.responses.get(labels, 0) + count
        self.request_octets.add(request_octets, count)
        self.response_octets.add(response_octets, count)


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

    def responses(self) -> Iterator[tuple[ResponderMetrics, Labels, int]]:
        """Every count of responses, with its listener."""
        for counters in self.responders:
            for labels, count in counters.responses.items():
                yield counters, labels, count
