"""No change of the cluster may alter an answer that the keys told for it would leave standing."""

from __future__ import annotations

from functools import cache

import pytest
from msgspec.structs import replace

from kubedns.cluster.lister import service_key
from kubedns.cluster.objects import Endpoint, EndpointSlice, Namespace, Object, Pod, Service
from kubedns.dns.answer import Answer
from kubedns.dns.names import Name, parse_name
from kubedns.dns.question import Question
from kubedns.dns.rdata import RecordType
from kubedns.records.cluster_zone import ClusterZone
from kubedns.records.listing import records
from kubedns.records.options import PodsMode
from tests.records.cluster import TeamRetail, ask, cluster_zone, corpus_objects, options, question
from tests.records.test_corpus import cases
from tests.support.clusters import change, endpoint, endpoint_slice, node, packed, pod, service, store_of

OPTIONS: dict[str, dict[str, object]] = {
    "insecure": {},
    "mesh": {"mesh": True, "pods": PodsMode.VERIFIED},
    "by-label": {"namespace_selector": TeamRetail(), "pods": PodsMode.VERIFIED, "ignore_empty_services": True},
    "some": {"namespaces": frozenset({"shop", "data", "new"}), "endpoint_pod_names": True, "mesh": True},
}
FORWARD = (RecordType.A, RecordType.SRV)
"""SRV brings the addresses of both families along, and TXT below endpoints.<zone>; existence shows with any type."""
REVERSE = (RecordType.PTR,)

NODES = [node("node-1", "192.0.2.1"), node("ip-1.eu.internal", "192.0.2.2 2001:db8::2"), node("a.svc", "192.0.2.3")]
OBJECTS: list[Object] = [*[each for each in corpus_objects() if each.namespace != "big"], *NODES]


def old(kind: type[Object], where: str) -> Object:
    """The object of the corpus's cluster."""
    namespace, name = where.split("/")
    return next(each for each in OBJECTS if isinstance(each, kind) and (each.namespace, each.name) == (namespace, name))


def with_endpoints(where: str, *endpoints: Endpoint, **given: object) -> tuple[Object, Object]:
    found = old(EndpointSlice, where)
    return found, replace(found, endpoints=endpoints, **given)


def altered(kind: type[Object], where: str, **given: object) -> tuple[Object, Object]:
    found = old(kind, where)
    return found, replace(found, **given)


READY = endpoint("10.244.2.10", hostname="db-0", pod="db-0")
CHANGES: dict[str, tuple[Object | None, Object | None]] = {
    "service-new": (None, service("shop/new", "10.96.77.1")),
    "service-new-headless": (None, service("edge/ghost", "None")),
    "service-new-in-new-namespace": (None, service("new/first", "10.97.1.1")),
    "service-gone": (old(Service, "shop/web"), None),
    "service-gone-last-of-namespace": (old(Service, "svc/svc"), None),
    "service-gone-headless": (old(Service, "data/db"), None),
    "service-gone-dual": (old(Service, "shop/web-dual"), None),
    "service-other-address": altered(Service, "shop/web", cluster_ips=(packed("10.96.10.200"),)),
    "service-other-ports": altered(Service, "shop/web", ports=service("a/a", ports="https/TCP/443 q/UDP/1").ports),
    "service-becomes-headless": altered(Service, "shop/web", cluster_ips=(), is_headless=True),
    "service-becomes-alias": altered(Service, "shop/web", cluster_ips=(), external_name="www.upstream.test"),
    "headless-becomes-alias": altered(Service, "data/db", is_headless=False, external_name="www.upstream.test"),
    "alias-becomes-service": altered(Service, "ext/out", cluster_ips=(packed("10.96.9.9"),), external_name=""),
    "alias-elsewhere": altered(Service, "ext/out", external_name="db.data.svc.cluster.local"),
    "publishes-unready": altered(Service, "data/alldown", publish_not_ready=True),
    "publishes-ready-only": altered(Service, "data/eager-raw", publish_not_ready=False),
    "dns-service-moves": altered(Service, "kube-system/kube-dns", cluster_ips=(packed("10.96.0.99"),)),
    "dns-service-gone": (old(Service, "kube-system/kube-dns"), None),
    "clash-ends": (old(Service, "shop/a"), None),
    "slice-new": (None, endpoint_slice("data/nobody-1", "nobody", endpoint("10.245.0.1", hostname="n-0"))),
    "slice-new-of-cluster-ip": (None, endpoint_slice("shop/lonely-1", "lonely", endpoint("10.244.1.99"))),
    "slice-gone": (old(EndpointSlice, "data/db-1"), None),
    "slice-gone-one-of-two": (old(EndpointSlice, "data/frag-a"), None),
    "slice-emptied": with_endpoints("data/db-1"),
    "endpoint-unready": with_endpoints("data/db-1", replace(READY, ready=False)),
    "endpoint-readdressed": with_endpoints("data/db-1", replace(READY, addresses=(packed("10.244.2.99"),))),
    "endpoint-renamed": with_endpoints("data/db-1", replace(READY, hostname="other")),
    "endpoint-loses-hostname": with_endpoints("data/db-1", replace(READY, hostname="")),
    "endpoint-facts": with_endpoints("data/db-1", replace(READY, node="node-1", terminating=True)),
    "endpoint-becomes-ready": with_endpoints("data/alldown-1", endpoint("10.244.2.75", hostname="x-0")),
    "slice-other-ports": with_endpoints("data/db-1", READY, ports=endpoint_slice("a/a", "", ports="my/TCP/3306").ports),
    "slice-other-service": altered(EndpointSlice, "data/db-1", service="anon"),
    "orphan-finds-service": altered(EndpointSlice, "edge/orphan", service="fqdn"),
    "pod-new": (None, pod("apps/late", "10.244.3.77")),
    "pod-new-names-endpoint": (None, pod("data/anon-6c9f-aaaaa", "10.244.2.20", hostname="first", subdomain="anon")),
    "pod-new-stateful": (None, pod("data/anon-6c9f-bbbbb", "10.244.2.21", stateful_name="anon-0")),
    "pod-new-in-new-namespace": (None, pod("new/first", "10.244.3.78")),
    "pod-gone": (old(Pod, "apps/client"), None),
    "pod-readdressed": altered(Pod, "apps/client", addresses=(packed("10.244.3.5"),)),
    "node-new": (None, node("node-2", "192.0.2.9")),
    "node-new-dotted": (None, node("x.node-1", "192.0.2.9")),
    "node-gone": (NODES[0], None),
    "node-gone-dotted": (NODES[1], None),
    "node-readdressed": (NODES[0], node("node-1", "192.0.2.10")),
    "namespace-new": (None, Namespace("new", {"team": "retail"})),
    "namespace-gone": (old(Namespace, "/empty"), None),
    "namespace-gone-with-services-left": (old(Namespace, "/shop"), None),
    "namespace-loses-label": altered(Namespace, "/shop", labels={}),
    "namespace-gains-label": altered(Namespace, "/data", labels={"team": "retail"}),
}


@cache
def questions() -> list[Question]:
    """Every name of the fixture before and after every change, every name above one, and those of the corpus."""
    names = {question(f"{case['query']['name']} A").name for case in cases()}
    zones = [cluster_zone(OBJECTS, **given) for given in OPTIONS.values()]
    for before, after in CHANGES.values():
        store = store_of(OBJECTS)
        change(store, before, after)
        names |= {rrset.owner for zone in zones for rrset in records(ClusterZone(zone.options, store))}
    names |= {name_above for name in names for name_above in _above(name)}
    names |= {parse_name(f"{label}.{name}") for label in ("_tcp", "x") for name in names if len(name.key) < 6}
    zone = zones[0]
    return [
        Question(name, rtype)
        for name in sorted(names, key=str)
        if any(each.holds(name) for each in zone.zones) and name.octets() < 256 and b"big" not in name.key
        for rtype in (REVERSE if name.key[-1] == b"arpa" else FORWARD)
    ]


def _above(name: Name) -> list[Name]:
    return [Name(name.key[at:], name.key[at:]) for at in range(1, len(name.key) - 1)]


def answers(zone: ClusterZone) -> list[Answer]:
    return [zone.answer(question) for question in questions()]


@cache
def answers_before(given: str) -> list[Answer]:
    return answers(cluster_zone(OBJECTS, **OPTIONS[given]))


def seen(answer: Answer) -> tuple[object, ...]:
    """What a client sees, but for the SOA's serial."""
    return (answer.rcode, answer.answer, answer.additional, [rrset.owner for rrset in answer.authority])


@pytest.mark.parametrize("name", CHANGES)
def test_no_changed_answer_is_left_standing(name: str) -> None:
    store = store_of(OBJECTS)
    told = change(store, *CHANGES[name])
    changed, left = 0, []
    for given, options_given in OPTIONS.items():
        after = answers(ClusterZone(options(**options_given), store))
        for asked, old_answer, new_answer in zip(questions(), answers_before(given), after, strict=True):
            if seen(old_answer) != seen(new_answer):
                changed += 1
                left += [f"{given}: {asked}"] if not old_answer.depends_on & told else []
    assert left == []
    assert changed, "a change that nobody sees tests nothing"


@pytest.mark.parametrize(
    ("asked", "keys"),
    [
        ("web.shop.svc A", {service_key("shop", "web")}),
        ("nosuch.shop.svc A", {service_key("shop", "nosuch")}),
        ("db-0.db.data.svc A", {service_key("data", "db")}),
        ("svc A", set()),
        ("x.dns-version A", set()),
        (r"w\255b.shop.svc A", set()),
        ("web.hidden.svc A", {service_key("hidden", "web")}),
    ],
)
def test_an_answer_depends_on_what_was_read_and_no_more(asked: str, keys: set[object]) -> None:
    assert ask(cluster_zone(OBJECTS, namespaces=frozenset({"shop", "data"})), asked).depends_on == keys
