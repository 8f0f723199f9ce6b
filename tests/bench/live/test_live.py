"""That the parts of the bench that follow an API server work, on a cluster too small to say anything of speed."""

from __future__ import annotations

import pytest

from tests.bench.big_cluster import big_services
from tests.bench.live.churn import changes
from tests.bench.live.measures import (
    BARE,
    OWN,
    Churn,
    Delay,
    LiveCluster,
    LiveStart,
    measure_costs,
    measure_delays,
    measure_live_starts,
)
from tests.bench.live.report import cost_lines, delay_lines, live_start_lines

SERVICES, ENDPOINTS = 600, 2
"""More than a page holds."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> LiveCluster:
    return LiveCluster.written(tmp_path_factory.mktemp("live") / "pages", SERVICES, ENDPOINTS)


def test_both_follow_the_whole_cluster(cluster: LiveCluster) -> None:
    starts = measure_live_starts(cluster, rounds=1)
    assert all(start.peak_octets >= start.octets > 1 << 20 and start.cpu_seconds > 0 for start in starts.values())
    assert [line.split()[0] for line in live_start_lines(starts)] == ["lists", "bare", "kubedns", "times", "through"]


def test_an_object_costs_more_to_store_than_to_decode(cluster: LiveCluster) -> None:
    costs = measure_costs(cluster)
    assert {plural: cost.objects for plural, cost in costs.items()} == dict.fromkeys(
        ("services", "endpointslices"), SERVICES
    )
    assert all(0 < cost.decode < cost.store for cost in costs.values())
    assert len(list(cost_lines(costs))) == 3


def test_every_change_is_seen_and_no_query_is_lost(cluster: LiveCluster) -> None:
    churn = Churn(rate=200, seconds=1)
    delays = measure_delays(cluster, churn)
    assert list(delays) == [BARE, OWN]
    for delay in delays.values():
        assert (len(delay.seconds), delay.lost, delay.unseen) == (200, 0, 0)
        assert delay.asked > 200
    assert list(delay_lines(delays, churn))[-1].endswith("  0  met")


def test_no_two_changes_have_the_same_answer() -> None:
    planned = changes(big_services(20, ENDPOINTS), 100)
    assert len({change.address for change in planned}) == len({change.event for change in planned}) == 100
    assert {change.plural for change in planned} == {"services", "endpointslices"}


def test_what_misses_its_aim_is_said_to() -> None:
    seconds = [0.001] * 95 + [0.1] * 5
    delays = {BARE: Delay([0.001] * 100, 100, 0, 0), OWN: Delay(seconds, 200, 1, 0)}
    *_, longest, lost = delay_lines(delays, Churn(1000, 1))
    assert longest.split()[-3:] == ["100.0", "NOT", "MET"]
    assert lost.split()[-3:] == ["1", "NOT", "MET"]
    starts = {BARE: LiveStart(1, 1, 1 << 20, 1 << 20), OWN: LiveStart(4, 4, 241 << 20, 250 << 20)}
    *_, ratio, memory = live_start_lines(starts)
    assert ratio.split()[-1] == "4.0"
    assert memory.split()[-3:] == ["241", "NOT", "MET"]
