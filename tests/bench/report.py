"""What the bench prints: ratios, and beside them what they should be. Nothing depends on whether they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tests.bench.loads import CACHED, HITS
from tests.bench.peers import BARE, DNSLIB, KNOT, KUBEDNS, UNBOUND, Peer
from tests.bench.rates import Rates
from tests.bench.scale import Scale


@dataclass(frozen=True, slots=True)
class Target:
    """Loads whose name begins with ``load`` should reach ``at_least`` so much of ``peer``."""

    load: str
    peer: Peer
    at_least: float


TARGETS = (
    Target("hits", BARE, 0.65),
    Target("hits", KNOT, 0.3),
    Target("misses", DNSLIB, 1.0),
    Target("forwarded", UNBOUND, 0.15),
)
CACHED_AT_LEAST = 0.9
"""What upstreams said is served from where the cluster's names are."""
MOST_OCTETS = 240 << 20
DARK_SECONDS = {1000: 1.0, 10_000: 3.0}
"""From nothing to the first answer out of a snapshot, by Services."""
LINEAR = 1.25
"""Ten times as many Services may take so much more than ten times as long."""


def rate_lines(found: Sequence[Rates], peers: Sequence[Peer]) -> Iterator[str]:
    """The table of ratios."""
    others = [peer for peer in peers if peer is not KUBEDNS]
    yield f"{'':24}{'queries per':>12}   ratio to"
    yield f"{'':24}{'CPU-second':>12}" + "".join(f"{peer.name:>11}" for peer in others)
    for rates in found:
        ratios = [rates.ratio(peer) for peer in others]
        cells = "".join(f"{'-' if ratio is None else f'{ratio:.2f}':>11}" for ratio in ratios)
        yield f"{rates.load.name:24}{rates.own:>12,.0f}{cells}"
    yield ""
    for target in TARGETS:
        for rates in found:
            ratio = rates.ratio(target.peer)
            if rates.load.name.startswith(target.load) and ratio is not None:
                aim = f"{rates.load.name}: at least {target.at_least} of {target.peer.name}"
                yield f"{aim:48} {ratio:5.2f}  {verdict(ratio >= target.at_least)}"
    own = {rates.load.name: rates.own for rates in found}
    ratio = own[CACHED] / own[HITS]
    aim = f"{CACHED}: at least {CACHED_AT_LEAST} of {HITS}"
    yield f"{aim:48} {ratio:5.2f}  {verdict(ratio >= CACHED_AT_LEAST)}"


def scale_lines(scale: Scale, endpoints: int) -> Iterator[str]:
    """Memory and load time."""
    yield f"{'Services':>10} x {endpoints:<3}{'CPU s to first answer':>24}{'wall s':>8}{'MB':>7}"
    for services, start in scale.starts.items():
        times = f"{start.cpu_seconds:>24.2f}{start.wall_seconds:>8.2f}"
        yield f"{services:>10,}      {times}{start.octets / (1 << 20):>7.0f}"
    yield ""
    *_, few, most = scale.starts
    octets = scale.starts[most].octets
    yield f"{f'{most:,} Services: under {MOST_OCTETS >> 20} MB':48} {octets >> 20:5}  {verdict(octets < MOST_OCTETS)}"
    growth, limit = most / few, most / few * LINEAR
    aim = f"load time grows about {growth:.0f} times from {few:,}"
    yield f"{aim:48} {scale.load_ratio:5.1f}  {verdict(scale.load_ratio <= limit)}"


def warm_start_lines(found: Mapping[int, float]) -> Iterator[str]:
    """Seconds to the first answer while the API server is away."""
    for services, seconds in found.items():
        limit = DARK_SECONDS.get(services)
        aim = f"{services:,} Services from a snapshot" + (f": under {limit:g} s" if limit else "")
        yield f"{aim:48} {seconds:5.2f}" + (f"  {verdict(seconds < limit)}" if limit else "")


def verdict(is_met: bool) -> str:
    """How what was measured stands to its aim."""
    return "met" if is_met else "NOT MET"
