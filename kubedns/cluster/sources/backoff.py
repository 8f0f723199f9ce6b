"""Back-off: how long to wait before the next try, longer each time, and never in step with others. Pure."""

from __future__ import annotations

from collections.abc import Callable


class Backoff:
    """Waits of ``first`` seconds, then doubling up to ``longest``, each cut by up to half. ``random`` gives [0, 1).

    There is no last try.
    """

    def __init__(self, first: float, longest: float, random: Callable[[], float]) -> None:
        self._first = first
        self._longest = longest
        self._random = random
        self.failures = 0

    def next_wait(self) -> float:
        """Seconds to wait after one more failure."""
        wait = min(self._first * 2.0 ** min(self.failures, 32), self._longest)
        self.failures += 1
        return wait * (0.5 + self._random() / 2)

    def reset(self) -> None:
        """It works again."""
        self.failures = 0
