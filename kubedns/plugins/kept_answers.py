"""The answers that ``cache`` keeps: two kinds, each within its capacity, and what is counted of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from cachetools import Cache as MappingCache
from cachetools import LRUCache

from kubedns.corefile.blocks import ServerBlock
from kubedns.dns.answer import Answer, Rcode
from kubedns.dns.answer import Key as Dependency
from kubedns.dns.names import Labels, Name
from kubedns.dns.rdata import RecordType
from kubedns.observe.metrics import Cell, Metrics
from kubedns.observe.rows import (
    CACHE_DROPS,
    CACHE_ENTRIES,
    CACHE_EVICTIONS,
    CACHE_HITS,
    CACHE_MISSES,
    CACHE_PREFETCHES,
    CACHE_REQUESTS,
    CACHE_STALE,
)
from kubedns.plugins.cache_reading import Class

Key = tuple[Labels, int, int, bool, bool]
"""Name, type, class, DO and CD."""
K = TypeVar("K")
V = TypeVar("V")
_PROTECTED_SHARE = 0.8


class Segmented(Generic[K, V]):
    """A least-recently-used cache that a flood of keys, each asked for once, cannot empty.

    What is new is on probation; what is asked for again is protected, up to four fifths of the ``capacity``, and goes
    back on probation only before what is asked for more. ``evicted`` is told of each for which there is no room.
    """

    def __init__(self, capacity: int, evicted: Callable[[K, V], None]) -> None:
        self._capacity = capacity
        self._evicted = evicted
        # The room that the one does not need is the other's, so both are bounded by hand.
        self._probation: LRUCache[K, V] = LRUCache(capacity + 1)
        self._protected: LRUCache[K, V] = LRUCache(capacity + 1)
        self._most_protected = int(capacity * _PROTECTED_SHARE)

    def __len__(self) -> int:
        return len(self._probation) + len(self._protected)

    def get(self, key: K) -> V | None:
        """What is kept under ``key``, which is in use from now on."""
        value = self._protected.get(key)
        if value is not None:
            return value
        value = self._probation.pop(key, None)
        if value is not None:
            self._protected[key] = value
            if len(self._protected) > self._most_protected:
                demoted, older = self._protected.popitem()
                self._probation[demoted] = older
        return value

    def peek(self, key: K) -> V | None:
        """What is kept under ``key``, without a use of it."""
        for part in (self._protected, self._probation):
            if key in part:
                # An LRUCache's own look-up notes a use.
                return MappingCache.__getitem__(part, key)
        return None

    def __iter__(self) -> Iterator[K]:
        """Every key there is now, whatever is put or forgotten meanwhile."""
        return iter([*self._protected, *self._probation])

    def put(self, key: K, value: V) -> None:
        """Keep ``value`` under ``key``, in place of what was there."""
        if key in self._protected:
            self._protected[key] = value
            return
        self._probation[key] = value
        while len(self) > self._capacity:
            self._evicted(*(self._probation or self._protected).popitem())

    def clear(self) -> None:
        """Forget everything."""
        self._protected.clear()
        self._probation.clear()

    def pop(self, key: K) -> V | None:
        """Forget ``key``; what was kept under it."""
        protected = self._protected.pop(key, None)
        return self._probation.pop(key, None) if protected is None else protected


class Kept:
    """An answer, the ``seconds`` it may be kept and ``since`` when it is (monotonic seconds), and how it is asked for.

    ``asked``: how often, without a pause; the last time at ``last_asked``.
    """

    __slots__ = ("_hits", "answer", "asked", "last_asked", "seconds", "since")

    def __init__(self, answer: Answer, seconds: float, since: float, hits: Cell) -> None:
        self.answer = answer
        self.seconds = seconds
        self.since = since
        self.asked = 0
        self.last_asked = 0.0
        self._hits = hits

    def hit(self, count: int = 1) -> None:
        """It was given ``count`` times more."""
        self.asked += count
        self._hits.add(count)


class Counters:
    """What is counted, for one ``cache`` line: labels are those of CoreDNS."""

    def __init__(self, metrics: Metrics, servers: Sequence[str], zones: Iterable[object], view: str = "") -> None:
        server, served = servers[0] if servers else "", ",".join(map(str, zones))
        here = (served, view)
        self.misses = metrics.cell(CACHE_MISSES, server, *here)
        self.prefetches = metrics.cell(CACHE_PREFETCHES, server, *here)
        self.stale = metrics.cell(CACHE_STALE, server, *here)
        self.drops = metrics.cell(CACHE_DROPS, server, *here)
        self.hits = {kind: metrics.cell(CACHE_HITS, server, kind.value, *here) for kind in Class}
        self.evictions = {kind: metrics.cell(CACHE_EVICTIONS, server, kind.value, *here) for kind in Class}
        self.again = {kind: cell.add for kind, cell in self.hits.items()}
        """Calls that count hits, the same ones for all answers that are kept elsewhere, so that they cost no memory."""
        requests = (self.misses, *self.hits.values())
        metrics.cell(CACHE_REQUESTS, server, *here).read = lambda: sum(cell.value for cell in requests)
        self.entries = {kind: metrics.cell(CACHE_ENTRIES, server, kind.value, *here) for kind in Class}


@dataclass(frozen=True, slots=True)
class Setting:
    """What decides which answers come: the server block, and the zones (``routes``) of all server blocks."""

    block: ServerBlock | None = None
    routes: tuple[Name, ...] = ()

    def is_after(self, other: Setting) -> bool:
        """Whether what was answered in ``other`` is answered in this one, but for where aliases lead."""
        return self.block is not None and other.block is not None and self.block.says_the_same_as(other.block)


class KeptAnswers:
    """Answers by key, of each kind as many as its ``capacities`` say."""

    def __init__(self, capacities: dict[Class, int], counters: Counters) -> None:
        self._kinds: dict[Class, Segmented[Key, Kept]] = {
            kind: Segmented(capacity, self._evicted) for kind, capacity in capacities.items()
        }
        self._counters = counters
        self._dependents: dict[Dependency, set[Key]] = {}
        self.be_counted()

    def be_counted(self) -> None:
        """Be what is meant by how many answers are kept."""
        for kind, kept in self._kinds.items():
            self._counters.entries[kind].read = kept.__len__

    def get(self, key: Key) -> Kept | None:
        """What is kept under ``key``, of whichever kind."""
        return self._kinds[Class.SUCCESS].get(key) or self._kinds[Class.DENIAL].get(key)

    def put(self, key: Key, answer: Answer, seconds: float, now: float) -> None:
        """Keep ``answer`` for ``seconds`` from ``now`` on, alone under its key."""
        kind = kind_of(answer)
        self._forget(key)
        for dependency in answer.depends_on:
            self._dependents.setdefault(dependency, set()).add(key)
        self._kinds[kind].put(key, Kept(answer, seconds, now, self._counters.hits[kind]))
        if kind is Class.SUCCESS:
            self._forget_contradictions(key)

    def drop(self, dependencies: Iterable[Dependency]) -> None:
        """Forget every answer that depends on any of them: what was looked for there first may be there by now."""
        for dependency in dependencies:
            for key in tuple(self._dependents.get(dependency, ())):
                self._forget(key)

    def drop_aliases(self) -> None:
        """Forget every answer with an alias: its target may have to be looked for elsewhere by now."""
        for answers in self._kinds.values():
            for key in answers:
                kept = answers.peek(key)
                if kept is not None and any(rrset.type == RecordType.CNAME for rrset in kept.answer.answer):
                    self._forget(key)

    def clear(self) -> None:
        """Forget everything: whoever reports how many there are still reads here."""
        self._dependents.clear()
        for answers in self._kinds.values():
            answers.clear()

    def has_address(self, key: Key, now: float) -> bool:
        """Whether the name has an address of another type, so that it cannot be missing."""
        found = (self._kinds[Class.SUCCESS].peek(other) for other in _siblings(key))
        return any(kept is not None and now < kept.since + kept.seconds for kept in found)

    def _forget_contradictions(self, key: Key) -> None:
        """A name that has a record exists for every type."""
        denials = self._kinds[Class.DENIAL]
        for other in _siblings(key):
            denied = denials.peek(other)
            if denied is not None and denied.answer.rcode == Rcode.NXDOMAIN:
                self._forget(other)

    def _forget(self, key: Key) -> None:
        for answers in self._kinds.values():
            kept = answers.pop(key)
            if kept is not None:
                self._forget_dependencies(key, kept)

    def _evicted(self, key: Key, kept: Kept) -> None:
        self._counters.evictions[kind_of(kept.answer)].add()
        self._forget_dependencies(key, kept)

    def _forget_dependencies(self, key: Key, kept: Kept) -> None:
        for dependency in kept.answer.depends_on:
            dependents = self._dependents[dependency]
            dependents.discard(key)
            if not dependents:
                del self._dependents[dependency]


def _siblings(key: Key) -> list[Key]:
    """The keys of the name's addresses of other types: those that clients ask for side by side."""
    return [(key[0], rdtype, *key[2:]) for rdtype in (RecordType.A, RecordType.AAAA) if rdtype != key[1]]


def kind_of(answer: Answer) -> Class:
    """Success, or a denial or failure."""
    is_success = answer.rcode == Rcode.NOERROR and bool(answer.answer) and not answer.is_denial
    return Class.SUCCESS if is_success else Class.DENIAL
