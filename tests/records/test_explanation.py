"""What ``explain`` is told: the objects, the rule, the near misses."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from kubedns.cluster.objects import Namespace, Object
from kubedns.dns.trace import Trace
from kubedns.records.options import PodsMode
from tests.records.cluster import ask, cluster_zone
from tests.support.clusters import endpoint, endpoint_slice, node, pod, service

OBJECTS: list[Object] = [
    Namespace("shop", {}),
    Namespace("data", {}),
    replace(service("shop/web-api", "10.96.0.1"), origin="shop.yaml:3"),
    service("data/web", "10.96.0.2", "https/TCP/443"),
    replace(service("data/db", "None", "pg/TCP/5432"), origin="db.yaml:1"),
    endpoint_slice(
        "data/db-1",
        "db",
        endpoint("10.0.0.1", hostname="db-0", pod="db-pod-0"),
        endpoint("10.0.0.2", hostname="db-1", ready=False),
        ports="/TCP/5432",
    ),
    service("data/none", "None"),
    service("data/down", "None"),
    endpoint_slice("data/down-1", "down", endpoint("10.0.0.9", ready=False)),
    endpoint_slice("data/ghost-1", "ghost", endpoint("10.0.0.8")),
    service("shop/four", external_name="192.0.2.80"),
    service("shop/alias", external_name="www.example.com"),
    pod("data/client", "10.0.0.7"),
    node("node-1", "192.0.2.1"),
]


class Heard:
    """A trace that keeps what it hears, by kind."""

    active = True

    def __init__(self) -> None:
        self.objects: list[str] = []
        self.rules: list[str] = []
        self.near_misses: list[str] = []

    def step(self, word: str, text: str) -> None:
        raise AssertionError((word, text))

    def object(self, kind: str, namespace: str, name: str, origin: str) -> None:
        self.objects.append(f"{kind} {namespace}/{name} {origin}".strip())

    def rule(self, source: str, text: str) -> None:
        assert text
        self.rules.append(source)

    def near_miss(self, text: str) -> None:
        self.near_misses.append(text)


def heard(asked: str, **given: object) -> Heard:
    trace = Heard()
    zone = cluster_zone(OBJECTS, **given)
    assert ask(zone, asked, trace) == ask(zone, asked)
    return trace


@pytest.mark.parametrize(
    ("asked", "texts"),
    [
        ("web.shop.svc A", ["no Service web in shop; there is web-api", "Service web exists in namespace data"]),
        ("web.sho.svc A", ["no Namespace sho; there is shop", "Service web exists in namespace data"]),
        ("ghost.data.svc A", ["EndpointSlices of ghost exist in data, but no Service of that name"]),
        ("none.data.svc A", ["Service none exists but has no endpoints"]),
        ("down.data.svc A", ["endpoint 10-0-0-9 of down exists but is not ready"]),
        ("db-1.db.data.svc A", ["endpoint db-1 exists but is not ready", "no endpoint db-1 of db; there is db-0"]),
        (
            "db-pod-0.db.data.svc A",
            ["the endpoint db-pod-0 is called db-0", "no endpoint db-pod-0 of db; there is db-0"],
        ),
        ("10-0-0-1.db.data.svc A", ["the endpoint 10-0-0-1 is called db-0"]),
        ("x.alias.shop.svc A", ["Service alias is an ExternalName: nothing lives below an alias"]),
        ("four.shop.svc A", ["externalName 192.0.2.80 is a name of digits, not an address: nothing can resolve it"]),
        ("_http._tcp.web.data.svc SRV", ["port http/TCP is absent from Service web; ports: https/TCP"]),
        (
            "_pg._tcp.db.data.svc SRV",
            ["no EndpointSlice of db names port pg/TCP; db-1: (no name)/TCP"],
        ),
        ("shp.svc A", ["no Namespace shp; there is shop"]),
        ("1-2-3-4.nosuch.pod A", ["no Namespace nosuch"]),
        ("client.data.pod A", ["client spells no address"]),
        ("node-2 A", ["no Node node-2; there is node-1"]),
        ("www.example.com A", []),
        ("db.data.svc A", ["no EndpointSlice of db names port pg/TCP; db-1: (no name)/TCP"]),
        (
            "_mysql._tcp.db.data.svc SRV",
            [
                "port mysql/TCP is absent from Service db; ports: pg/TCP",
                "no EndpointSlice of db names port pg/TCP; db-1: (no name)/TCP",
            ],
        ),
        ("_http._tcp.down.data.svc SRV", ["endpoint 10-0-0-9 of down exists but is not ready"]),
        ("web.data.svc AAAA", []),
    ],
)
def test_near_misses(asked: str, texts: list[str]) -> None:
    assert heard(asked).near_misses == texts


@pytest.mark.parametrize(
    ("asked", "given", "texts"),
    [
        ("10-0-0-7.shop.pod A", {"pods": PodsMode.VERIFIED}, ["Pod client has that address, in namespace data"]),
        ("10-0-0-7.data.pod A", {"pods": PodsMode.DISABLED}, ["names of pods are off (pods disabled)"]),
        (
            "web.data.svc A",
            {"namespaces": frozenset({"shop"})},
            ["Namespace data exists but is not exposed (namespaces, namespace_labels)"],
        ),
    ],
)
def test_near_misses_by_option(asked: str, given: dict[str, object], texts: list[str]) -> None:
    assert heard(asked, **given).near_misses == texts


@pytest.mark.parametrize(
    ("asked", "objects"),
    [
        ("web-api.shop.svc A", ["Service shop/web-api shop.yaml:3"]),
        ("db.data.svc A", ["Service data/db db.yaml:1", "EndpointSlice data/db-1"]),
        ("db-0.db.data.svc A", ["Service data/db db.yaml:1", "EndpointSlice data/db-1"]),
        ("nosuch.data.svc A", []),
        ("1.0.0.10.in-addr.arpa. PTR", ["Service data/db db.yaml:1", "EndpointSlice data/db-1"]),
        ("1.0.96.10.in-addr.arpa. PTR", ["Service shop/web-api shop.yaml:3"]),
        ("shop.svc A", ["Namespace /shop"]),
        ("node-1 A", ["Node /node-1"]),
    ],
)
def test_objects(asked: str, objects: list[str]) -> None:
    assert heard(asked).objects == objects


def test_a_verified_pod_is_told() -> None:
    assert heard("10-0-0-7.data.pod A", pods=PodsMode.VERIFIED).objects == ["Pod data/client"]


SPECIFICATION = "Kubernetes DNS specification"


@pytest.mark.parametrize(
    ("asked", "sources"),
    [
        ("web.data.svc A", [f"{SPECIFICATION} 2.3.1"]),
        ("web.data.svc AAAA", [f"{SPECIFICATION} 2.3.1", "RFC 2308 2.2"]),
        ("_https._tcp.web.data.svc SRV", [f"{SPECIFICATION} 2.3.2"]),
        ("db.data.svc A", [f"{SPECIFICATION} 2.4.1"]),
        ("db.data.svc SRV", [f"{SPECIFICATION} 2.4.2"]),
        ("db-0.db.data.svc A", [f"{SPECIFICATION} 2.4.1"]),
        ("down.data.svc A", [f"{SPECIFICATION} 2.4.1", "RFC 8020 2"]),
        ("alias.shop.svc TXT", [f"{SPECIFICATION} 2.5"]),
        ("dns-version TXT", [f"{SPECIFICATION} 2.2"]),
        ("web.data.svc ANY", [f"{SPECIFICATION} 2.3.1", "RFC 8482 4.2"]),
        ("svc A", ["RFC 8020 2", "RFC 2308 2.2"]),
        ("nosuch A", ["RFC 8020 2"]),
        ("1.0.0.10.in-addr.arpa. PTR", [f"{SPECIFICATION} 2.3.3, 2.4.3"]),
        ("0.0.10.in-addr.arpa. PTR", ["RFC 8020 2", "RFC 2308 2.2"]),
        ("1-2-3-4.data.pod A", ["CoreDNS, kubernetes plugin: pods"]),
        ("node-1 A", ["kubedns"]),
        ("cluster.local. SOA", ["RFC 1034 4.2.1"]),
    ],
)
def test_rules(asked: str, sources: list[str]) -> None:
    assert heard(asked).rules == sources


def test_explaining_leaves_what_the_answer_depends_on() -> None:
    trace: Trace = Heard()
    zone = cluster_zone(OBJECTS)
    assert ask(zone, "web.sho.svc A", trace).depends_on == ask(zone, "web.sho.svc A").depends_on
