"""Tables: the objects and the indexes by which they are found; all that is read of a store."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TypeVar

from kubedns.cluster.addresses import Blocks, Owners
from kubedns.cluster.changes import addresses_of, suffixes
from kubedns.cluster.lister import ANY_ADDRESS, Key, namespace_key, node_key, service_key
from kubedns.cluster.objects import Endpoint, EndpointSlice, Kind, Namespace, Node, Object, Pod, Service
from kubedns.cluster.tally import Tally

Addressed = TypeVar("Addressed", Service, EndpointSlice)
Named = TypeVar("Named", Service, EndpointSlice)
Place = TypeVar("Place", str, tuple[str, str])


class Tables:
    """Finds objects for a Lister. ``objects`` has them all, by kind, namespace and name."""

    def __init__(self) -> None:
        self.objects: dict[Kind, dict[tuple[str, str], Object]] = {kind: {} for kind in Kind}
        self._services: dict[str, dict[str, Service]] = {}
        self._slices: dict[tuple[str, str], dict[str, EndpointSlice]] = {}
        self._population: Tally[str] = Tally()
        self._node_names: Tally[str] = Tally()
        self._services_at: Owners[Service] = Owners()
        self._slices_at: Owners[EndpointSlice] = Owners()
        self._pods_at: Owners[Pod] = Owners()
        self._blocks = Blocks()

    def take(self, other: Tables) -> None:
        """Hold what ``other`` holds now. Objects are shared, tables are not."""
        self.objects = {kind: found.copy() for kind, found in other.objects.items()}
        self._services = {namespace: found.copy() for namespace, found in other._services.items()}
        self._slices = {service: found.copy() for service, found in other._slices.items()}
        self._population = other._population.copy()
        self._node_names = other._node_names.copy()
        self._services_at = other._services_at.copy()
        self._slices_at = other._slices_at.copy()
        self._pods_at = other._pods_at.copy()
        self._blocks = other._blocks.copy()

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
        found = self.objects[Kind.POD].get((namespace, name))
        return found if isinstance(found, Pod) else None

    def pods(self) -> Iterator[Pod]:
        """All Pods that are kept."""
        return (item for item in self.objects[Kind.POD].values() if isinstance(item, Pod))

    def node(self, name: str) -> Node | None:
        """The Node of that name."""
        found = self.objects[Kind.NODE].get(("", name))
        return found if isinstance(found, Node) else None

    def nodes(self) -> Iterator[Node]:
        """All Nodes."""
        return (item for item in self.objects[Kind.NODE].values() if isinstance(item, Node))

    def has_nodes_below(self, name: str) -> bool:
        """Whether a Node's name ends in ``.name``; for the empty name: whether there is a Node."""
        return name in self._node_names

    def namespace(self, name: str) -> Namespace | None:
        """The Namespace of that name."""
        found = self.objects[Kind.NAMESPACE].get(("", name))
        return found if isinstance(found, Namespace) else None

    def namespaces(self) -> Iterator[Namespace]:
        """All Namespaces."""
        return (item for item in self.objects[Kind.NAMESPACE].values() if isinstance(item, Namespace))

    def has_namespace(self, name: str) -> bool:
        """Whether there is a Namespace of that name, or a Service or Pod in one."""
        return name in self._population or ("", name) in self.objects[Kind.NAMESPACE]

    def addresses_within(self, prefix: bytes, bits: int, octets: int) -> Iterator[bytes]:
        """Cluster IPs and endpoint addresses of ``octets`` (4 or 16) length under the first ``bits`` of ``prefix``."""
        for address in self._blocks.candidates(prefix, bits, octets):
            if address in self._services_at or address in self._slices_at:
                yield address

    def index(self, item: Object, changed: set[Key]) -> None:
        """Enter an object in the indexes, and in ``changed`` the keys beside those of its addresses."""
        match item:
            case Service():
                self._services.setdefault(item.namespace, {})[item.name] = item
                self._own(self._services_at, item, changed)
                self._enter(item.namespace, changed)
            case EndpointSlice():
                self._slices.setdefault((item.namespace, item.service), {})[item.name] = item
                self._own(self._slices_at, item, changed)
            case Pod():
                for address in addresses_of(item):
                    self._pods_at.add(address, item)
                self._enter(item.namespace, changed)
            case Node():
                for name in suffixes(item.name)[1:]:
                    self._node_names.add(name)
        changed.update(self._keys(item))

    def unindex(self, item: Object, changed: set[Key]) -> None:
        """Take an object out of the indexes; a newer version that is there already stays."""
        match item:
            case Service():
                _forget(self._services, item.namespace, item)
                self._disown(self._services_at, item, changed)
                self._leave(item.namespace, changed)
            case EndpointSlice():
                _forget(self._slices, (item.namespace, item.service), item)
                self._disown(self._slices_at, item, changed)
            case Pod():
                for address in addresses_of(item):
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


def _forget(index: dict[Place, dict[str, Named]], place: Place, item: Named) -> None:
    """Take ``item`` out of an index, unless a newer version has its place already."""
    found = index[place]
    if found.get(item.name) is item:
        del found[item.name]
        if not found:
            del index[place]
