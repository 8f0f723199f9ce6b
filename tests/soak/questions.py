"""What is asked, of every kind, and what may be said to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, cycle
from random import Random

from kubedns.dns.answer import Rcode
from tests.bench.big_cluster import BigService
from tests.bench.generator import query_octets

KNOWN_OUTSIDE = 200
MOVING = 10
_SHUFFLED = 5000
_MISSING_EACH = 25
_HEADER_OCTETS = 10
_FOUND = frozenset({Rcode.NOERROR})
_MISSING = frozenset({Rcode.NXDOMAIN})
_MAYBE = _FOUND | _MISSING


@dataclass(frozen=True, slots=True)
class Question:
    """A query after its ID, the codes that a response may have, and whether one that is NOERROR has records."""

    octets: bytes
    echo: bytes
    rcodes: frozenset[Rcode]
    has_records: bool = True


def question(line: str, rcodes: frozenset[Rcode] = _FOUND, has_records: bool = True, edns: bool = False) -> Question:
    """The question of a line ``NAME TYPE``."""
    octets = query_octets(line, edns)
    end = octets.index(0, _HEADER_OCTETS) + 5
    return Question(octets, octets[_HEADER_OCTETS:end], rcodes, has_records)


def moving_name(number: int) -> str:
    """A Service whose address changes."""
    return f"moving-{number}.live.svc.cluster.local."


def blinking_name(number: int) -> str:
    """A Service that comes and goes."""
    return f"blinking-{number}.live.svc.cluster.local."


def alias_name(number: int) -> str:
    """An ExternalName Service, for a known name of the outside."""
    return f"alias-{number}.live.svc.cluster.local."


def outside_name(number: int) -> str:
    """A name of the outside that is asked for all the time."""
    return f"www-{number}.example.net."


def inside(services: Sequence[BigService], random: Random) -> Iterator[Question]:
    """Names of the cluster without end: every kind, in any order and spelling; every 25th one that nobody has."""
    known = list(_inside(services))
    asked = [None if number % _MISSING_EACH == 0 else random.choice(known) for number in range(_SHUFFLED)]
    for number, each in enumerate(cycle(asked)):
        yield each or question(f"nobody-{number}-{random.getrandbits(32)}.team-00.svc.cluster.local. A", _MISSING)


def _inside(services: Sequence[BigService]) -> Iterator[Question]:
    for service in services:
        yield question(f"{service.owner} A")
        yield question(f"{service.owner.title()} A", edns=True)
        yield question(f"{service.owner} AAAA", has_records=False)
        yield question(f"_http._tcp.{service.owner} SRV", edns=True)
        yield question(f"{service.owner}team-00.svc.cluster.local. A", _MISSING)
        for position in range(service.endpoints):
            yield question(f"{service.endpoint_owner(position)} A")
            yield question(f"{service.endpoint_address(position).reverse_pointer}. PTR")
    for number in range(MOVING):
        yield question(f"{moving_name(number)} A")
        yield question(f"{blinking_name(number)} A", _MAYBE)


def known_outside() -> Iterator[Question]:
    """Each known name of the outside once."""
    return (question(f"{outside_name(number)} A") for number in range(KNOWN_OUTSIDE))


def new_outside() -> Iterator[Question]:
    """Names that only an upstream knows of, and which it need not be well to be asked; without end."""
    failing = frozenset({Rcode.SERVFAIL})
    for number in count():
        yield question(f"once-{number}.example.org. A", _FOUND | failing)
        yield question(f"no-{number}.example.org. A", _MISSING | failing)
        yield question(f"{alias_name(number % KNOWN_OUTSIDE)} A", _FOUND | failing)
