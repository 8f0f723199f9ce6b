"""The store: the newest version of every object, with the indexes that questions need.

The contract, on which the answer cache rests:

- Only ``replace``, ``upsert`` and ``delete`` write objects. Objects are frozen; nobody changes one.
- A listener is told *after* a write is done and before the next one begins, with every key (cluster.lister) under which
  anything reads differently now. It may be told of a key under which nothing changed, never the other way round.
- The last write of an object counts; a source that may hear old news again drops it before it writes.
- States in between may be skipped: an object that changed twice between two reads is seen once.
- What a source remembers from before may be put in ahead of the first list, then ``recalled`` says so: it can be
  answered from, and it is stale until each required kind has been listed.
- ``replace`` is applied as a difference: what is equal tells nothing, what is gone is deleted, and at no time does the
  store hold less than the old and the new state have in common.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from weakref import ref

from kubedns.cluster.changes import address_keys
from kubedns.cluster.frozen import Frozen
from kubedns.cluster.lister import ANY_SYNC, Key
from kubedns.cluster.objects import EndpointSlice, Kind, Namespace, Node, Object, ObjectKey, Pod, Service
from kubedns.cluster.tables import Tables

Listener = Callable[[Collection[Key]], None]
KINDS: dict[type[Object], Kind] = {
    Service: Kind.SERVICE,
    EndpointSlice: Kind.ENDPOINT_SLICE,
    Pod: Kind.POD,
    Node: Kind.NODE,
    Namespace: Kind.NAMESPACE,
}


def key_of(item: Object) -> ObjectKey:
    """What names ``item``."""
    return ObjectKey(KINDS[type(item)], item.namespace, item.name)


class Store(Tables):
    """Holds one cluster's objects and is its Lister. ``required``: the kinds without whose list nothing is denied."""

    def __init__(self, required: Iterable[Kind] = ()) -> None:
        super().__init__()
        self._missing = set(required)
        self._recalled: set[Kind] = set()
        self._listeners: list[Listener] = []
        self._version = 0
        self._frozen: ref[Frozen] | None = None

    @property
    def has_synced(self) -> bool:
        """Whether every required kind has been listed, or is remembered."""
        return not self._missing

    @property
    def is_stale(self) -> bool:
        """Whether a required kind is only remembered, and has yet to be listed."""
        return bool(self._recalled)

    @property
    def version(self) -> int:
        """Grows by one with each write that changed something."""
        return self._version

    def frozen(self) -> Frozen:
        """The same as it is now, whatever changes later; shared by all who want it until the next change."""
        frozen = None if self._frozen is None else self._frozen()
        if frozen is None or frozen.version != self._version:
            frozen = Frozen(self, has_synced=self.has_synced, is_stale=self.is_stale, version=self._version)
            self._frozen = ref(frozen)
        return frozen

    def subscribe(self, listener: Listener) -> None:
        """Tell ``listener`` of every change from now on."""
        self._listeners.append(listener)

    def upsert(self, item: Object) -> None:
        """Put in a new or changed object."""
        changed: set[Key] = set()
        self._put(item, changed)
        self._tell(changed)

    def delete(self, key: ObjectKey) -> None:
        """Take an object out, if it is there."""
        changed: set[Key] = set()
        self._take(key, changed)
        self._tell(changed)

    def replace(self, kind: Kind, objects: Iterable[Object]) -> None:
        """Make ``objects`` all that there is of ``kind``; with that the kind has been listed."""
        changed: set[Key] = set()
        gone = set(self.objects[kind])
        for item in objects:
            gone.discard((item.namespace, item.name))
            self._put(item, changed)
        for namespace, name in gone:
            self._take(ObjectKey(kind, namespace, name), changed)
        for waiting in (self._missing, self._recalled):
            if kind in waiting:
                waiting.discard(kind)
                if not waiting:
                    changed.add(ANY_SYNC)
        self._tell(changed)

    def recalled(self) -> None:
        """What is here is remembered from before: it counts until each kind that is missing has been listed."""
        self._recalled, self._missing = self._missing, set()
        self._tell({ANY_SYNC})

    def _put(self, item: Object, changed: set[Key]) -> None:
        objects = self.objects[KINDS[type(item)]]
        old = objects.get((item.namespace, item.name))
        if old is item or old == item:
            return
        objects[item.namespace, item.name] = item
        # What is new goes in before what is old goes out, so that an address that stays is at no time without owner.
        self.index(item, changed)
        if old is not None:
            self.unindex(old, changed)
        changed |= address_keys(old, item)

    def _take(self, key: ObjectKey, changed: set[Key]) -> None:
        old = self.objects[key.kind].pop((key.namespace, key.name), None)
        if old is not None:
            self.unindex(old, changed)
            changed |= address_keys(old, None)

    def _tell(self, changed: set[Key]) -> None:
        if changed:
            self._version += 1
            for listener in self._listeners:
                listener(changed)
