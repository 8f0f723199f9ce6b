"""Questions that ``cache`` asks anew beside what clients wait for: each once at a time, and so many in all."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from kubedns.dns.answer import Answer
from kubedns.plugins.kept_answers import Key

MOST = 256
"""At a time; past it, what has ended is given without, and asked for by a later query."""


class Refreshes:
    """The questions under way, by key."""

    def __init__(self) -> None:
        self._under_way: dict[Key, asyncio.Task[Answer]] = {}

    def __len__(self) -> int:
        return len(self._under_way)

    def start(self, key: Key, ask: Callable[[], Coroutine[Any, Any, Answer]]) -> asyncio.Task[Answer] | None:
        """The one under way for ``key``, which ``ask`` begins if there is none; None: too many are."""
        task = self._under_way.get(key)
        if task is None and len(self) < MOST:
            task = self._under_way[key] = asyncio.get_running_loop().create_task(ask())
            task.add_done_callback(lambda _: self._under_way.pop(key, None))
        return task

    def close(self) -> None:
        """Ask for nothing any more."""
        for task in self._under_way.values():
            task.cancel()
