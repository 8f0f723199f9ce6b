"""What is listed is what is answered, both ways."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from random import Random

import pytest

from kubedns.cluster.objects import EndpointSlice, Kind, Pod, Service
from kubedns.cluster.store import Store
from kubedns.dns.answer import Rcode
from kubedns.dns.names import Name, name_of, parse_name, reverse_name
from kubedns.dns.question import Question
from kubedns.dns.rdata import A, Rdata, RecordType
from kubedns.records.cluster_zone import ClusterZone
from kubedns.records.dashed import dashed
from kubedns.records.listing import records
from kubedns.records.options import PodsMode
from tests.records.cluster import ZONES, TeamRetail, cluster_zone, corpus_objects
from tests.support.clusters import endpoint, node, packed, service

OPTIONS: dict[str, dict[str, object]] = {
    "verified": {"pods": PodsMode.VERIFIED},
    "mesh": {"pods": PodsMode.DISABLED, "mesh": True},
    "pod-names": {"pods": PodsMode.VERIFIED, "endpoint_pod_names": True},
    "ignore-empty": {"pods": PodsMode.DISABLED, "ignore_empty_services": True},
    "some": {"pods": PodsMode.VERIFIED, "namespaces": frozenset({"shop", "data"})},
    "by-label": {"pods": PodsMode.VERIFIED, "namespace_selector": TeamRetail()},
    "noendpoints": {"pods": PodsMode.VERIFIED, "serve_endpoints": False, "mesh": True},
    "two-zones": {"pods": PodsMode.VERIFIED, "zones": (*ZONES, parse_name("Other.Example"))},
    "part-of-reverse": {"pods": PodsMode.VERIFIED, "zones": (ZONES[0], parse_name("96.10.in-addr.arpa"))},
}
LONG_NAMES_TYPES = (RecordType.A, RecordType.AAAA, RecordType.SRV, RecordType.TXT, RecordType.PTR)
TYPES = (*LONG_NAMES_TYPES, RecordType.CNAME, RecordType.NS, RecordType.SOA)
NODES = [node("node-1", "192.0.2.1 2001:db8::1"), node("ip-1.eu.internal", "192.0.2.2"), node("a.svc", "192.0.2.3")]
OBJECTS = [*[each for each in corpus_objects() if each.namespace != "big"], *NODES]
SERVICES = [each for each in OBJECTS if isinstance(each, Service)]
SLICES = [each for each in OBJECTS if isinstance(each, EndpointSlice)]
PODS = [each for each in OBJECTS if isinstance(each, Pod)]
ENDPOINTS = [one for each in SLICES for one in each.endpoints]
FIXED = ("", "ns.dns.", "dns.", "dns-version.", "svc.", "pod.", "node.", "endpoints.", "mesh.")


def zone_with(given: str) -> ClusterZone:
    return cluster_zone(OBJECTS, **OPTIONS[given])


@pytest.mark.parametrize("given", OPTIONS)
def test_what_is_listed_is_answered(given: str) -> None:
    zone = zone_with(given)
    listed = list(records(zone))
    assert len({(rrset.owner, rrset.type) for rrset in listed}) == len(listed)
    for rrset in listed:
        assert zone.answer(Question(rrset.owner, rrset.type)).answer == (rrset,)
        assert rrset.owner.labels == rrset.owner.key


@pytest.mark.parametrize("given", OPTIONS)
def test_what_is_answered_is_listed(given: str) -> None:
    zone = zone_with(given)
    listed = {(rrset.owner, rrset.type): set(rrset.rdatas) for rrset in records(zone)}
    answered: dict[tuple[Name, int], set[Rdata]] = {}
    for name in guesses(zone.options.zones):
        for rtype in LONG_NAMES_TYPES if len(name.key) > 5 else TYPES:
            for rrset in zone.answer(Question(name, rtype)).answer:
                answered[rrset.owner, rrset.type] = set(rrset.rdatas)
    assert answered == listed


@pytest.mark.parametrize("given", [*OPTIONS, "insecure"])
def test_above_a_name_that_exists_every_name_exists(given: str) -> None:
    """Else a resolver that minimises its questions, or trusts NXDOMAIN for what is below, loses the name (RFC 8020)."""
    zone = cluster_zone(OBJECTS, **OPTIONS.get(given, {"mesh": True}))
    missing: dict[Name, bool] = {}
    for name in guesses(zone.options.zones):
        names = [name_of(name.key[at:]) for at in range(len(name.key))]
        line = [each for each in names if zone.zone_of(each) is zone.zone_of(name)]
        for each in line:
            if each not in missing:
                missing[each] = zone.answer(Question(each, RecordType.A)).rcode == Rcode.NXDOMAIN
        states = [missing[each] for each in line]
        assert states == sorted(states, reverse=True), name


def test_any_octets_are_answered() -> None:
    zone = cluster_zone(OBJECTS, mesh=True, zones=(*ZONES, parse_name("a.cluster.local.")))
    source = Random(1)
    words = [label for name in guesses(ZONES)[::50] for label in name.labels] + [b"\0", b"_", b"\xff.", b"*", b"a" * 63]
    for _ in range(5000):
        labels = tuple(source.choices(words, k=source.randrange(5))) + source.choice(zone.zones).key
        for rtype in (RecordType.A, RecordType.SRV, RecordType.ANY, source.randrange(65536)):
            assert zone.answer(Question(name_of(labels), rtype)).rcode in (Rcode.NOERROR, Rcode.NXDOMAIN)


@cache
def guesses(zones: tuple[Name, ...]) -> list[Name]:
    """Every name that the words and addresses of the cluster can be put together to, by each shape of name."""
    owned = {address for each in SERVICES for address in each.cluster_ips}
    owned |= {address for one in ENDPOINTS for address in one.addresses}
    owned |= {address for one in PODS for address in one.addresses}
    words = {*below_services({dashed(address) for address in owned}), *FIXED}
    words |= {f"{dashed(address)}.{each.namespace}.pod." for address in owned for each in SERVICES}
    words |= {f"{each.name}.{tree}" for each in NODES for tree in ("", "node.", "svc.", "pod.")}
    names = {
        parse_name(f"{word}{zone}") for word in words for zone in zones if word in FIXED or b"arpa" not in zone.key
    }
    names |= {reverse_name(address) for address in owned}
    return [name for name in names if any(name.is_at_or_below(zone) for zone in zones)]


def below_services(dashes: set[str]) -> Iterator[str]:
    labels = dashes | {one.hostname for one in ENDPOINTS} | {one.pod for one in ENDPOINTS}
    ports = {port.name for each in SERVICES for port in each.ports} | {str(number) for number in (80, 5432)}
    ports |= {port.name for each in SLICES for port in each.ports}
    for each in SERVICES:
        base = f"{each.name}.{each.namespace}"
        yield from (f"{base}.svc.", f"{base}.endpoints.")
        yield from (f"{label}.{base}.svc." for label in labels if label)
        yield from (f"_{port}._{protocol}.{base}.svc." for port in ports for protocol in ("tcp", "udp", "sctp"))
        for port in each.ports:
            yield f"_{port.name}._{port.protocol}.{base}.endpoints."
            yield f"_{port.number}._{port.protocol}.{base}.endpoints."


def test_nothing_is_listed_before_the_source_has_synced() -> None:
    zone = zone_with("verified")
    assert list(records(ClusterZone(zone.options, Store([Kind.SERVICE])))) == []


def test_a_name_too_long_for_dns_is_left_out() -> None:
    zone = cluster_zone([node("n" * 64, "192.0.2.1"), node(".".join(["n" * 63] * 4), "192.0.2.1")])
    assert {rrset.type for rrset in records(zone)} == {RecordType.SOA, RecordType.NS, RecordType.TXT}


def test_a_big_service_is_listed_in_one_walk() -> None:
    count = 3000
    endpoints = tuple(endpoint(f"10.{at >> 8 & 255}.{at & 255}.1") for at in range(count))
    found = EndpointSlice("data", "many-1", "many", (), endpoints)
    zone = cluster_zone([service("data/many", "None"), found], zones=ZONES[:1])
    names = [rrset for rrset in records(zone) if len(rrset.owner.key) == 6]
    assert len(names) == count
    assert A(packed("10.0.0.1")) in {rdata for rrset in names for rdata in rrset.rdatas}
