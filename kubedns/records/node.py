"""Names of nodes: ``NODE.<zone>`` and ``NODE.node.<zone>``, so that a pod reaches what runs on its node by name."""

from __future__ import annotations

from kubedns.cluster.lister import node_key
from kubedns.records.lookup import EXISTS, Found, Lookup
from kubedns.records.owner import NodeName
from kubedns.records.rdatas import address_rdatas


def find_node(lookup: Lookup, owner: NodeName) -> Found | None:
    """The node's InternalIPs; no data above the names of nodes that have dots (RFC 8020 §2)."""
    lookup.keys.add(node_key(owner.name))
    node = lookup.lister.node(owner.name)
    if node is not None:
        return Found(address_rdatas(node.addresses, lookup.type))
    return EXISTS if lookup.lister.has_nodes_below(owner.name) else None
