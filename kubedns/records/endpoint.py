"""Endpoints: which are published, what each is called, and the records at an endpoint's own name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

import msgspec

from kubedns.cluster.objects import Endpoint, EndpointPort, EndpointSlice, Pod, Service, ServicePort
from kubedns.dns.names import MAX_LABEL_OCTETS
from kubedns.dns.rdata import TXT, RecordType
from kubedns.records.dashed import dashed, parse_dashed
from kubedns.records.lookup import EXISTS, Found, Lookup
from kubedns.records.owner import EndpointName, PortName
from kubedns.records.rdatas import Listener, address_rdatas, srv_rdatas, target_rrsets
from kubedns.records.zone import Zone, child_of

_MAX_STRING_OCTETS = 255
Port = TypeVar("Port", ServicePort, EndpointPort)


class Member(msgspec.Struct, frozen=True, gc=False):
    """One address of an endpoint, and the ``label`` that names it below its Service, or its cluster's part of it."""

    label: str
    address: bytes
    endpoint: Endpoint
    endpoint_slice: EndpointSlice

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels between the Service's name and the endpoint's own, which is the first of them."""
        cluster = self.endpoint_slice.cluster
        return (self.label, cluster) if cluster else (self.label,)


def find_endpoint(lookup: Lookup, owner: EndpointName) -> Found | None:
    """Addresses and ports of the published endpoints of that name; an alias has none below it."""
    service = lookup.service(owner.namespace, owner.service)
    if service is None or service.external_name:
        return None
    members = list(_named(lookup, service, owner))
    if members:
        return members_found(lookup, service, members)
    has_cluster = not owner.cluster and any(
        endpoint_slice.cluster == owner.endpoint for endpoint_slice, _ in published(lookup, service)
    )
    return EXISTS if has_cluster else None


def members_found(lookup: Lookup, service: Service, members: list[Member]) -> Found:
    """What members that share a label have at their name."""
    if lookup.type == RecordType.SRV:
        listeners = list(listeners_of(lookup.zone, service, members))
        return Found(srv_rdatas(listeners), target_rrsets(listeners, lookup.options.ttl))
    if lookup.type == RecordType.TXT and lookup.options.mesh:
        return Found(fact_rdatas(members))
    return Found(address_rdatas([member.address for member in members], lookup.type))


def published(lookup: Lookup, service: Service) -> Iterator[tuple[EndpointSlice, Endpoint]]:
    """Endpoints of the Service that names are made of: the ready ones, or all where it says so (§2.4.1)."""
    for endpoint_slice, endpoint in all_endpoints(lookup, service):
        if is_published(service, endpoint):
            yield endpoint_slice, endpoint


def all_endpoints(lookup: Lookup, service: Service) -> Iterator[tuple[EndpointSlice, Endpoint]]:
    """Endpoints of the Service that have an address, ready or not, in the order of the slices."""
    if lookup.options.serve_endpoints:
        for endpoint_slice in lookup.lister.slices(service.namespace, service.name):
            for endpoint in endpoint_slice.endpoints:
                if endpoint.addresses:
                    yield endpoint_slice, endpoint


def is_published(service: Service, endpoint: Endpoint) -> bool:
    """Readiness decides, unless the Service asks every consumer to disregard it."""
    return endpoint.ready or service.publish_not_ready


def members_of(
    lookup: Lookup, service: Service, endpoints: Iterable[tuple[EndpointSlice, Endpoint]]
) -> Iterator[Member]:
    """Each address of the endpoints with its label."""
    for endpoint_slice, endpoint in endpoints:
        own = _own_label(lookup, service, endpoint)
        for address in endpoint.addresses:
            yield Member(own or dashed(address), address, endpoint, endpoint_slice)


def endpoint_label(lookup: Lookup, service: Service, endpoint: Endpoint, address: bytes) -> str:
    """The label that names the endpoint at ``address``: its hostname, its pod's name, or the dashed address."""
    return _own_label(lookup, service, endpoint) or dashed(address)


def listeners_of(
    zone: Zone, service: Service, members: Iterable[Member], owner: PortName | None = None
) -> Iterator[Listener]:
    """Every port of every member, where its slice gives a number; with ``owner`` only those that it names."""
    parent = zone.service_name(service.namespace, service.name)
    for member in members:
        target = child_of(parent, *member.labels)
        ports = member.endpoint_slice.ports
        for port in ports if owner is None else named_ports(ports, owner):
            if port.number:
                yield Listener(port.name, port.protocol, port.number, target, member.address)


def named_ports(ports: Iterable[Port], owner: PortName) -> list[Port]:
    """The ports that ``owner`` names."""
    return [port for port in ports if port.name == owner.port and port.protocol == owner.protocol]


def fact_rdatas(members: Iterable[Member]) -> tuple[TXT, ...]:
    """TXT that tells where an endpoint is and how it is, a string for each ``key=value`` (RFC 1464)."""
    return tuple(dict.fromkeys([_facts(member.endpoint) for member in members]))


def _facts(endpoint: Endpoint) -> TXT:
    texts = {"node": endpoint.node, "zone": endpoint.zone, "pod": endpoint.pod, "uid": endpoint.pod_uid}
    states = {"ready": endpoint.ready, "serving": endpoint.serving, "terminating": endpoint.terminating}
    pairs = [*texts.items(), *[(key, "1" if value else "0") for key, value in states.items()]]
    strings = [f"{key}={value}".encode() for key, value in pairs]
    return TXT(tuple([string for string in strings if len(string) <= _MAX_STRING_OCTETS]))


def _named(lookup: Lookup, service: Service, owner: EndpointName) -> Iterator[Member]:
    """Members of that name; its label is read as an address once, not each address written as a label."""
    label = owner.endpoint
    address = parse_dashed(label) or b""
    if address and dashed(address) != label:
        address = b""
    for endpoint_slice, endpoint in published(lookup, service):
        if endpoint_slice.cluster != owner.cluster:
            continue
        own = endpoint.hostname or _own_label(lookup, service, endpoint)
        if own == label:
            for each in endpoint.addresses:
                yield Member(label, each, endpoint, endpoint_slice)
        elif not own and address in endpoint.addresses:
            yield Member(label, address, endpoint, endpoint_slice)


def _own_label(lookup: Lookup, service: Service, endpoint: Endpoint) -> str:
    """The endpoint's hostname, else its pod's name where that is asked for or promised; else empty."""
    if endpoint.hostname or not endpoint.pod:
        return endpoint.hostname
    if lookup.options.endpoint_pod_names:
        return endpoint.pod if _is_label(endpoint.pod) else ""
    pod = lookup.lister.pod(service.namespace, endpoint.pod)
    return "" if pod is None else _promised_label(pod, service, endpoint)


def _promised_label(pod: Pod, service: Service, endpoint: Endpoint) -> str:
    """What the pod is called below the Service that it names as its subdomain (§2.4.1); StatefulSets may name none.

    Then any Service that has the pod's address calls it by its name.
    """
    if pod.subdomain:
        return (pod.hostname or pod.stateful_name) if pod.subdomain == service.name else ""
    return pod.stateful_name if endpoint.addresses[0] in pod.addresses else ""


def _is_label(name: str) -> bool:
    """Pods' names may have dots and 253 octets; a target that is spelt in upper case is no Pod's name."""
    return "." not in name and len(name) <= MAX_LABEL_OCTETS and name == name.lower()
