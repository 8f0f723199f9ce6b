"""PTR of cluster IPs and of endpoints (§2.3.3, §2.4.3), and the names above them."""

from __future__ import annotations

from kubedns.cluster.lister import ANY_ADDRESS, address_key
from kubedns.dns.names import Name
from kubedns.dns.rdata import PTR, RecordType
from kubedns.records.endpoint import endpoint_label, is_published
from kubedns.records.lookup import EXISTS, Found, Lookup
from kubedns.records.owner import ReverseName
from kubedns.records.zone import Zone


def find_reverse(lookup: Lookup, owner: ReverseName) -> Found | None:
    """PTR of a whole address; no data above one that has a PTR (RFC 8020 §2)."""
    if owner.bits == 8 * owner.octets:
        names = pointers(lookup, owner.prefix)
        if lookup.type == RecordType.PTR:
            return Found(tuple([PTR(name) for name in names])) if names else None
        return EXISTS if names else None
    lookup.keys.add(ANY_ADDRESS)
    below = lookup.lister.addresses_within(owner.prefix, owner.bits, owner.octets)
    return EXISTS if any(pointers(lookup, address) for address in below) else None


def pointers(lookup: Lookup, address: bytes) -> tuple[Name, ...]:
    """Names of what has the address: Services by cluster IP, else published endpoints; sorted, each once."""
    lookup.keys.add(address_key(address))
    zone = lookup.forward
    if zone is None:
        return ()
    services = [
        zone.service_name(service.namespace, service.name)
        for service in lookup.lister.services_at(address)
        if lookup.exposes(service.namespace)
    ]
    names = services or _endpoint_names(lookup, zone, address)
    return tuple(sorted(set(names), key=_labels))


def _endpoint_names(lookup: Lookup, zone: Zone, address: bytes) -> list[Name]:
    if not lookup.options.serve_endpoints:
        return []
    names = []
    for endpoint_slice, endpoint in lookup.lister.endpoints_at(address):
        service = lookup.service(endpoint_slice.namespace, endpoint_slice.service)
        if service is not None and not service.external_name and is_published(service, endpoint):
            label = endpoint_label(lookup, service, endpoint, address)
            names.append(zone.service_child(service.namespace, service.name, label))
    return names


def _labels(name: Name) -> tuple[bytes, ...]:
    return name.key[::-1]
