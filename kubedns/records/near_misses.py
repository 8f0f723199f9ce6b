"""Near misses: what almost matched a name that was denied, and what is odd about one that was not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from itertools import islice

from kubedns.cluster.objects import Service
from kubedns.dns.names import presentation
from kubedns.records import owner as owners
from kubedns.records.dashed import parse_dashed
from kubedns.records.endpoint import all_endpoints, endpoint_label, is_published, members_of, published
from kubedns.records.lookup import Found, Lookup
from kubedns.records.options import PodsMode
from kubedns.records.service import exists

_MAX_NAMES = 5


def near_misses(lookup: Lookup, owner: owners.Owner, found: Found | None) -> Iterator[str]:
    """Sentences for people; the lookup's keys are left as they are."""
    keys = lookup.keys.copy()
    yield from _of(lookup, owner, found)
    lookup.keys = keys


def _of(lookup: Lookup, owner: owners.Owner, found: Found | None) -> Iterator[str]:
    match owner:
        case owners.ServiceName(namespace, name):
            service = lookup.service(namespace, name)
            yield from _absent_service(lookup, namespace, name) if service is None else _odd_service(lookup, service)
        case owners.EndpointName(namespace, name, label):
            yield from _below_service(lookup, namespace, name, found, label=label)
        case owners.PortName(namespace, name, protocol, port) | owners.ListedPort(namespace, name, protocol, port):
            yield from _below_service(lookup, namespace, name, found, port=port, protocol=protocol)
        case owners.NamespaceName(_, namespace) if found is None:
            yield from _absent_namespace(lookup, namespace)
        case owners.PodName() if found is None:
            yield from _absent_pod(lookup, owner)
        case owners.NodeName(name) if found is None and name:
            close = get_close_matches(name, [node.name for node in lookup.lister.nodes()])
            if close:
                yield f"no Node {_shown(name)}; there is {_listed(close)}"


def _absent_namespace(lookup: Lookup, namespace: str) -> Iterator[str]:
    if not lookup.lister.has_namespace(namespace):
        names = {each.name for each in lookup.lister.namespaces()}
        close = get_close_matches(namespace, names)
        yield f"no Namespace {_shown(namespace)}" + (f"; there is {_listed(close)}" if close else "")
    elif not lookup.exposes(namespace):
        yield f"Namespace {namespace} exists but is not exposed (namespaces, namespace_labels)"


def _absent_service(lookup: Lookup, namespace: str, name: str) -> Iterator[str]:
    yield from _absent_namespace(lookup, namespace)
    lister = lookup.lister
    if lister.service(namespace, name) is not None:
        return
    close = get_close_matches(name, [each.name for each in lister.services(namespace)])
    if close:
        yield f"no Service {_shown(name)} in {namespace}; there is {_listed(close)}"
    elsewhere = (each.namespace for each in lister.services() if each.name == name)
    for other in islice(elsewhere, _MAX_NAMES):
        yield f"Service {name} exists in namespace {other}"
    if lister.slices(namespace, name):
        yield f"EndpointSlices of {name} exist in {namespace}, but no Service of that name"


def _odd_service(lookup: Lookup, service: Service) -> Iterator[str]:
    name = service.external_name.rstrip(".")
    if name and name.replace(".", "").isdecimal() and name.count(".") == 3:
        yield f"externalName {name} is a name of digits, not an address: nothing can resolve it"
    if not service.external_name and not exists(lookup, service):
        yield from _unready(lookup, service)
    elif service.is_headless:
        yield from _unmatched_ports(lookup, service)


def _unready(lookup: Lookup, service: Service) -> Iterator[str]:
    members = list(members_of(lookup, service, all_endpoints(lookup, service)))
    if not members:
        yield f"Service {service.name} exists but has no endpoints"
    for member in islice(members, _MAX_NAMES):
        yield f"endpoint {member.label} of {service.name} exists but is not ready"


def _below_service(
    lookup: Lookup, namespace: str, name: str, found: Found | None, label: str = "", port: str = "", protocol: str = ""
) -> Iterator[str]:
    service = lookup.service(namespace, name)
    if service is None:
        yield from _absent_service(lookup, namespace, name)
    elif service.external_name:
        yield f"Service {name} is an ExternalName: nothing lives below an alias"
    elif found is None:
        yield from _absent_endpoint(lookup, service, label) if label else _absent_port(lookup, service, port, protocol)


def _absent_endpoint(lookup: Lookup, service: Service, label: str) -> Iterator[str]:
    address = parse_dashed(label)
    labels = []
    for _, endpoint in all_endpoints(lookup, service):
        for each in endpoint.addresses:
            actual = endpoint_label(lookup, service, endpoint, each)
            labels.append(actual)
            if actual == label and not is_published(service, endpoint):
                yield f"endpoint {label} exists but is not ready"
            elif actual != label and (each == address or endpoint.pod == label):
                yield f"the endpoint {_shown(label)} is called {actual}"
    close = [each for each in get_close_matches(label, labels) if each != label]
    if close:
        yield f"no endpoint {_shown(label)} of {service.name}; there is {_listed(close)}"


def _absent_port(lookup: Lookup, service: Service, port: str, protocol: str) -> Iterator[str]:
    ports = [f"{each.name or '(no name)'}/{each.protocol}" for each in service.ports]
    if f"{port}/{protocol}" not in ports:
        yield f"port {_shown(port)}/{protocol} is absent from Service {service.name}; ports: {_listed(ports) or 'none'}"
    if service.is_headless and exists(lookup, service):
        yield from _unmatched_ports(lookup, service)
    elif service.is_headless:
        yield from _unready(lookup, service)


def _unmatched_ports(lookup: Lookup, service: Service) -> Iterator[str]:
    """Ports that only the Service names: its SRV records come from the slices, which may call them otherwise."""
    slices = {each.name: each for each, _ in published(lookup, service)}
    actual = {f"{port.name or '(no name)'}/{port.protocol}": None for each in slices.values() for port in each.ports}
    for port in service.ports:
        if port.name and f"{port.name}/{port.protocol}" not in actual:
            there = f"{_listed(slices)}: {_listed(actual) or 'no ports'}"
            yield f"no EndpointSlice of {service.name} names port {port.name}/{port.protocol}; {there}"


def _absent_pod(lookup: Lookup, owner: owners.PodName) -> Iterator[str]:
    address = parse_dashed(owner.label)
    if lookup.options.pods is PodsMode.DISABLED:
        yield "names of pods are off (pods disabled)"
    elif address is None:
        yield f"{_shown(owner.label)} spells no address"
    else:
        yield from _absent_namespace(lookup, owner.namespace)
        for pod in lookup.lister.pods_at(address):
            if pod.namespace != owner.namespace:
                yield f"Pod {pod.name} has that address, in namespace {pod.namespace}"


def _listed(names: Iterable[str]) -> str:
    """The first few names, with commas."""
    found = list(names)
    more = ", ..." if len(found) > _MAX_NAMES else ""
    return ", ".join(found[:_MAX_NAMES]) + more


def _shown(text: str) -> str:
    """Text from a question, safe to print."""
    return presentation((text.encode(),)).removesuffix(".")
