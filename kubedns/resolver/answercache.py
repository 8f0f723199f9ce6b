"""The answer cache: finished responses by the question as it came, dropped by key, by lifetime, or for want of room.

Pure: times and arrangements are handed in. A table maps the octets of a query after its ID to a call that gives the
octets of the response after the ID; that dict and that call are all that the hot path of a transport touches.
"""

from __future__ import annotations

import heapq
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator

from kubedns.dns.answer import Answer, Key, Keys

Serve = Callable[[], bytes]
"""Gives the octets of a response after its ID."""

ENTRY_OCTETS = 1300
"""What an entry costs in memory beside the octets of its query and responses."""
_MAX_LOOKS = 1024
"""Answers looked at for one that may go; bounds the time that a single new answer can take."""


class Hits:
    """How often an answer was served. Apart from its entry, so that neither keeps the other alive."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0


class Entry:
    """One finished answer: ``responses`` are served in turn, ``hits`` counts them.

    ``cost``: its share of the memory, in octets. ``report``: told how many hits there were since it was last told;
    ``report_again``, if there is one, of those after the first, which is no hit for whoever gave the answer.
    ``answer`` is kept only where somebody wants to hear of each response.
    """

    __slots__ = (
        "answer", "cost", "depends_on", "hits", "key", "looked_at", "report", "report_again", "reported",
        "serve", "table",
    )  # fmt: skip

    def __init__(
        self,
        depends_on: Keys,
        responses: Iterable[bytes],
        cost: int,
        report: Callable[[int], None],
        report_again: Callable[[int], None] | None = None,
    ) -> None:
        self.depends_on = depends_on
        self.answer: Answer | None = None
        self.hits = Hits()
        self.looked_at = 1  # the answer that filled the entry is no sign that it is in use
        self.reported = 0
        self.cost = cost
        self.report = report
        self.report_again = report_again
        self.serve: Serve = _counted(self.hits, responses).__next__
        self.table: Table
        self.key: bytes

    def settle(self) -> None:
        """Report the hits that have not been reported yet."""
        count = self.hits.count - self.reported
        self.report(count)
        if self.report_again is not None and count:
            self.report_again(count if self.reported else count - 1)
        self.reported = self.hits.count


def _counted(hits: Hits, responses: Iterable[bytes]) -> Iterator[bytes]:
    for response in responses:
        hits.count += 1
        yield response


class Table:
    """The answers of one listener, one transport and one class of clients."""

    __slots__ = ("answers", "entries")

    def __init__(self) -> None:
        self.answers: dict[bytes, Serve] = {}
        self.entries: dict[bytes, Entry] = {}


class AnswerCache:
    """All tables of a process, within one bound of ``max_octets``.

    ``generation`` grows with every drop by key: an answer worked out across a change of it may be old and is not kept.
    ``dropped``: how many answers were forgotten because of a change, of their lifetime, and for want of room.
    """

    def __init__(self, max_octets: int) -> None:
        self.generation = 0
        self.dropped = {"changed": 0, "ended": 0, "room": 0}
        self._max_octets = max_octets
        self._octets = 0
        self._ring: OrderedDict[Entry, None] = OrderedDict()
        # Nearly always one answer alone depends on a key, and a set for it would cost a fifth of what it holds.
        self._by_key: dict[Key, Entry | set[Entry]] = {}
        self._expiring: list[tuple[float, int, Entry]] = []
        self._sequence = 0

    def __len__(self) -> int:
        return len(self._ring)

    def keep(self, table: Table, key: bytes, entry: Entry, expires: float | None = None) -> None:
        """Put an answer into ``table`` under the octets of its query, until ``expires`` (monotonic seconds)."""
        old = table.entries.get(key)
        if old is not None:
            self._remove(old)
        entry.table, entry.key = table, key
        table.entries[key] = entry
        table.answers[key] = entry.serve
        self._ring[entry] = None
        self._octets += entry.cost
        self._note_dependencies(entry)
        if expires is not None:
            self._sequence += 1
            heapq.heappush(self._expiring, (expires, self._sequence, entry))
        self._make_room()

    def drop(self, keys: Iterable[Key]) -> None:
        """Forget every answer that depends on any of ``keys``."""
        self.generation += 1
        for key in keys:
            dependents = self._by_key.pop(key, None)
            if isinstance(dependents, Entry):
                dependents = {dependents}
            for entry in dependents or ():
                self._remove(entry)
                self.dropped["changed"] += 1

    def expire(self, now: float) -> None:
        """Forget what has outlived its lifetime at ``now`` (monotonic seconds)."""
        while self._expiring and self._expiring[0][0] <= now:
            entry = heapq.heappop(self._expiring)[2]
            if entry.table.entries.get(entry.key) is entry:
                self._remove(entry)
                self.dropped["ended"] += 1

    def settle(self) -> None:
        """Have every answer report its hits, for whoever reads the counters now."""
        for entry in self._ring:
            entry.settle()

    def clear(self) -> None:
        """Forget everything, and keep nothing that is being worked out now."""
        self.generation += 1
        for entry in list(self._ring):
            self._remove(entry)

    def _make_room(self) -> None:
        """Second chance: the oldest answers go first, but one served since it was last looked at stays a round longer.

        So a flood of names that nobody asks twice passes through without pushing out those in use.
        """
        looks = 0
        while self._octets > self._max_octets and self._ring:
            oldest = next(iter(self._ring))
            if oldest.hits.count > oldest.looked_at and looks < _MAX_LOOKS:
                oldest.looked_at = oldest.hits.count
                self._ring.move_to_end(oldest)
                looks += 1
            else:
                self._remove(oldest)
                self.dropped["room"] += 1

    def _remove(self, entry: Entry) -> None:
        if entry not in self._ring:
            return
        del self._ring[entry]
        del entry.table.entries[entry.key], entry.table.answers[entry.key]
        self._octets -= entry.cost
        self._forget_dependencies(entry)
        entry.settle()

    def _note_dependencies(self, entry: Entry) -> None:
        for dependency in entry.depends_on:
            dependents = self._by_key.setdefault(dependency, entry)
            if isinstance(dependents, set):
                dependents.add(entry)
            elif dependents is not entry:
                self._by_key[dependency] = {dependents, entry}

    def _forget_dependencies(self, entry: Entry) -> None:
        for dependency in entry.depends_on:
            dependents = self._by_key.get(dependency)
            if dependents is entry:
                del self._by_key[dependency]
            elif isinstance(dependents, set):
                dependents.discard(entry)
                if not dependents:
                    del self._by_key[dependency]
