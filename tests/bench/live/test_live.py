"""That a cluster is followed through the API and measured, on one too small to say anything of speed."""

from __future__ import annotations

import pytest

from tests.bench.live.measures import (
    BARE,
    OWN,
    Churn,
    Cost,
    Delay,
    LiveCluster,
    LiveStart,
    measure_costs,
    measure_delays,
    measure_live_starts,
)
from tests.bench.report import live_lines

SERVICES, ENDPOINTS = 20, 3


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> LiveCluster:
    return LiveCluster.written(tmp_path_factory.mktemp("live") / "pages", SERVICES, ENDPOINTS)


def test_each_object_has_a_cost(cluster: LiveCluster) -> None:
    found = measure_costs(cluster)
    assert {plural: cost.objects for plural, cost in found.items()} == {"services": 20, "endpointslices": 20}
    assert all(0 < cost.decode < cost.store for cost in found.values())


def test_both_start(cluster: LiveCluster) -> None:
    found = measure_live_starts(cluster, rounds=1)
    assert set(found) == {BARE, OWN}
    assert all(start.cpu_seconds > 0 and start.octets > 1 << 20 for start in found.values())


def test_every_change_is_answered(cluster: LiveCluster) -> None:
    found = measure_delays(cluster, Churn(rate=100, seconds=0.5))
    assert {peer: (len(delay.seconds), delay.is_whole) for peer, delay in found.items()} == {
        BARE: (50, True), OWN: (50, True),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("milliseconds", "lost", "octets", "unmet"),
    [(49, 0, 239, 0), (51, 0, 239, 1), (49, 1, 239, 1), (49, 0, 240, 1), (51, 1, 240, 3)],
)
def test_aims_that_are_missed_are_told(milliseconds: int, lost: int, octets: int, unmet: int) -> None:
    start, delay = LiveStart(1.0, 1.0, octets << 20, 0), Delay([milliseconds / 1000] * 100, 100, lost, 0)
    lines = list(live_lines({"services": Cost(1, 1.0, 2.0)}, {OWN: start}, {OWN: delay}))
    assert sum(line.endswith("NOT MET") for line in lines) == unmet
