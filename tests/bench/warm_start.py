"""How long it takes from nothing to the first answer when the API server is away and a snapshot is there."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from kubedns.cluster.access import ApiAccess
from kubedns.cluster.objects import Object
from kubedns.cluster.snapshot import written
from kubedns.cluster.sources.api import ApiOptions
from kubedns.cluster.sources.manifests import ManifestOptions, ManifestSource
from kubedns.cluster.store import Store
from tests.bench.big_cluster import BigService, big_services, write_manifests
from tests.bench.processes import serving
from tests.support.process import free_port


def measure_warm_starts(folder: Path, sizes: Sequence[int], endpoints: int, rounds: int) -> dict[int, float]:
    """The shortest time in seconds with each number of Services, for all that disturbs a start adds to it."""
    found = {}
    for services in sizes:
        place = folder / f"warm-{services}"
        place.mkdir()
        found[services] = _measure(place, big_services(services, endpoints), rounds)
    return found


def _measure(folder: Path, services: list[BigService], rounds: int) -> float:
    port, nobody = free_port(), f"http://127.0.0.1:{free_port()}"
    with (folder / "big.json").open("w") as file:
        write_manifests(services, file)
    octets = written(_objects(folder / "big.json"), str(ApiOptions(ApiAccess(endpoint=nobody))), time.time())  # noqa: TID251
    (folder / "snapshot").write_bytes(b"".join(octets))
    (folder / "Corefile").write_text(f"""\
cluster.local:{port} {{
    bind 127.0.0.1
    kubernetes {{
        endpoint {nobody}
        snapshot snapshot
    }}
}}
""")
    return min(_start(folder, port, f"{services[-1].owner} A") for _ in range(rounds))


def _objects(path: Path) -> list[Object]:
    store = Store()
    asyncio.run(ManifestSource(ManifestOptions((str(path),)), store, lambda _: None).load())
    return [item for found in store.objects.values() for item in found.values()]


def _start(folder: Path, port: int, probe: str) -> float:
    command = (sys.executable, "-m", "kubedns", "serve", "--quiet", "--conf", str(folder / "Corefile"))
    began = time.monotonic()
    with serving(command, port, probe, folder / "log"):
        return time.monotonic() - began
