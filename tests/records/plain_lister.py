"""A Lister over a plain list of objects, and the keys that a change of one tells: the contract of lister.py, spelt out.

Each change makes a new one, so that what was before stays to be compared with.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from typing import TypeVar

from kubedns.cluster.lister import ANY_ADDRESS, Key, address_key, namespace_key, node_key, service_key
from kubedns.cluster.objects import Endpoint, EndpointSlice, Namespace, Node, Object, Pod, Service

Place = tuple[type[Object], str, str]
T = TypeVar("T", Service, EndpointSlice, Pod, Node, Namespace)


def place(found: Object) -> Place:
    return (type(found), found.namespace, found.name)


class PlainLister:
    def __init__(self, objects: Iterable[Object], has_synced: bool = True, version: int = 1) -> None:
        self.objects = {place(each): each for each in objects}
        self.has_synced = has_synced
        self.version = version
        self._slices: dict[tuple[str, str], list[EndpointSlice]] = defaultdict(list)
        self._services_at: dict[bytes, list[Service]] = defaultdict(list)
        self._endpoints_at: dict[bytes, list[tuple[EndpointSlice, Endpoint]]] = defaultdict(list)
        self._pods_at: dict[bytes, list[Pod]] = defaultdict(list)
        self._namespaces: set[str] = set()
        self._suffixes: set[str] = set()
        for each in self.objects.values():
            self._index(each)

    def _index(self, found: Object) -> None:
        match found:
            case Service():
                self._namespaces.add(found.namespace)
                for address in found.cluster_ips:
                    self._services_at[address].append(found)
            case EndpointSlice():
                self._slices[found.namespace, found.service].append(found)
                self._slices[found.namespace, found.service].sort(key=lambda each: each.name)
                for endpoint in found.endpoints:
                    for address in endpoint.addresses:
                        self._endpoints_at[address].append((found, endpoint))
            case Pod():
                self._namespaces.add(found.namespace)
                for address in found.addresses:
                    self._pods_at[address].append(found)
            case Node():
                self._suffixes.update(suffixes(found.name)[1:])
            case Namespace():
                self._namespaces.add(found.name)

    def changed(self, old: Object | None, new: Object | None) -> tuple[PlainLister, set[Key]]:
        """What is there once ``old`` is replaced by ``new``, and the keys that this tells."""
        left = [each for each in self.objects.values() if old is None or place(each) != place(old)]
        after = PlainLister([*left, *([new] if new else [])], version=self.version + 1)
        keys = {key for each in (old, new) if each for key in self._keys(each)}
        if self.addresses() != after.addresses():
            keys.add(ANY_ADDRESS)
        keys.update(namespace_key(name) for name in self._namespaces ^ after._namespaces)
        return after, keys

    def _keys(self, found: Object) -> Iterator[Key]:
        match found:
            case Service():
                yield service_key(found.namespace, found.name)
                yield from map(address_key, found.cluster_ips)
            case EndpointSlice():
                yield service_key(found.namespace, found.service)
                yield from (address_key(address) for each in found.endpoints for address in each.addresses)
            case Pod():
                yield from map(address_key, found.addresses)
                for each in self.all(EndpointSlice):
                    if each.namespace == found.namespace and any(one.pod == found.name for one in each.endpoints):
                        yield service_key(each.namespace, each.service)
            case Node():
                yield from map(node_key, suffixes(found.name))
            case Namespace():
                yield namespace_key(found.name)

    def addresses(self) -> set[bytes]:
        return set(self._services_at) | set(self._endpoints_at)

    def all(self, kind: type[T]) -> list[T]:
        return [each for each in self.objects.values() if isinstance(each, kind)]

    def service(self, namespace: str, name: str) -> Service | None:
        return self._get(Service, namespace, name)

    def services(self, namespace: str | None = None) -> Iterator[Service]:
        return iter([each for each in self.all(Service) if namespace in (None, each.namespace)])

    def slices(self, namespace: str, service: str) -> Collection[EndpointSlice]:
        return self._slices.get((namespace, service), ())

    def services_at(self, address: bytes) -> Collection[Service]:
        return self._services_at.get(address, ())

    def endpoints_at(self, address: bytes) -> Iterable[tuple[EndpointSlice, Endpoint]]:
        return self._endpoints_at.get(address, ())

    def pods_at(self, address: bytes) -> Collection[Pod]:
        return self._pods_at.get(address, ())

    def pod(self, namespace: str, name: str) -> Pod | None:
        return self._get(Pod, namespace, name)

    def pods(self) -> Iterator[Pod]:
        return iter(self.all(Pod))

    def node(self, name: str) -> Node | None:
        return self._get(Node, "", name)

    def nodes(self) -> Iterator[Node]:
        return iter(self.all(Node))

    def has_nodes_below(self, name: str) -> bool:
        return name in self._suffixes

    def namespace(self, name: str) -> Namespace | None:
        return self._get(Namespace, "", name)

    def namespaces(self) -> Iterator[Namespace]:
        return iter(self.all(Namespace))

    def has_namespace(self, name: str) -> bool:
        return name in self._namespaces

    def addresses_within(self, prefix: bytes, bits: int, octets: int) -> Iterator[bytes]:
        digits = prefix.hex()[: bits // 4]
        return (each for each in sorted(self.addresses()) if len(each) == octets and each.hex().startswith(digits))

    def _get(self, kind: type[T], namespace: str, name: str) -> T | None:
        found = self.objects.get((kind, namespace, name))
        return found if isinstance(found, kind) else None


def suffixes(name: str) -> list[str]:
    """``a.b``, ``b`` and the empty name for ``a.b``."""
    labels = name.split(".")
    return [".".join(labels[at:]) for at in range(len(labels) + 1)]
