"""That the bench's parts work, on rounds too short to say anything of speed."""

from __future__ import annotations

import io
import json
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bench.asking import ONCE, Ask, Length, ask_with_dnsperf, ask_with_generator, rate
from tests.bench.big_cluster import big_services, write_manifests
from tests.bench.generator import Tally
from tests.bench.loads import CACHED, HITS, Load, loads
from tests.bench.peers import KUBEDNS, Serving, installed, started, upstream
from tests.bench.processes import BenchError
from tests.bench.rates import Effort, measure_rates, prepare, wide_service
from tests.bench.report import rate_lines, scale_lines, warm_start_lines
from tests.bench.scale import Scale, Start, measure_scale
from tests.bench.warm_start import measure_warm_starts

SERVICES, ENDPOINTS = 20, 3
DNSPERF = pytest.param(
    ask_with_dnsperf, marks=pytest.mark.skipif(not shutil.which("dnsperf"), reason="no dnsperf here"), id="dnsperf"
)


LOADS = loads(big_services(SERVICES, ENDPOINTS), wide_service(SERVICES), rounds=2, missing=100)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder = tmp_path_factory.mktemp("bench")
    services, wide = big_services(SERVICES, ENDPOINTS), wide_service(SERVICES)
    with upstream(folder) as port, started(KUBEDNS, prepare(folder, services, wide, port)) as serving:
        yield serving


def test_the_cluster_has_what_it_should() -> None:
    file = io.StringIO()
    write_manifests(big_services(SERVICES, ENDPOINTS), file)
    items = json.loads(file.getvalue())["items"]
    services = [item for item in items if item["kind"] == "Service"]
    addresses = [
        endpoint["addresses"][0] for item in items if item["kind"] == "EndpointSlice" for endpoint in item["endpoints"]
    ]
    assert len(services) == SERVICES
    assert sum(service["spec"]["clusterIP"] == "None" for service in services) == SERVICES // 10
    assert len(set(addresses)) == len(addresses) == SERVICES * ENDPOINTS


@pytest.mark.parametrize("ask", [pytest.param(ask_with_generator, id="generator"), DNSPERF])
@pytest.mark.parametrize("load", LOADS, ids=lambda load: load.name)
def test_every_load_is_answered_as_it_should(ask: Ask, load: Load, server: Serving, tmp_path: Path) -> None:
    lines = load.asked(1)[:200]
    path = tmp_path / "queries"
    path.write_text("\n".join(lines) + "\n")
    assert ask(load, server.port, path, ONCE) == Tally(len(lines), 0, Counter({load.rcode: len(lines)}))


def test_all_rounds_of_a_distinct_load_differ() -> None:
    for load in LOADS:
        if load.distinct:
            first, second = set(load.asked(0)), set(load.asked(1))
            assert not first & second


def test_a_load_that_is_answered_otherwise_means_nothing(server: Serving, tmp_path: Path) -> None:
    wrong = Load("wrong", lambda _: ["missing.team-00.svc.cluster.local. A"], (), rcode="NOERROR")
    with pytest.raises(BenchError, match="should be NOERROR"):
        rate(wrong, server, 0, tmp_path / "queries", Length(0.05))


def test_the_table_names_every_load_and_peer(tmp_path: Path) -> None:
    peers = installed()
    found = measure_rates(tmp_path, peers, Effort(1, 0.02, SERVICES, ENDPOINTS, missing=100), lambda _: None)
    printed = "\n".join(rate_lines(found, peers))
    assert all(word in printed for word in [*(load.name for load in LOADS), *(peer.name for peer in peers[1:])])
    assert f"{CACHED}: at least 0.9 of {HITS}" in printed
    assert all(rates.own > 0 and rates.ratio(peer) for rates in found for peer in peers if peer in rates.load.beside)


def test_scale_tells_memory_and_the_growth_of_load_time(tmp_path: Path) -> None:
    scale = measure_scale(tmp_path, (10, 100), ENDPOINTS, rounds=1)
    assert all(start.octets > 1 << 20 and start.cpu_seconds > 0 for start in scale.starts.values())
    assert "100 Services: under 240 MB" in "\n".join(scale_lines(scale, ENDPOINTS))


def test_growth_leaves_out_the_start_of_the_program() -> None:
    starts = {1: Start(0.5, 0.5, 1), 10: Start(0.7, 0.7, 1), 100: Start(2.5, 2.5, 1)}
    assert Scale(starts).load_ratio == pytest.approx(10)


def test_a_start_from_a_snapshot_is_measured(tmp_path: Path) -> None:
    found = measure_warm_starts(tmp_path, (SERVICES,), ENDPOINTS, rounds=1)
    assert found[SERVICES] > 0
    assert list(warm_start_lines({1000: 0.5, 10_000: 3.1})) == [
        "1,000 Services from a snapshot: under 1 s         0.50  met",
        "10,000 Services from a snapshot: under 3 s        3.10  NOT MET",
    ]
