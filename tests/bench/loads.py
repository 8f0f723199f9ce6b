"""Loads: what is asked of every server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random

from tests.bench.big_cluster import BigService
from tests.bench.peers import BARE, COREDNS, DNSLIB, FORWARDED, KNOT, UNBOUND, Peer

KNOWN_NAMES = 1000
HITS = f"hits, {KNOWN_NAMES:,} names"
CACHED = f"cached, {KNOWN_NAMES:,} names"
_SERVERS = (KNOT, UNBOUND, COREDNS)


@dataclass(frozen=True, slots=True)
class Load:
    """One kind of query. ``asked``: the lines ``NAME TYPE`` of a round; all rounds of a ``distinct`` one differ.

    ``beside``: peers that it says something of. ``rcode``: what every response must be.
    """

    name: str
    asked: Callable[[int], Sequence[str]]
    beside: tuple[Peer, ...]
    distinct: bool = False
    rcode: str = "NOERROR"
    edns: bool = False
    tcp: bool = False


def records(services: Sequence[BigService], wide: BigService) -> tuple[str, ...]:
    """Master-file lines of everything that :func:`loads` asks."""
    lines = [f"{service.owner} 5 IN A {service.cluster_ip}" for service in services if not service.is_headless]
    lines += [f"{service.endpoint_owner(0)} 5 IN A {service.endpoint_address(0)}" for service in services]
    lines += [f"_http._tcp.{each.owner} 5 IN SRV 0 100 80 {each.owner}" for each in services if not each.is_headless]
    for service in (each for each in services if each.is_headless):
        for position in range(service.endpoints):
            lines.append(f"_http._tcp.{service.owner} 5 IN SRV 0 10 8080 {service.endpoint_owner(position)}")
            if position:
                lines.append(f"{service.endpoint_owner(position)} 5 IN A {service.endpoint_address(position)}")
    return (*lines, *[f"{wide.owner} 5 IN A {wide.endpoint_address(each)}" for each in range(wide.endpoints)])


def loads(services: Sequence[BigService], wide: BigService, rounds: int, missing: int) -> list[Load]:
    """Every load, over the names of ``services`` and of ``wide``, a headless Service of many endpoints.

    Distinct names are shared out among ``rounds``; each asks so many ``missing`` names as well.
    """
    known = [f"{service.owner} A" for service in services if not service.is_headless]
    once = [*known, *[f"{each.endpoint_owner(0)} A" for each in services]]
    once += [f"_http._tcp.{service.owner} SRV" for service in services]
    Random(0).shuffle(once)
    shares = [once[turn::rounds] for turn in range(rounds)]
    names = partial(missing_names, missing)
    cached = [f"kept-{number}.{FORWARDED}. A" for number in range(len(known[:KNOWN_NAMES]))]
    loops, builders = (BARE, *_SERVERS), (DNSLIB, *_SERVERS)
    return [
        Load("hits, one name", lambda _: known[:1], loops),
        Load(HITS, lambda _: known[:KNOWN_NAMES], loops),
        Load(f"misses, {len(once):,} names", shares.__getitem__, builders, distinct=True),
        Load("NXDOMAIN, random names", names, builders, distinct=True, rcode="NXDOMAIN"),
        Load(CACHED, lambda _: cached, (BARE, UNBOUND, COREDNS)),
        Load("forwarded, random names", partial(forwarded_names, missing), (UNBOUND, COREDNS), distinct=True),
        Load("headless of 100, UDP", lambda _: [f"{wide.owner} A"], loops, edns=True),
        Load("headless of 100, TCP", lambda _: [f"{wide.owner} A"], _SERVERS, tcp=True),
    ]


def missing_names(count: int, turn: int) -> list[str]:
    """Names that nobody has, others in each turn."""
    random = Random(turn)
    return [f"{random.randbytes(6).hex()}.team-{each % 50:02d}.svc.cluster.local. A" for each in range(count)]


def forwarded_names(count: int, turn: int) -> list[str]:
    """Names that an upstream answers, others in each turn."""
    random = Random(turn)
    return [f"{random.randbytes(6).hex()}.{FORWARDED}. A" for _ in range(count)]
