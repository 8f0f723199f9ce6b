"""Tally: how often each thing is there, and nothing of what is not."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

Counted = TypeVar("Counted", bound=Hashable)


class Tally(Generic[Counted]):
    """Counts things; one that has gone as often as it came leaves nothing behind."""

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts: dict[Counted, int] = {}

    def __contains__(self, thing: Counted) -> bool:
        return thing in self._counts

    def __len__(self) -> int:
        return len(self._counts)

    def copy(self) -> Tally[Counted]:
        """One with the same counts."""
        copy: Tally[Counted] = Tally()
        copy._counts = self._counts.copy()
        return copy

    def add(self, thing: Counted) -> bool:
        """Count one more; whether it is the first."""
        count = self._counts.get(thing, 0)
        self._counts[thing] = count + 1
        return not count

    def remove(self, thing: Counted) -> bool:
        """Count one less; whether it was the last."""
        count = self._counts[thing] - 1
        if count:
            self._counts[thing] = count
        else:
            del self._counts[thing]
        return not count
