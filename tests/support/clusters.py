"""Objects and stores for tests, in few words."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

from msgspec.structs import replace

from kubedns.cluster.lister import Key
from kubedns.cluster.objects import (
    Endpoint,
    EndpointPort,
    EndpointSlice,
    Node,
    Object,
    Pod,
    Service,
    ServicePort,
)
from kubedns.cluster.store import Store, key_of


def store_of(objects: Sequence[Object]) -> Store:
    store = Store()
    for each in objects:
        store.upsert(each)
    return store


def change(store: Store, old: Object | None, new: Object | None) -> set[Key]:
    """Put ``new`` in the place of ``old``; the keys that the store told."""
    told: set[Key] = set()
    store.subscribe(told.update)
    if new is not None:
        store.upsert(new)
    elif old is not None:
        store.delete(key_of(old))
    return told


def packed(text: str) -> bytes:
    return ipaddress.ip_address(text).packed


def addresses(text: str) -> tuple[bytes, ...]:
    return tuple(map(packed, text.split()))


def service(where: str, ips: str = "", ports: str = "http/TCP/80", **given: object) -> Service:
    """``NAMESPACE/NAME``; ``ips`` with spaces between, ``None`` for headless; ``ports``: NAME/PROTOCOL/NUMBER."""
    namespace, name = where.split("/")
    found = tuple(ServicePort(each[0], each[1], int(each[2])) for each in (port.split("/") for port in ports.split()))
    headless = ips == "None"
    return replace(Service(namespace, name, () if headless else addresses(ips), found, headless), **given)


def endpoint(ips: str, **given: object) -> Endpoint:
    return replace(Endpoint(addresses(ips)), **given)


def endpoint_slice(where: str, of: str, *endpoints: Endpoint, ports: str = "http/TCP/80") -> EndpointSlice:
    namespace, name = where.split("/")
    found = tuple(EndpointPort(each[0], each[1], int(each[2])) for each in (port.split("/") for port in ports.split()))
    return EndpointSlice(namespace, name, of, found, endpoints)


def pod(where: str, ips: str, **given: object) -> Pod:
    namespace, name = where.split("/")
    return replace(Pod(namespace, name, "", addresses(ips)), **given)


def node(name: str, ips: str) -> Node:
    return Node(name, addresses(ips))
