"""``SERVICE.NAMESPACE.mesh.<zone>``: where the asking pod finds the proxy of its own node, whatever it wants of it."""

from __future__ import annotations

from collections.abc import Iterator

from kubedns.cluster.lister import address_key, node_key, service_key
from kubedns.records.endpoint import all_endpoints, is_published
from kubedns.records.lookup import EXISTS, Found, Lookup
from kubedns.records.owner import OwnProxy
from kubedns.records.rdatas import address_rdatas


def find_own_proxy(lookup: Lookup, owner: OwnProxy) -> Found | None:
    """Addresses of the ready proxies on the node that the client is on, where the Service exists.

    No data where the client's node is not known, or has no proxy just now.
    """
    if lookup.options.proxies is None or lookup.service(owner.namespace, owner.service) is None:
        return None
    nodes = set(_nodes_of(lookup, lookup.client))
    addresses = [address for node, address in _proxies(lookup, *lookup.options.proxies) if node in nodes]
    return Found(address_rdatas(addresses, lookup.type)) if addresses else EXISTS


def _proxies(lookup: Lookup, namespace: str, name: str) -> Iterator[tuple[str, bytes]]:
    """Node and address of each proxy that is ready; their own namespace may be hidden."""
    lookup.keys.add(service_key(namespace, name))
    service = lookup.lister.service(namespace, name)
    if service is None:
        return
    for _, endpoint in all_endpoints(lookup, service):
        if endpoint.node and is_published(service, endpoint):
            yield from ((endpoint.node, address) for address in endpoint.addresses)


def _nodes_of(lookup: Lookup, address: bytes) -> Iterator[str]:
    """The node of a pod with that address; or the node itself, for a pod in its network has the node's own."""
    lookup.keys.update((address_key(address), node_key("")))
    found = [pod.node for pod in lookup.lister.pods_at(address)]
    found += [endpoint.node for _, endpoint in lookup.lister.endpoints_at(address)]
    yield from found or (node.name for node in lookup.lister.nodes() if address in node.addresses)
