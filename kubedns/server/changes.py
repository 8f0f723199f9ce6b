"""Who hears that something has changed: whatever keeps answers, of this configuration and of the one before."""

from __future__ import annotations

from collections.abc import Iterable
from weakref import WeakSet

from kubedns.dns.answer import Key
from kubedns.plugins.plugin import Heeding
from kubedns.resolver.answercache import AnswerCache


class Changes:
    """Has ``cache`` drop what depends on changed keys, and tells the plugins that keep answers, as long as they are."""

    def __init__(self, cache: AnswerCache) -> None:
        self._cache = cache
        self._plugins: WeakSet[Heeding] = WeakSet()

    def tell(self, keys: Iterable[Key]) -> None:
        """These keys have changed; nothing that was worked out before may be given any more."""
        changed = tuple(keys)
        # The plugins first: what the answer cache has lost is asked of them again.
        for plugin in tuple(self._plugins):
            plugin.changed(changed)
        self._cache.drop(changed)

    def heard_by(self, plugin: Heeding) -> None:
        """Tell ``plugin`` as well."""
        self._plugins.add(plugin)
