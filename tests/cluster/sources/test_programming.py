"""What counts as a change of endpoints, and how long it took into answers."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kubedns.cluster.bodies import Metadata
from kubedns.cluster.objects import EndpointSlice, Object, Pod, Service
from kubedns.cluster.sources.programming import TRIGGER_TIME, Programming
from kubedns.cluster.store import Store
from kubedns.observe.metrics import Metrics
from kubedns.observe.rows import PROGRAMMING_DURATION

NOW = datetime(2026, 3, 1, 12, 0, 10, tzinfo=UTC)
SLICE = EndpointSlice("shop", "db-1", "db", (), ())
CASES: dict[str, tuple[Object, str | None, list[float]]] = {
    "seconds": (SLICE, "2026-03-01T12:00:08Z", [2.0]),
    "nanoseconds": (SLICE, "2026-03-01T12:00:09.500000999Z", [0.5]),
    "another zone of time": (SLICE, "2026-03-01T13:00:06+01:00", [4.0]),
    "a clock that is ahead": (SLICE, "2026-03-01T12:05:00Z", [0.0]),
    "no note": (SLICE, None, []),
    "an empty note": (SLICE, "", []),
    "a note that is no time": (SLICE, "yesterday", []),
    "a Service with an address of its own": (EndpointSlice("shop", "web-1", "web", (), ()), "2026-03-01T12:00:08Z", []),
    "no Service": (EndpointSlice("shop", "gone-1", "gone", (), ()), "2026-03-01T12:00:08Z", []),
    "no slice": (Pod("shop", "db-0", "", ()), "2026-03-01T12:00:08Z", []),
}


@pytest.mark.parametrize("name", CASES)
def test_a_change_takes_from_its_note_until_now(name: str) -> None:
    item, noted, took = CASES[name]
    store, metrics = Store(), Metrics()
    store.upsert(Service("shop", "db", (), (), is_headless=True))
    store.upsert(Service("shop", "web", (b"\x0a\x60\x00\x01",), ()))
    annotations = None if noted is None else {TRIGGER_TIME: noted}
    Programming(store, metrics, NOW.timestamp).changed(Metadata("db-1", "shop", annotations=annotations), [item])
    found = metrics.histogram(PROGRAMMING_DURATION, "headless_with_selector")
    assert found.count == len(took)
    assert found.sum == pytest.approx(sum(took))


def test_the_buckets_are_those_that_dashboards_know() -> None:
    assert len(PROGRAMMING_DURATION.bounds) == 20
    assert PROGRAMMING_DURATION.bounds[:3] == (0.001, 0.002, 0.004)
