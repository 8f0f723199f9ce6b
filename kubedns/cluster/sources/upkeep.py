"""Upkeep: lists and events of one resource → the store, which never goes back to what is older than it has.

An object's resourceVersion is kept in its ``origin``, where people see it too; two are compared as numbers where both
are, else the one that comes last counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec

from kubedns.cluster.bodies import Metadata, ObjectBody
from kubedns.cluster.checks import BadObjectError
from kubedns.cluster.decoding import DEFAULT_NAMESPACE
from kubedns.cluster.objects import Kind, Object, ObjectKey
from kubedns.cluster.sources.resources import ENDPOINTS, Resource
from kubedns.cluster.store import Store, key_of

ORIGIN = "resourceVersion "
B = TypeVar("B", bound=ObjectBody)


class Upkeep:
    """Writes one ``resource`` into ``store``. ``skip`` is told the name of each object that cannot be used, and why."""

    def __init__(self, resource: Resource, store: Store, skip: Callable[[str, str], None]) -> None:
        self._resource = resource
        self._store = store
        self._skip = skip
        self._listed: dict[tuple[str, str], Object] = {}
        self.repairs = 0

    def begin_list(self) -> None:
        """A list begins: nothing of it has been seen."""
        self._listed = {}

    def add_listed(self, bodies: Sequence[ObjectBody], heard_of: str) -> None:
        """A part of the list, put in at once; what was missed though the watch had come to ``heard_of`` is counted."""
        for body in bodies:
            for item in self._put_all(body, heard_of):
                self._listed[item.namespace, item.name] = item

    def end_list(self) -> None:
        """The list is whole: what is not in it is gone."""
        self._store.replace(self._resource.kind, self._listed.values())
        self._listed = {}

    def put(self, body: ObjectBody) -> Sequence[Object]:
        """An event: the object is new or has changed. What is other now than before, but for its version."""
        before = {key_of(held): held for held in self._made_of(body.metadata)}
        return [item for item in self._put_all(body, "") if not _is_alike(item, before.get(key_of(item)))]

    def remove(self, body: ObjectBody) -> None:
        """An event: the object is gone, also from a list that is coming."""
        self._remove(self._made_of(body.metadata), body.metadata.resource_version or "")

    def _put_all(self, body: ObjectBody, heard_of: str) -> Sequence[Object]:
        """Put in what ``body`` stands for, in place of what it stood for; what is there then."""
        new = self._objects(body)
        if new is None:
            return ()
        if self._resource is ENDPOINTS:
            stays = set(map(key_of, new))
            gone = [old for old in self._made_of(body.metadata) if key_of(old) not in stays]
            self._remove(gone, body.metadata.resource_version or "")
        return [self._put(item, heard_of) for item in new]

    def _remove(self, gone: Sequence[Object], version: str) -> None:
        """Take out what is not newer than ``version``."""
        for old in gone:
            if not is_older(version, version_of(old)):
                self._store.delete(key_of(old))
                self._listed.pop((old.namespace, old.name), None)

    def _put(self, item: Object, heard_of: str) -> Object:
        """Put ``item`` in unless what is there is newer; what is there then."""
        old = self._held(key_of(item))
        if old is not None and (old == item or is_older(version_of(item), version_of(old))):
            return old
        if heard_of and not is_older(heard_of, version_of(item)):
            self.repairs += 1
        self._store.upsert(item)
        return item

    def _objects(self, body: ObjectBody) -> Sequence[Object] | None:
        """What ``body`` stands for; None for what cannot be used."""
        try:
            return self._resource.decode(body, f"{ORIGIN}{body.metadata.resource_version or '?'}")
        except BadObjectError as error:
            self._skip(f"{body.metadata.namespace or ''}/{body.metadata.name}".lstrip("/"), str(error))
            return None

    def _made_of(self, metadata: Metadata) -> list[Object]:
        """What the store holds of an object of the API."""
        namespace = metadata.namespace or DEFAULT_NAMESPACE
        if self._resource is ENDPOINTS:
            return list(self._store.slices(namespace, metadata.name))
        kind = self._resource.kind
        key = ObjectKey(kind, "" if kind in (Kind.NODE, Kind.NAMESPACE) else namespace, metadata.name)
        held = self._held(key)
        return [] if held is None else [held]

    def _held(self, key: ObjectKey) -> Object | None:
        return self._store.objects[key.kind].get((key.namespace, key.name))


def _is_alike(item: Object, other: Object | None) -> bool:
    return other is not None and msgspec.structs.replace(other, origin=item.origin) == item


def version_of(item: Object) -> str:
    """The resourceVersion that an object came with."""
    return item.origin.removeprefix(ORIGIN)


def is_older(version: str, other: str) -> bool:
    """Whether ``version`` is certainly from before ``other``."""
    return version.isdecimal() and other.isdecimal() and int(version) < int(other)
