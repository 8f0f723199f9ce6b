"""Services: cluster IPs, headless ones, aliases, and the SRV names of their ports (§2.3, §2.4, §2.5)."""

from __future__ import annotations

from collections.abc import Iterator

from kubedns.cluster.objects import Service
from kubedns.dns.names import BadNameError, parse_name
from kubedns.dns.rdata import RecordType
from kubedns.records.endpoint import listeners_of, members_of, named_ports, published
from kubedns.records.lookup import EXISTS, Found, Lookup
from kubedns.records.owner import PortName, ProtocolName, ServiceName
from kubedns.records.rdatas import Listener, address_rdatas, srv_rdatas, target_rrsets


def find_service(lookup: Lookup, owner: ServiceName) -> Found | None:
    """Addresses of a Service, or its alias; SRV at its bare name lists every port, named or not."""
    service = lookup.service(owner.namespace, owner.service)
    if service is None or not exists(lookup, service):
        return None
    if service.external_name:
        return _alias(service)
    if lookup.type == RecordType.SRV:
        return _srv(lookup, list(service_listeners(lookup, service)))
    return Found(address_rdatas(service_addresses(lookup, service), lookup.type))


def find_protocol(lookup: Lookup, owner: ProtocolName) -> Found | None:
    """No data, where SRV names of that protocol exist below (RFC 8020 §2)."""
    service = lookup.service(owner.namespace, owner.service)
    if service is None or service.external_name or not exists(lookup, service):
        return None
    named = (each.protocol == owner.protocol and each.port for each in service_listeners(lookup, service))
    return EXISTS if any(named) else None


def find_port(lookup: Lookup, owner: PortName) -> Found | None:
    """SRV of a named port; A and AAAA there give the addresses that listen on it, as CoreDNS does."""
    service = lookup.service(owner.namespace, owner.service)
    if service is None or service.external_name or not exists(lookup, service):
        return None
    listeners = list(service_listeners(lookup, service, owner))
    if not listeners:
        return None
    if lookup.type == RecordType.SRV:
        return _srv(lookup, listeners)
    return Found(address_rdatas([each.address for each in listeners], lookup.type))


def exists(lookup: Lookup, service: Service) -> bool:
    """Whether the Service's name is there: a headless one needs a published endpoint (§2.4.1), an alias never does."""
    if service.external_name:
        return True
    if service.is_headless or lookup.options.ignore_empty_services:
        return next(published(lookup, service), None) is not None
    return True


def service_addresses(lookup: Lookup, service: Service) -> tuple[bytes, ...]:
    """Cluster IPs, or the addresses of a headless Service's published endpoints."""
    if service.is_headless:
        return tuple([address for _, endpoint in published(lookup, service) for address in endpoint.addresses])
    return service.cluster_ips


def service_listeners(lookup: Lookup, service: Service, owner: PortName | None = None) -> Iterator[Listener]:
    """Ports as clients reach them: the Service's own at its cluster IPs, the endpoints' where it is headless.

    With ``owner`` only those that it names.
    """
    if service.is_headless:
        yield from listeners_of(lookup.zone, service, members_of(lookup, service, published(lookup, service)), owner)
        return
    target = lookup.zone.service_name(service.namespace, service.name)
    for port in service.ports if owner is None else named_ports(service.ports, owner):
        for address in service.cluster_ips:
            yield Listener(port.name, port.protocol, port.number, target, address)


def _srv(lookup: Lookup, listeners: list[Listener]) -> Found:
    return Found(srv_rdatas(listeners), target_rrsets(listeners, lookup.options.ttl))


def _alias(service: Service) -> Found:
    """CNAME for every type (RFC 1034 §3.6.2); a target that is no name at all leaves the Service without data."""
    try:
        return Found(alias=parse_name(service.external_name))
    except BadNameError:
        return EXISTS
