"""What is counted of each upstream, under CoreDNS's names of today and those that dashboards still ask for."""

from __future__ import annotations

from typing import Protocol

from kubedns.dns.answer import rcode_name
from kubedns.observe.metrics import Histogram, Metrics
from kubedns.observe.rows import (
    FORWARD_DURATION,
    FORWARD_PROBE_FAILURES,
    FORWARD_REQUESTS,
    FORWARD_RESPONSES,
    PROXY_DURATION,
    PROXY_HITS,
    PROXY_MISSES,
    PROXY_PROBE_FAILURES,
)

_PROXY_NAME = "forward"


class UpstreamCounters(Protocol):
    """Is told what happens with one upstream."""

    def asked(self) -> None:
        """A question goes to it."""

    def replied(self, rcode: int, seconds: float) -> None:
        """A reply came, so long after the question."""

    def took_connection(self, kept: bool) -> None:
        """A question goes over a connection, ``kept`` from before or new."""

    def probe_failed(self) -> None:
        """A probe went unanswered."""


class _Nothing:
    def asked(self) -> None: ...
    def replied(self, rcode: int, seconds: float) -> None: ...
    def took_connection(self, kept: bool) -> None: ...
    def probe_failed(self) -> None: ...


NO_COUNTERS: UpstreamCounters = _Nothing()
"""Counts nothing."""


class ForwardCounters:
    """Counts for upstream ``to`` (the address), whose connections are over ``proto`` (tcp, tcp-tls)."""

    def __init__(self, metrics: Metrics, to: str, proto: str) -> None:
        self._metrics = metrics
        self._to = to
        self._requests = metrics.cell(FORWARD_REQUESTS, to)
        self._durations: dict[int, Histogram] = {}
        self._hits = metrics.cell(PROXY_HITS, _PROXY_NAME, to, proto)
        self._misses = metrics.cell(PROXY_MISSES, _PROXY_NAME, to, proto)
        self._probe_failures = (
            metrics.cell(FORWARD_PROBE_FAILURES, to),
            metrics.cell(PROXY_PROBE_FAILURES, _PROXY_NAME, to),
        )

    def asked(self) -> None:
        """A question goes to it."""
        self._requests.add()

    def replied(self, rcode: int, seconds: float) -> None:
        """A reply came, so long after the question."""
        durations = self._durations.get(rcode)
        if durations is None:
            durations = self._durations[rcode] = self._new(rcode_name(rcode))
        durations.add(seconds)

    def took_connection(self, kept: bool) -> None:
        """A question goes over a connection, ``kept`` from before or new."""
        (self._hits if kept else self._misses).add()

    def probe_failed(self) -> None:
        """A probe went unanswered."""
        for cell in self._probe_failures:
            cell.add()

    def _new(self, rcode: str) -> Histogram:
        """The one histogram that both names and the count of responses show."""
        durations = self._metrics.histogram(PROXY_DURATION, _PROXY_NAME, self._to, rcode)
        self._metrics.show(FORWARD_DURATION, durations, self._to, rcode)
        self._metrics.cell(FORWARD_RESPONSES, self._to, rcode).read = lambda: durations.count
        return durations
