"""Lookup: what one question may read, and the keys that its answer comes to depend on; Found: what exists there."""

from __future__ import annotations

import msgspec

from kubedns.cluster.lister import Key, Lister, namespace_key, service_key
from kubedns.cluster.objects import Service
from kubedns.dns.names import Name
from kubedns.dns.rdata import Rdata
from kubedns.dns.rrset import RRset
from kubedns.records.options import PodsMode, RecordOptions
from kubedns.records.owner import Tree
from kubedns.records.zone import Zone


class Found(msgspec.Struct, frozen=True, gc=False):
    """A name exists. ``rdatas`` are of the type asked for; none: no data. ``alias``: it is one, of that name.

    ``ttl``: in seconds where it is not the configured one.
    """

    rdatas: tuple[Rdata, ...] = ()
    additional: tuple[RRset, ...] = ()
    alias: Name | None = None
    ttl: int | None = None


EXISTS = Found()
"""The name exists, with nothing of the type asked for."""


class Lookup:
    """Reads for one question of ``type`` in ``zone``; ``keys`` collects what was read, present or absent.

    ``forward``: the zone that targets are named in; None where only reverse zones are served. ``client``: the address
    of whoever asks, packed; ``knows_client`` tells afterwards whether the answer is for that one alone.
    """

    __slots__ = ("_client", "forward", "keys", "knows_client", "lister", "options", "type", "zone")

    def __init__(
        self,
        lister: Lister,
        options: RecordOptions,
        zone: Zone,
        forward: Zone | None,
        rtype: int,
        client: bytes = b"",
    ) -> None:
        self._client = client
        self.knows_client = False
        self.lister = lister
        self.options = options
        self.zone = zone
        self.forward = forward
        self.type = rtype
        self.keys: set[Key] = set()

    @property
    def client(self) -> bytes:
        """The address of whoever asks, packed; with this the answer is for that one alone."""
        self.knows_client = True
        return self._client

    def service(self, namespace: str, name: str) -> Service | None:
        """The Service, if its namespace is exposed."""
        self.keys.add(service_key(namespace, name))
        return self.lister.service(namespace, name) if self.exposes(namespace) else None

    def exposes(self, namespace: str) -> bool:
        """Whether the options let names of the namespace be seen; it need not exist unless it is chosen by label."""
        options = self.options
        if options.namespaces and namespace not in options.namespaces:
            return False
        if options.namespace_selector is None:
            return True
        self.keys.add(namespace_key(namespace))
        found = self.lister.namespace(namespace)
        return found is not None and options.namespace_selector.matches(found.labels)

    def has_namespace(self, namespace: str) -> bool:
        """Whether the namespace exists and is exposed."""
        self.keys.add(namespace_key(namespace))
        return self.exposes(namespace) and self.lister.has_namespace(namespace)

    def serves(self, tree: Tree) -> bool:
        """Whether the options give that part of a forward zone names."""
        if tree is Tree.PODS:
            return self.options.pods is not PodsMode.DISABLED
        if tree is Tree.MESH:
            return self.options.proxies is not None
        return tree is Tree.SERVICES or self.options.mesh
