"""What an answer rests on, told to a trace: the objects read, the rule that applies, and what almost matched.

The objects are those of the keys that the answer depends on, so this tells what the answer did, not what it should.
"""

from __future__ import annotations

from kubedns.cluster.objects import Object, Service
from kubedns.dns.rdata import RecordType
from kubedns.dns.trace import Trace
from kubedns.records import owner as owners
from kubedns.records.lookup import Found, Lookup
from kubedns.records.near_misses import near_misses

_SPECIFICATION = "Kubernetes DNS specification"
_Rule = tuple[str, str]

_RULES: dict[type, _Rule] = {
    owners.Apex: ("RFC 1034 4.2.1", "the zone's top has its SOA and NS records"),
    owners.NameServer: ("RFC 1035 3.3.11", "the name of the zone's NS record has the address of the DNS Service"),
    owners.DnsVersion: (f"{_SPECIFICATION} 2.2", "dns-version tells the version of the schema"),
    owners.EndpointName: (f"{_SPECIFICATION} 2.4.1", "an endpoint goes by its hostname, else by its address"),
    owners.ReverseName: (f"{_SPECIFICATION} 2.3.3, 2.4.3", "addresses of Services and endpoints have PTR records"),
    owners.PodName: ("CoreDNS, kubernetes plugin: pods", "a pod is named by its address and namespace"),
    owners.NodeName: ("kubedns", "a Node's name has its InternalIPs"),
    owners.OwnProxy: ("kubedns", "mesh.<zone> leads to the proxy on the asking pod's own node"),
    owners.ListedPort: ("kubedns", "endpoints.<zone> lists every endpoint, ready or not"),
}
_ALIAS: _Rule = (f"{_SPECIFICATION} 2.5", "an ExternalName Service is an alias, for every type (RFC 1034 3.6.2)")
_HEADLESS: _Rule = (f"{_SPECIFICATION} 2.4.1", "a headless Service has the addresses of its ready endpoints")
_HEADLESS_SRV: _Rule = (f"{_SPECIFICATION} 2.4.2", "a headless Service has an SRV record for each ready endpoint")
_CLUSTER_IP: _Rule = (f"{_SPECIFICATION} 2.3.1", "a Service has its cluster IPs, whatever its endpoints do")
_CLUSTER_IP_SRV: _Rule = (f"{_SPECIFICATION} 2.3.2", "a named port of a Service has an SRV record")
_NODATA: _Rule = ("RFC 2308 2.2", "the name exists, the type does not: NOERROR without answer")
_EMPTY: _Rule = ("RFC 8020 2", "names exist below it, so it exists as well")
_ANY: _Rule = ("RFC 8482 4.2", "ANY gets one small record")
_NXDOMAIN: _Rule = ("RFC 8020 2", "neither the name nor anything below it exists, whatever the type")
_NO_ENDPOINT: _Rule = (f"{_SPECIFICATION} 2.4.1", "a headless Service without ready endpoints has no name")

_EMPTY_NON_TERMINALS = (
    owners.EmptyNonTerminal,
    owners.TreeName,
    owners.NamespaceName,
    owners.ProtocolName,
    owners.ListedProtocol,
    owners.ListedService,
)


def explain(trace: Trace, lookup: Lookup, owner: owners.Owner, found: Found | None) -> None:
    """Tell ``trace`` how ``found`` came about."""
    objects = list(_objects(lookup, owner))
    for each in objects:
        trace.object(type(each).__name__, each.namespace, each.name, each.origin)
    for source, text in _rules(lookup, owner, found, objects):
        trace.rule(source, text)
    for text in near_misses(lookup, owner, found):
        trace.near_miss(text)


def _objects(lookup: Lookup, owner: owners.Owner) -> list[Object]:
    """The objects that the lookup's keys stand for, slices only where endpoints are what is named."""
    lister = lookup.lister
    objects: list[Object] = []
    for key in sorted(lookup.keys, key=repr):
        match key:
            case ("service", namespace, name):
                service = lister.service(str(namespace), str(name))
                if service is not None:
                    objects.append(service)
                    if service.is_headless or not isinstance(owner, owners.ServiceName | owners.PortName):
                        objects += lister.slices(service.namespace, service.name)
            case ("address", bytes(address)):
                objects += lister.services_at(address) if isinstance(owner, owners.ReverseName) else ()
                objects += lister.pods_at(address) if isinstance(owner, owners.PodName) else ()
            case ("node", name):
                node = lister.node(str(name))
                objects += [node] if node is not None else []
            case ("namespace", name):
                found = lister.namespace(str(name))
                objects += [found] if found is not None else []
    return list({(type(each), each.namespace, each.name): each for each in objects}.values())


def _rules(lookup: Lookup, owner: owners.Owner, found: Found | None, objects: list[Object]) -> list[_Rule]:
    service = next((each for each in objects if isinstance(each, Service)), None)
    if found is None:
        is_unready = isinstance(owner, owners.ServiceName) and service is not None and service.is_headless
        return [_NO_ENDPOINT, _NXDOMAIN] if is_unready else [_NXDOMAIN]
    if found.alias is not None:
        return [_ALIAS]
    if _is_empty_non_terminal(owner):
        return [_EMPTY, _NODATA]
    rules = [_service_rule(lookup, service)] if service and _is_service(owner) else []
    rules += [_RULES[type(owner)]] if type(owner) in _RULES else []
    if lookup.type == RecordType.ANY:
        return [*rules, _ANY]
    return rules if found.rdatas else [*rules, _NODATA]


def _is_empty_non_terminal(owner: owners.Owner) -> bool:
    if isinstance(owner, owners.ReverseName):
        return owner.bits < 8 * owner.octets
    return isinstance(owner, _EMPTY_NON_TERMINALS)


def _is_service(owner: owners.Owner) -> bool:
    return isinstance(owner, owners.ServiceName | owners.PortName)


def _service_rule(lookup: Lookup, service: Service) -> _Rule:
    if lookup.type == RecordType.SRV:
        return _HEADLESS_SRV if service.is_headless else _CLUSTER_IP_SRV
    return _HEADLESS if service.is_headless else _CLUSTER_IP
