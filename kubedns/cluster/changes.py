"""What a change of an object changes for those who read: addresses and keys (cluster.lister)."""

from __future__ import annotations

from collections.abc import Iterable

from kubedns.cluster.lister import Key, address_key
from kubedns.cluster.objects import EndpointSlice, Namespace, Node, Object, Pod, Service


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
            return dict.fromkeys(item.addresses)


def changed_addresses(old: EndpointSlice, new: EndpointSlice) -> set[bytes]:
    """The addresses of two versions of a slice about which they do not say the same."""
    if old.service != new.service:
        return {*addresses_of(old), *addresses_of(new)}
    difference = set(old.endpoints) ^ set(new.endpoints)
    return {address for endpoint in difference for address in endpoint.addresses}


def address_keys(old: Object | None, new: Object | None) -> set[Key]:
    """The keys of the addresses that either version of an object has, and of which they do not say the same."""
    if isinstance(old, EndpointSlice) and isinstance(new, EndpointSlice):
        return set(map(address_key, changed_addresses(old, new)))
    both = [item for item in (old, new) if item is not None and not isinstance(item, Node | Namespace)]
    return {address_key(address) for item in both for address in addresses_of(item)}
