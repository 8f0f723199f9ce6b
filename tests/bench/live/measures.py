"""A big cluster through the API: what it takes to follow one, beside the least that a client in Python can do."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

from tests.bench.big_cluster import big_services
from tests.bench.live.bodies import write_pages
from tests.bench.processes import (
    LOAD_CORE,
    PATIENCE_SECONDS,
    SERVER_CORE,
    BenchError,
    cpu_seconds,
    peak_octets,
    pinned,
    run_pinned,
    serving,
    settled_octets,
)
from tests.support.process import free_port

BARE, OWN = "bare loop", "kubedns"


@dataclass(frozen=True, slots=True)
class LiveStart:
    """A start beside an API server: CPU and wall seconds to the first answer, resident octets settled and at most."""

    cpu_seconds: float
    wall_seconds: float
    octets: int
    peak_octets: int


@dataclass(frozen=True, slots=True)
class Cost:
    """Microseconds of one object: to decode alone, and to decode and store."""

    objects: int
    decode: float
    store: float


@dataclass(frozen=True, slots=True)
class Delay:
    """From changes at the API to changed answers. ``lost``: queries without an answer; ``unseen``: changes."""

    seconds: Sequence[float]
    asked: int
    lost: int
    unseen: int

    def milliseconds(self, percent: int) -> float:
        """What so many percent of the changes took at most."""
        return quantiles(self.seconds, n=100)[percent - 1] * 1000


@dataclass(frozen=True, slots=True)
class Churn:
    """Changes a second, and for how many seconds."""

    rate: int
    seconds: float


@dataclass(frozen=True, slots=True)
class LiveCluster:
    """A cluster of so many ``services`` of ``endpoints`` each, whose pages are in ``folder``."""

    folder: Path
    services: int
    endpoints: int

    @classmethod
    def written(cls, folder: Path, services: int, endpoints: int) -> LiveCluster:
        """Write its pages."""
        folder.mkdir()
        write_pages(big_services(services, endpoints), folder)
        return cls(folder, services, endpoints)

    @property
    def probe(self) -> str:
        """What can be answered once the list has been read to its end."""
        return f"{big_services(self.services, self.endpoints)[-1].owner} A"


def measure_costs(cluster: LiveCluster) -> dict[str, Cost]:
    """What one object costs, by resource."""
    printed = run_pinned([sys.executable, "-m", "tests.bench.live.decoding", str(cluster.folder)], SERVER_CORE)
    return {plural: Cost(*found) for plural, found in json.loads(printed).items()}


def measure_live_starts(cluster: LiveCluster, rounds: int) -> dict[str, LiveStart]:
    """The best start of each, for all that disturbs one adds to it."""
    found: dict[str, list[LiveStart]] = {BARE: [], OWN: []}
    api_port = free_port()
    module = [sys.executable, "-m", "tests.bench.live.stand_in", str(cluster.folder), str(api_port)]
    with _beside(module, api_port, cluster.folder / "stand-in.log"):
        for _ in range(rounds):
            for peer, starts in found.items():
                starts.append(_start(cluster, peer, api_port))
    return {peer: _best(starts) for peer, starts in found.items()}


def measure_delays(cluster: LiveCluster, churn: Churn) -> dict[str, Delay]:
    """How long changes take to be answered, with queries running."""
    return {peer: _delay(cluster, peer, churn) for peer in (BARE, OWN)}


def _start(cluster: LiveCluster, peer: str, api_port: int) -> LiveStart:
    port, log, began = free_port(), cluster.folder / f"{peer}.log", time.monotonic()
    with serving(_command(cluster, peer, api_port, port), port, cluster.probe, log) as server:
        wall, cpu = time.monotonic() - began, cpu_seconds(server)
        return LiveStart(cpu, wall, settled_octets(server), peak_octets(server))


def _best(starts: Sequence[LiveStart]) -> LiveStart:
    return LiveStart(
        min(start.cpu_seconds for start in starts),
        min(start.wall_seconds for start in starts),
        int(median(start.octets for start in starts)),
        max(start.peak_octets for start in starts),
    )


def _delay(cluster: LiveCluster, peer: str, churn: Churn) -> Delay:
    api_port, port = free_port(), free_port()
    words = (cluster.folder, cluster.services, cluster.endpoints, api_port, port, churn.rate, churn.seconds)
    module = [sys.executable, "-m", "tests.bench.live.churn", *map(str, words)]
    log = cluster.folder / f"{peer}.log"
    with (
        _beside(module, api_port, cluster.folder / "churn.log") as changing,
        serving(_command(cluster, peer, api_port, port), port, cluster.probe, log),
    ):
        printed, _ = changing.communicate(timeout=churn.seconds + PATIENCE_SECONDS)
    if changing.returncode:
        raise BenchError(f"churn: {(cluster.folder / 'churn.log').read_text().strip()}")
    return Delay(**json.loads(printed))


def _command(cluster: LiveCluster, peer: str, api_port: int, port: int) -> Sequence[str]:
    if peer == BARE:
        return (sys.executable, "-m", "tests.bench.live.bare_watch", str(api_port), str(port))
    configuration = cluster.folder / "Corefile"
    configuration.write_text(f"""\
cluster.local:{port} in-addr.arpa:{port} ip6.arpa:{port} {{
    bind 127.0.0.1
    errors
    loadbalance
    kubernetes {{
        endpoint http://127.0.0.1:{api_port}
        startup_timeout {PATIENCE_SECONDS:.0f}s
    }}
}}
""")
    return (sys.executable, "-m", "kubedns", "serve", "--quiet", "--conf", str(configuration))


@contextmanager
def _beside(command: Sequence[str], port: int, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process on the core of the load, once it listens on ``port``."""
    with log.open("w") as errors, pinned(LOAD_CORE):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors)
    try:
        _await_listener(process, port, log)
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE_SECONDS)


def _await_listener(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            time.sleep(0.01)
        else:
            return
    raise BenchError(f"{process.args!r} does not listen: {log.read_text().strip()}")
