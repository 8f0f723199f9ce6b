"""Which upstream is asked next. Pure: randomness is handed in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import TypeVar

T = TypeVar("T")


class Policy(Enum):
    """How upstreams take turns: anyone, each in turn, or the first that works."""

    RANDOM = "random"
    ROUND_ROBIN = "round_robin"
    SEQUENTIAL = "sequential"


class Order:
    """Puts upstreams in the order in which one query tries them."""

    def __init__(self, policy: Policy, random: Callable[[], float]) -> None:
        self._policy = policy
        self._random = random
        self._turn = 0

    def arrange(self, upstreams: Sequence[T]) -> list[T]:
        """All of ``upstreams``, the one whose turn it is first."""
        match self._policy:
            case Policy.SEQUENTIAL:
                return list(upstreams)
            case Policy.ROUND_ROBIN:
                start = self._turn % max(len(upstreams), 1)
                self._turn += 1
                return [*upstreams[start:], *upstreams[:start]]
            case Policy.RANDOM:
                return sorted(upstreams, key=lambda _: self._random())
