"""Rates of all servers under all loads, taken by turns so that what else the machine does hits them alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from tests.bench.asking import Length, rate
from tests.bench.big_cluster import BigService, big_services, write_manifests
from tests.bench.loads import Load, loads, records
from tests.bench.peers import KUBEDNS, Material, Peer, Serving, started, upstream

WIDE_ENDPOINTS = 100


@dataclass(slots=True)
class Rates:
    """Queries per CPU-second of each peer under one load, round by round."""

    load: Load
    rounds: dict[Peer, list[float]] = field(default_factory=dict)

    def measure(self, servers: Sequence[Serving], turn: int, path: Path, length: Length) -> None:
        """Take one more round of each server that the load concerns."""
        for server in servers:
            if server.peer is KUBEDNS or server.peer in self.load.beside:
                found = rate(self.load, server, turn, path, length)
                self.rounds.setdefault(server.peer, []).append(found)

    @property
    def own(self) -> float:
        """The server's own, the median of all rounds."""
        return median(self.rounds[KUBEDNS])

    def ratio(self, peer: Peer) -> float | None:
        """The server's rate against a peer's: the median of what each round gives; None where it was not measured."""
        if peer not in self.rounds:
            return None
        pairs = zip(self.rounds[KUBEDNS], self.rounds[peer], strict=True)
        return median(own / other for own, other in pairs)


def wide_service(number: int) -> BigService:
    """A headless Service of a hundred endpoints."""
    return BigService(number, WIDE_ENDPOINTS, is_headless=True)


def prepare(folder: Path, big: Sequence[BigService], wide: BigService, port: int) -> Material:
    """What serves the Services ``big`` and ``wide``, and asks the upstream on ``port`` the rest."""
    path = folder / "manifests" / "big.json"
    path.parent.mkdir()
    with path.open("w") as file:
        write_manifests([*big, wide], file)
    return Material(folder, (path,), records(big, wide), f"{big[1].owner} A", port)


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured: ``rounds`` of ``seconds`` each, in a cluster of ``services`` with ``endpoints`` each.

    ``missing``: names that do not exist, asked in each round.
    """

    rounds: int
    seconds: float
    services: int
    endpoints: int
    missing: int


def measure_rates(folder: Path, peers: Sequence[Peer], effort: Effort, progress: Callable[[str], None]) -> list[Rates]:
    """Ask every load of every peer that it concerns, round by round; ``progress`` hears what begins."""
    big, wide = big_services(effort.services, effort.endpoints), wide_service(effort.services)
    found = [Rates(load) for load in loads(big, wide, effort.rounds, effort.missing)]
    with ExitStack() as stack:
        material = prepare(folder, big, wide, stack.enter_context(upstream(folder)))
        servers = [stack.enter_context(started(peer, material)) for peer in peers]
        for turn in range(effort.rounds):
            for rates in found:
                progress(f"round {turn + 1} of {effort.rounds}: {rates.load.name}")
                rates.measure(servers, turn, folder / "queries", Length(effort.seconds))
    return found
