"""Arrangements: the same answer with its records in other orders, given out in turn.

Clients take the first address, so each record must come first equally often, and what follows it must be anyone's
guess: a fixed order, or a rotation of one, overloads the neighbour of whoever is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import cycle

from kubedns.dns.answer import Rank
from kubedns.dns.message import Arrange
from kubedns.dns.rdata import Rdata

Random = Callable[[], float]
"""Gives a number in [0, 1), uniform."""

KEPT = 32
"""Responses kept of one answer at a time; each time all were given out, one is made anew."""


def in_turn(
    write: Callable[[Arrange], bytes], records: int, random: Random, rank: Rank | None = None
) -> Iterator[bytes]:
    """Responses without end, each made by ``write`` with an arrangement of ``records`` records, by ``rank`` first."""
    firsts = cycle(sorted(range(records), key=lambda _: random()))
    kept: list[bytes] = []
    for _ in range(min(records, KEPT)):
        kept.append(write(_arranged(next(firsts), random, rank)))
        yield kept[-1]
    while True:
        for slot in range(len(kept)):
            yield from kept
            kept[slot] = write(_arranged(next(firsts), random, rank))


def _arranged(first: int, random: Random, rank: Rank | None) -> Arrange:
    """The record at ``first`` in front, the others in random order; all that only within their rank."""

    def arrange(rdatas: Sequence[Rdata]) -> Sequence[Rdata]:
        chosen = first % len(rdatas)
        rest = [*rdatas[:chosen], *rdatas[chosen + 1 :]]
        rest.sort(key=lambda _: random())
        arranged = [rdatas[chosen], *rest]
        return arranged if rank is None else sorted(arranged, key=rank)

    return arrange
