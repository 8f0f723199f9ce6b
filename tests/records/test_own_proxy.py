"""The proxy of the asking pod's own node, and of no other."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from kubedns.cluster.objects import Object
from tests.records.cluster import cluster_zone, question, shown
from tests.support.clusters import endpoint, endpoint_slice, node, packed, pod, service

PROXIES = [
    replace(endpoint("10.244.1.9"), node="node-1"),
    replace(endpoint("fd00::9"), node="node-1"),
    replace(endpoint("192.0.2.2"), node="node-2"),
    replace(endpoint("10.244.3.9"), node="node-3", ready=False),
]
OBJECTS: list[Object] = [
    service("shop/web", "10.96.0.1"),
    service("shop/alias", external_name="www.example.com"),
    service("mesh/l5d", "10.96.0.9", "outgoing/TCP/4140"),
    endpoint_slice("mesh/l5d-1", "l5d", *PROXIES),
    endpoint_slice("shop/web-1", "web", replace(endpoint("10.244.1.7"), node="node-1")),
    replace(pod("shop/db-0", "10.244.2.7"), node="node-2"),
    replace(pod("shop/db-1", "10.244.3.7"), node="node-3"),
    node("node-1", "192.0.2.1"),
    node("node-2", "192.0.2.2"),
]
WEB = "web.shop.mesh A"


@pytest.mark.parametrize(
    ("asked", "client", "wanted"),
    [
        (WEB, "10.244.1.7", "10.244.1.9"),
        ("web.shop.mesh AAAA", "10.244.1.7", "fd00::9"),
        ("web.shop.mesh TXT", "10.244.1.7", "NODATA"),
        ("alias.shop.mesh A", "10.244.1.7", "10.244.1.9"),
        (WEB, "10.244.2.7", "192.0.2.2"),
        (WEB, "192.0.2.1", "10.244.1.9"),
        (WEB, "10.244.3.7", "NODATA"),
        (WEB, "198.51.100.1", "NODATA"),
        ("none.shop.mesh A", "10.244.1.7", "NXDOMAIN"),
        ("x.web.shop.mesh A", "10.244.1.7", "NXDOMAIN"),
        ("_http._tcp.web.shop.mesh SRV", "10.244.1.7", "NXDOMAIN"),
        ("shop.mesh A", "10.244.1.7", "NODATA"),
        ("none.mesh A", "10.244.1.7", "NXDOMAIN"),
        ("mesh A", "10.244.1.7", "NODATA"),
    ],
)
def test_answers(asked: str, client: str, wanted: str) -> None:
    zone = cluster_zone(OBJECTS, mesh=True, proxies=("mesh", "l5d"))
    assert shown(zone.answer(question(asked), client=packed(client))) == wanted


def test_the_answer_is_for_the_client_alone() -> None:
    zone = cluster_zone(OBJECTS, mesh=True, proxies=("mesh", "l5d"))
    assert zone.answer(question(WEB), client=packed("10.244.1.7")).varies_by_client
    assert not zone.answer(question("web.shop.svc A"), client=packed("10.244.1.7")).varies_by_client


def test_proxies_in_a_hidden_namespace_are_proxies_all_the_same() -> None:
    zone = cluster_zone(OBJECTS, mesh=True, proxies=("mesh", "l5d"), namespaces=frozenset({"shop"}))
    assert shown(zone.answer(question(WEB), client=packed("10.244.1.7"))) == "10.244.1.9"
    assert shown(zone.answer(question("l5d.mesh.mesh A"), client=packed("10.244.1.7"))) == "NXDOMAIN"


def test_without_proxies_there_are_no_such_names() -> None:
    assert shown(cluster_zone(OBJECTS, mesh=True).answer(question(WEB), client=packed("10.244.1.7"))) == "NXDOMAIN"
