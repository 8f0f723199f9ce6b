"""What Prometheus is told: the counters of all rooms, brought together on the loop that they are counted on."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable

from kubedns import __version__
from kubedns.cluster.sources.source import Source
from kubedns.observe.metrics import Metrics, Where
from kubedns.plugins.plugin import Plugin
from kubedns.resolver.answercache import AnswerCache

_PATIENCE_SECONDS = 5.0

Placed = tuple[str, Where, Plugin]
"""A plugin with the label of its server and where it is."""


class Exposition:
    """Gives the text of ``/metrics``, from any thread once :meth:`run_on` has been called."""

    def __init__(self, metrics: Metrics, cache: AnswerCache) -> None:
        self.plugins: list[Placed] = []
        self.sources: dict[str, Source] = {}
        self._metrics = metrics
        self._cache = cache
        self._loop: asyncio.AbstractEventLoop | None = None

    def run_on(self, loop: asyncio.AbstractEventLoop) -> None:
        """The loop on which everything is counted."""
        self._loop = loop

    def __call__(self) -> str:
        """The text; empty before the server runs."""
        if self._loop is None:
            return ""
        return asyncio.run_coroutine_threadsafe(self._text(), self._loop).result(_PATIENCE_SECONDS)

    async def _text(self) -> str:
        from kubedns.observe.exposition import Gauges, expose  # only a server that is asked needs Prometheus's library

        self._cache.settle()
        for counters in self._metrics.responders:
            counters.settle()
        ages = {name: source.age_seconds for name, source in self.sources.items()}
        tasks, threads = len(asyncio.all_tasks()), threading.active_count()
        kept, dropped = len(self._cache), self._cache.dropped
        gauges = Gauges(__version__, kept, tasks, threads, dropped, tuple(self._enabled()), ages)
        return expose(self._metrics, gauges)

    def _enabled(self) -> Iterable[tuple[str, str, str, str]]:
        return dict.fromkeys((server, *where, plugin.word) for server, where, plugin in self.plugins)
