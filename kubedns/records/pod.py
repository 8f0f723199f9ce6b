"""Names of pods by their address: ``A-B-C-D.NAMESPACE.pod.<zone>``."""

from __future__ import annotations

from kubedns.cluster.lister import address_key
from kubedns.records.dashed import dashed, parse_dashed
from kubedns.records.lookup import Found, Lookup
from kubedns.records.options import PodsMode
from kubedns.records.owner import PodName
from kubedns.records.rdatas import address_rdatas


def find_pod(lookup: Lookup, owner: PodName) -> Found | None:
    """The address that the label spells: any, in a namespace that exists, or only that of a Pod in it (verified)."""
    mode = lookup.options.pods
    address = parse_dashed(owner.label)
    if mode is PodsMode.DISABLED or address is None:
        return None
    is_there = lookup.has_namespace(owner.namespace) if mode is PodsMode.INSECURE else _has_pod(lookup, owner, address)
    return Found(address_rdatas((address,), lookup.type)) if is_there else None


def _has_pod(lookup: Lookup, owner: PodName, address: bytes) -> bool:
    """Whether a Pod of that namespace owns the address, spelt as its text is."""
    if dashed(address) != owner.label:
        return False
    lookup.keys.add(address_key(address))
    return lookup.exposes(owner.namespace) and any(
        pod.namespace == owner.namespace for pod in lookup.lister.pods_at(address)
    )
