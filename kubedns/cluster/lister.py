"""Lister: the read-only view of the store, and the keys by which it says what changed.

A key is what an answer depends on. Whoever reads something that is *absent* depends on it just the same: the store
tells the key when the object appears.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Protocol

from kubedns.cluster.objects import Endpoint, EndpointSlice, Namespace, Node, Pod, Service

Key = tuple[str, ...] | tuple[str, bytes]


def service_key(namespace: str, name: str) -> Key:
    """Changes with the Service, with any slice of it, and with a Pod behind one of its endpoints."""
    return ("service", namespace, name)


def address_key(address: bytes) -> Key:
    """Changes with whatever owns the address: Service, endpoint, Pod."""
    return ("address", address)


def namespace_key(name: str) -> Key:
    """Changes with the Namespace, and where :meth:`Lister.has_namespace` changes."""
    return ("namespace", name)


def node_key(name: str) -> Key:
    """Changes with the Node of that name, and with every Node whose name ends in ``.name``; empty: with every Node.

    So Node ``a.b.c`` tells the keys of ``a.b.c``, ``b.c``, ``c`` and the empty name; a denial needs one key only.
    """
    return ("node", name)


ANY_ADDRESS: Key = ("addresses",)
"""Changes when an address appears or goes."""

ANY_SYNC: Key = ("sync",)
"""Changes when the store becomes synced, and when what it remembers from before has been listed."""


class Lister(Protocol):
    """Reads of the newest objects; every look-up is O(1) or in the size of what it gives."""

    @property
    def has_synced(self) -> bool:
        """Whether every required kind has been listed; before that nothing can be denied."""

    @property
    def is_stale(self) -> bool:
        """Whether what there is, is remembered from before, and has yet to be listed."""

    def frozen(self) -> Lister:
        """The same as it is now, whatever changes later; for whoever reads it across changes."""

    def service(self, namespace: str, name: str) -> Service | None:
        """The Service of that name."""

    def services(self, namespace: str | None = None) -> Iterator[Service]:
        """All Services, or those of one namespace."""

    def slices(self, namespace: str, service: str) -> Collection[EndpointSlice]:
        """The slices of a Service, in the order of their names; also where the Service itself is missing."""

    def services_at(self, address: bytes) -> Collection[Service]:
        """Services that have the address as a cluster IP."""

    def endpoints_at(self, address: bytes) -> Iterable[tuple[EndpointSlice, Endpoint]]:
        """Endpoints that have the address, each with its slice, whatever their conditions."""

    def pods_at(self, address: bytes) -> Collection[Pod]:
        """Pods that own the address."""

    def pod(self, namespace: str, name: str) -> Pod | None:
        """The Pod of that name."""

    def pods(self) -> Iterator[Pod]:
        """All Pods that are kept."""

    def node(self, name: str) -> Node | None:
        """The Node of that name."""

    def nodes(self) -> Iterator[Node]:
        """All Nodes."""

    def has_nodes_below(self, name: str) -> bool:
        """Whether a Node's name ends in ``.name``; for the empty name: whether there is a Node."""

    def namespace(self, name: str) -> Namespace | None:
        """The Namespace of that name."""

    def namespaces(self) -> Iterator[Namespace]:
        """All Namespaces."""

    def has_namespace(self, name: str) -> bool:
        """Whether there is a Namespace of that name, or a Service or Pod in one (manifests may leave it out)."""

    def addresses_within(self, prefix: bytes, bits: int, octets: int) -> Iterator[bytes]:
        """Cluster IPs and endpoint addresses of ``octets`` (4 or 16) length under the first ``bits`` of ``prefix``.

        ``bits`` is a multiple of 4.
        """

    @property
    def version(self) -> int:
        """Grows by at least one with each change; usable as a zone's serial."""
