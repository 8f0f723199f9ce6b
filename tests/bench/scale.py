"""How long big clusters take to load, and how much memory they hold."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tests.bench.big_cluster import big_services, write_manifests
from tests.bench.peers import KUBEDNS, Material, started
from tests.bench.processes import cpu_seconds, settled_octets


@dataclass(frozen=True, slots=True)
class Start:
    """One start of the server: CPU and wall seconds to the first answer, and resident octets once settled."""

    cpu_seconds: float
    wall_seconds: float
    octets: int


@dataclass(frozen=True, slots=True)
class Scale:
    """The best start with each number of Services, for all that disturbs one adds to it; the first is of hardly any."""

    starts: dict[int, Start]

    @property
    def load_ratio(self) -> float:
        """CPU time of loading the most Services against the second most, the start of the program taken off."""
        none, few, many = (start.cpu_seconds for start in self.starts.values())
        return (many - none) / (few - none)


def measure_scale(folder: Path, sizes: Sequence[int], endpoints: int, rounds: int) -> Scale:
    """Start the server ``rounds`` times with each number of Services, by turns."""
    materials = {services: _material(folder, services, endpoints) for services in (1, *sizes)}
    starts: dict[int, list[Start]] = {services: [] for services in materials}
    for _ in range(rounds):
        for services, material in materials.items():
            starts[services].append(_start(material))
    return Scale({services: _best(found) for services, found in starts.items()})


def _material(folder: Path, services: int, endpoints: int) -> Material:
    path = folder / f"scale-{services}" / "big.json"
    path.parent.mkdir()
    written = big_services(services, endpoints)
    with path.open("w") as file:
        write_manifests(written, file)
    return Material(path.parent, (path,), (), f"{written[-1].owner} A")


def _start(material: Material) -> Start:
    began = time.monotonic()
    with started(KUBEDNS, material) as server:
        wall = time.monotonic() - began
        return Start(cpu_seconds(server.process), wall, settled_octets(server.process))


def _best(starts: Sequence[Start]) -> Start:
    return Start(
        min(start.cpu_seconds for start in starts),
        min(start.wall_seconds for start in starts),
        int(median(start.octets for start in starts)),
    )
