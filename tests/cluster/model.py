"""A slow and simple cluster that the store is compared with: a list of objects, looked through each time."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import TypeVar

from kubedns.cluster.changes import addresses_of
from kubedns.cluster.lister import ANY_ADDRESS, Key, Lister, address_key, namespace_key, node_key, service_key
from kubedns.cluster.objects import (
    Endpoint,
    EndpointSlice,
    Kind,
    Namespace,
    Node,
    Object,
    Pod,
    Service,
)
from tests.support.clusters import packed

NAMES = ("a", "b")
ADDRESSES = tuple(map(packed, ("10.0.0.1", "10.0.0.2", "10.1.0.1", "fd00::1", "fd00::2")))
NODES = ("n", "n.a", "n.b.a")
NODE_NAMES = ("", "a", "b.a", *NODES)
Reading = dict[Key, object]
AnObject = TypeVar("AnObject", Service, EndpointSlice, Pod, Node, Namespace)


def random_object(random: Random) -> Object:
    """Some object of a small cluster, in which everything soon meets everything."""
    some = tuple(random.sample(ADDRESSES, random.randrange(3)))
    namespace, name = random.choice(NAMES), random.choice(NAMES)
    match random.choice(list(Kind)):
        case Kind.SERVICE:
            return Service(namespace, name, some, (), not some)
        case Kind.ENDPOINT_SLICE:
            endpoints = [
                Endpoint((address,), ready=random.random() < 0.7, pod=random.choice(NAMES)) for address in some
            ]
            return EndpointSlice(namespace, random.choice(NAMES), name, (), tuple(endpoints))
        case Kind.POD:
            return Pod(namespace, name, "", some, subdomain=random.choice(("", *NAMES)))
        case Kind.NODE:
            return Node(random.choice(NODES), some)
        case Kind.NAMESPACE:
            return Namespace(name, {"color": random.choice(("red", "blue"))})


def read(lister: Lister) -> Reading:
    """What can be read under each key."""
    found: Reading = {}
    for namespace in NAMES:
        found[namespace_key(namespace)] = (lister.namespace(namespace), lister.has_namespace(namespace))
        for name in NAMES:
            slices = tuple(lister.slices(namespace, name))
            behind = {pod for each in slices for at in addresses_of(each) for pod in lister.pods_at(at)}
            below = {pod for pod in lister.pods() if (pod.namespace, pod.subdomain) == (namespace, name)}
            found[service_key(namespace, name)] = (lister.service(namespace, name), slices, behind, below)
    for address in ADDRESSES:
        ends = [(each.namespace, each.name, each.service, end) for each, end in lister.endpoints_at(address)]
        found[address_key(address)] = (set(lister.services_at(address)), ends, set(lister.pods_at(address)))
    for name in NODE_NAMES:
        found[node_key(name)] = (lister.node(name), lister.has_nodes_below(name))
    starts = {4: ADDRESSES[0], 16: ADDRESSES[3]}
    found[ANY_ADDRESS] = {
        (bits, octets): set(lister.addresses_within(starts[octets], bits, octets))
        for octets in (4, 16)
        for bits in range(0, 8 * octets + 1, 4)
    }
    return found


class Model:
    """A Lister that looks through all objects."""

    version = 0
    has_synced = True
    is_stale = False

    def __init__(self, objects: list[Object]) -> None:
        self._objects = objects

    def frozen(self) -> Model:
        return self

    def service(self, namespace: str, name: str) -> Service | None:
        return next((each for each in self.services(namespace) if each.name == name), None)

    def services(self, namespace: str | None = None) -> Iterator[Service]:
        found: Iterator[Service] = self._of(Service)
        return (each for each in found if namespace in (None, each.namespace))

    def slices(self, namespace: str, service: str) -> list[EndpointSlice]:
        found = [each for each in self._of(EndpointSlice) if (each.namespace, each.service) == (namespace, service)]
        return sorted(found, key=lambda each: each.name)

    def services_at(self, address: bytes) -> list[Service]:
        return [each for each in self.services() if address in each.cluster_ips]

    def endpoints_at(self, address: bytes) -> Iterator[tuple[EndpointSlice, Endpoint]]:
        slices: list[EndpointSlice] = sorted(self._of(EndpointSlice), key=lambda each: (each.namespace, each.name))
        for each in slices:
            yield from ((each, end) for end in each.endpoints if address in end.addresses)

    def pods_at(self, address: bytes) -> list[Pod]:
        return [each for each in self.pods() if address in each.addresses]

    def pod(self, namespace: str, name: str) -> Pod | None:
        return next((each for each in self.pods() if (each.namespace, each.name) == (namespace, name)), None)

    def pods(self) -> Iterator[Pod]:
        return self._of(Pod)

    def node(self, name: str) -> Node | None:
        return next((each for each in self.nodes() if each.name == name), None)

    def nodes(self) -> Iterator[Node]:
        return self._of(Node)

    def has_nodes_below(self, name: str) -> bool:
        return any(not name or each.name.endswith(f".{name}") for each in self.nodes())

    def namespace(self, name: str) -> Namespace | None:
        return next((each for each in self.namespaces() if each.name == name), None)

    def namespaces(self) -> Iterator[Namespace]:
        return self._of(Namespace)

    def has_namespace(self, name: str) -> bool:
        used = {each.namespace for each in self.services()} | {each.namespace for each in self.pods()}
        return name in used or self.namespace(name) is not None

    def addresses_within(self, prefix: bytes, bits: int, octets: int) -> Iterator[bytes]:
        of_services = {address for each in self.services() for address in each.cluster_ips}
        of_endpoints = {at for each in self._of(EndpointSlice) for end in each.endpoints for at in end.addresses}
        for address in of_services | of_endpoints:
            if len(address) == octets and _bits(address, bits) == _bits(prefix, bits):
                yield address

    def _of(self, kind: type[AnObject]) -> Iterator[AnObject]:
        return (each for each in self._objects if isinstance(each, kind))


def _bits(address: bytes, bits: int) -> str:
    return "".join(f"{octet:08b}" for octet in address)[:bits]
