"""The store: the newest version of every object, with the indexes that questions need.

The contract, on which the answer cache rests:

- Only ``replace``, ``upsert`` and ``delete`` write. Objects are frozen; nobody changes one.
- A listener is told *after* a write is done and before the next one begins, with every key (cluster.lister) under which
  anything reads differently now. It may be told of a key under which nothing changed, never the other way round.
- The last write of an object counts; a source that may hear old news again drops it before it writes.
- States in between may be skipped: an object that changed twice between two reads is seen once.
- ``replace`` is applied as a difference: what is equal tells nothing, what is gone is deleted, and at no time does the
  store hold less than the old and the new state have in common.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TypeVar

from kubedns.cluster.addresses import Blocks, Owners
from kubedns.cluster.lister import (
    ANY_ADDRESS,
    ANY_SYNC,
    Key,
    address_key,
    namespace_key,
    node_key,
    service_key,
)
from kubedns.cluster.objects import (
    Endpoint,
    EndpointSlice,
    Kind,
    Namespace,
    Node,
    Object,
    ObjectKey,
    Pod,
    Service,
)
from kubedns.cluster.tally import Tally

Listener = Callable[[Collection[Key]], None]
Addressed = TypeVar("Addressed", Service, EndpointSlice)
Named = TypeVar("Named", Service, EndpointSlice)
Place = TypeVar("Place", str, tuple[str, str])
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


class Store:
    """Holds one cluster's objects and is its Lister. ``required``: the kinds without whose list nothing is denied."""

    def __init__(self, required: Iterable[Kind] = ()) -> None:
        self._missing = set(required)
        self._listeners: list[Listener] = []
        self._version = 0
        self._objects: dict[Kind, dict[tuple[str, str], Object]] = {kind: {} for kind in Kind}
        self._services: dict[str, dict[str, Service]] = {}
        self._slices: dict[tuple[str, str], dict[str, EndpointSlice]] = {}
        self._population: Tally[str] = Tally()
        self._node_names: Tally[str] = Tally()
        self._services_at: Owners[Service] = Owners()
        self._slices_at: Owners[EndpointSlice] = Owners()
        self._pods_at: Owners[Pod] = Owners()
        self._blocks = Blocks()

    # Writing

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
        gone = set(self._objects[kind])
        for item in objects:
            gone.discard((item.namespace, item.name))
            self._put(item, changed)
        for namespace, name in gone:
            self._take(ObjectKey(kind, namespace, name), changed)
        if kind in self._missing:
            self._missing.discard(kind)
            if not self._missing:
                changed.add(ANY_SYNC)
        self._tell(changed)

    def _put(self, item: Object, changed: set[Key]) -> None:
        objects = self._objects[KINDS[type(item)]]
        old = objects.get((item.namespace, item.name))
        if old is item or old == item:
            return
        objects[item.namespace, item.name] = item
        # What is new goes in before what is old goes out, so that an address that stays is at no time without owner.
        self._index(item, changed)
        if old is not None:
            self._unindex(old, changed)
            if isinstance(old, EndpointSlice) and isinstance(item, EndpointSlice):
                changed.update(map(address_key, changed_addresses(old, item)))
                return
        self._tell_addresses(item, changed)
        if old is not None:
            self._tell_addresses(old, changed)

    def _take(self, key: ObjectKey, changed: set[Key]) -> None:
        old = self._objects[key.kind].pop((key.namespace, key.name), None)
        if old is not None:
            self._unindex(old, changed)
            self._tell_addresses(old, changed)

    def _tell(self, changed: set[Key]) -> None:
        if changed:
            self._version += 1
            for listener in self._listeners:
                listener(changed)

    def _tell_addresses(self, item: Object, changed: set[Key]) -> None:
        if not isinstance(item, Node | Namespace):
            changed.update(map(address_key, addresses_of(item)))

    def _index(self, item: Object, changed: set[Key]) -> None:
        match item:
            case Service():
                self._services.setdefault(item.namespace, {})[item.name] = item
                self._own(self._services_at, item, changed)
                self._enter(item.namespace, changed)
            case EndpointSlice():
                self._slices.setdefault((item.namespace, item.service), {})[item.name] = item
                self._own(self._slices_at, item, changed)
            case Pod():
                for address in item.addresses:
                    self._pods_at.add(address, item)
                self._enter(item.namespace, changed)
            case Node():
                for name in suffixes(item.name)[1:]:
                    self._node_names.add(name)
        changed.update(self._keys(item))

    def _unindex(self, item: Object, changed: set[Key]) -> None:
        match item:
            case Service():
                _forget(self._services, item.namespace, item)
                self._disown(self._services_at, item, changed)
                self._leave(item.namespace, changed)
            case EndpointSlice():
                _forget(self._slices, (item.namespace, item.service), item)
                self._disown(self._slices_at, item, changed)
            case Pod():
                for address in item.addresses:
                    self._pods_at.remove(address, item)
                self._leave(item.namespace, changed)
            case Node():
                for name in suffixes(item.name)[1:]:
                    self._node_names.remove(name)
        changed.update(self._keys(item))

    def _keys(self, item: Object) -> Iterator[Key]:
        """The keys, beside those of its addresses, under which ``item`` is read."""
        match item:
            case Service():
                yield service_key(item.namespace, item.name)
            case EndpointSlice():
                yield service_key(item.namespace, item.service)
            case Pod():
                if item.subdomain:
                    yield service_key(item.namespace, item.subdomain)
                for address in item.addresses:
                    for endpoint_slice in self._slices_at.at(address):
                        yield service_key(endpoint_slice.namespace, endpoint_slice.service)
            case Node():
                yield from map(node_key, suffixes(item.name))
            case Namespace():
                yield namespace_key(item.name)

    def _own(self, owners: Owners[Addressed], item: Addressed, changed: set[Key]) -> None:
        for address in addresses_of(item):
            if owners.add(address, item):
                self._blocks.add(address)
                changed.add(ANY_ADDRESS)

    def _disown(self, owners: Owners[Addressed], item: Addressed, changed: set[Key]) -> None:
        for address in addresses_of(item):
            if owners.remove(address, item):
                self._blocks.remove(address)
                changed.add(ANY_ADDRESS)

    def _enter(self, namespace: str, changed: set[Key]) -> None:
        if self._population.add(namespace):
            changed.add(namespace_key(namespace))

    def _leave(self, namespace: str, changed: set[Key]) -> None:
        if self._population.remove(namespace):
            changed.add(namespace_key(namespace))

    # Reading

    @property
    def has_synced(self) -> bool:
        """Whether every required kind has been listed."""
        return not self._missing

    @property
    def version(self) -> int:
        """Grows by one with each write that changed something."""
        return self._version

    def service(self, namespace: str, name: str) -> Service | None:
        """The Service of that name."""
        of_namespace = self._services.get(namespace)
        return None if of_namespace is None else of_namespace.get(name)

    def services(self, namespace: str | None = None) -> Iterator[Service]:
        """All Services, or those of one namespace."""
        if namespace is not None:
            yield from self._services.get(namespace, {}).values()
            return
        for of_namespace in self._services.values():
            yield from of_namespace.values()

    def slices(self, namespace: str, service: str) -> Collection[EndpointSlice]:
        """The slices of a Service, in the order of their names; also where the Service itself is missing."""
        slices = self._slices.get((namespace, service))
        if slices is None:
            return ()
        return tuple(slices.values()) if len(slices) == 1 else [slices[name] for name in sorted(slices)]

    def services_at(self, address: bytes) -> Collection[Service]:
        """Services that have the address as a cluster IP."""
        return self._services_at.at(address)

    def endpoints_at(self, address: bytes) -> Iterator[tuple[EndpointSlice, Endpoint]]:
        """Endpoints that have the address, each with its slice, whatever their conditions."""
        for endpoint_slice in sorted(self._slices_at.at(address), key=lambda each: (each.namespace, each.name)):
            for endpoint in endpoint_slice.endpoints:
                if address in endpoint.addresses:
                    yield endpoint_slice, endpoint

    def pods_at(self, address: bytes) -> Collection[Pod]:
        """Pods that own the address."""
        return self._pods_at.at(address)

    def pod(self, namespace: str, name: str) -> Pod | None:
        """The Pod of that name."""
        found = self._objects[Kind.POD].get((namespace, name))
        return found if isinstance(found, Pod) else None

    def pods(self) -> Iterator[Pod]:
        """All Pods that are kept."""
        return (item for item in self._objects[Kind.POD].values() if isinstance(item, Pod))

    def node(self, name: str) -> Node | None:
        """The Node of that name."""
        found = self._objects[Kind.NODE].get(("", name))
        return found if isinstance(found, Node) else None

    def nodes(self) -> Iterator[Node]:
        """All Nodes."""
        return (item for item in self._objects[Kind.NODE].values() if isinstance(item, Node))

    def has_nodes_below(self, name: str) -> bool:
        """Whether a Node's name ends in ``.name``; for the empty name: whether there is a Node."""
        return name in self._node_names

    def namespace(self, name: str) -> Namespace | None:
        """The Namespace of that name."""
        found = self._objects[Kind.NAMESPACE].get(("", name))
        return found if isinstance(found, Namespace) else None

    def namespaces(self) -> Iterator[Namespace]:
        """All Namespaces."""
        return (item for item in self._objects[Kind.NAMESPACE].values() if isinstance(item, Namespace))

    def has_namespace(self, name: str) -> bool:
        """Whether there is a Namespace of that name, or a Service or Pod in one."""
        return name in self._population or ("", name) in self._objects[Kind.NAMESPACE]

    def addresses_within(self, prefix: bytes, bits: int, octets: int) -> Iterator[bytes]:
        """Cluster IPs and endpoint addresses of ``octets`` (4 or 16) length under the first ``bits`` of ``prefix``."""
        for address in self._blocks.candidates(prefix, bits, octets):
            if address in self._services_at or address in self._slices_at:
                yield address


def suffixes(name: str) -> list[str]:
    """A dotted name, what is left as its labels go from the left, and the empty name."""
    labels = name.split(".")
    return [".".join(labels[start:]) for start in range(len(labels) + 1)]


def addresses_of(item: Service | EndpointSlice | Pod) -> Iterable[bytes]:
    """The addresses that ``item`` has, each once."""
    match item:
        case Service():
            return dict.fromkeys(item.cluster_ips)
        case EndpointSlice():
            return dict.fromkeys(address for endpoint in item.endpoints for address in endpoint.addresses)
        case Pod():
            return item.addresses


def changed_addresses(old: EndpointSlice, new: EndpointSlice) -> set[bytes]:
    """The addresses of two versions of a slice about which they do not say the same."""
    if old.service != new.service:
        return {*addresses_of(old), *addresses_of(new)}
    difference = set(old.endpoints) ^ set(new.endpoints)
    return {address for endpoint in difference for address in endpoint.addresses}


def _forget(index: dict[Place, dict[str, Named]], place: Place, item: Named) -> None:
    """Take ``item`` out of an index, unless a newer version has its place already."""
    found = index[place]
    if found.get(item.name) is item:
        del found[item.name]
        if not found:
            del index[place]
