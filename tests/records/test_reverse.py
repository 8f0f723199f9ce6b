from __future__ import annotations

import pytest

from kubedns.cluster.objects import Object
from kubedns.dns.names import parse_name
from tests.records.cluster import ask, cluster_zone, shown
from tests.support.clusters import endpoint, endpoint_slice, service

OBJECTS: list[Object] = [
    service("shop/web", "10.96.0.1 fd00::1"),
    service("shop/twin", "10.96.0.1"),
    service("shop/db", "None"),
    endpoint_slice("shop/db-1", "db", endpoint("10.96.0.1", hostname="clash"), endpoint("10.97.1.2", hostname="db-0")),
    endpoint_slice("shop/db-2", "db", endpoint("10.98.1.3", hostname="db-1", ready=False)),
    service("shop/alias", external_name="www.example.com"),
    endpoint_slice("shop/alias-1", "alias", endpoint("10.99.1.1")),
    endpoint_slice("shop/ghost-1", "ghost", endpoint("10.99.1.2")),
    endpoint_slice("shop/orphan-1", "", endpoint("10.99.1.3")),
]


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ("1.0.96.10.in-addr.arpa. PTR", "twin.shop.svc.cluster.local., web.shop.svc.cluster.local."),
        ("1.0.96.10.in-addr.arpa. A", "NODATA"),
        ("1.0.96.10.in-addr.arpa. ANY", r"\# 9 075246433834383200"),
        ("2.1.97.10.in-addr.arpa. PTR", "db-0.db.shop.svc.cluster.local."),
        ("3.1.98.10.in-addr.arpa. PTR", "NXDOMAIN"),
        ("1.98.10.in-addr.arpa. PTR", "NXDOMAIN"),
        ("1.1.99.10.in-addr.arpa. PTR", "NXDOMAIN"),
        ("2.1.99.10.in-addr.arpa. PTR", "NXDOMAIN"),
        ("3.1.99.10.in-addr.arpa. PTR", "NXDOMAIN"),
        ("99.10.in-addr.arpa. PTR", "NXDOMAIN"),
        ("97.10.in-addr.arpa. PTR", "NODATA"),
        ("10.in-addr.arpa. TXT", "NODATA"),
        ("11.in-addr.arpa. TXT", "NXDOMAIN"),
        ("d.f.ip6.arpa. PTR", "NODATA"),
        ("f.ip6.arpa. PTR", "NODATA"),
        ("c.f.ip6.arpa. PTR", "NXDOMAIN"),
        (f"{'1.' + '0.' * 27}0.0.d.f.ip6.arpa. PTR", "web.shop.svc.cluster.local."),
    ],
)
def test_answers(asked: str, wanted: str) -> None:
    assert shown(ask(cluster_zone(OBJECTS), asked)) == wanted


def test_part_of_the_reverse_tree() -> None:
    zone = cluster_zone(OBJECTS, zones=(parse_name("cluster.local."), parse_name("97.10.in-addr.arpa.")))
    assert shown(ask(zone, "2.1.97.10.in-addr.arpa. PTR")) == "db-0.db.shop.svc.cluster.local."
    assert shown(ask(zone, "1.97.10.in-addr.arpa. PTR")) == "NODATA"
    assert shown(ask(zone, "97.10.in-addr.arpa. PTR")) == "NODATA"
    assert shown(ask(zone, "1.0.96.10.in-addr.arpa. PTR")) == "REFUSED"


def test_without_a_forward_zone_there_is_nothing_to_point_at() -> None:
    zone = cluster_zone(OBJECTS, zones=(parse_name("in-addr.arpa."),))
    assert shown(ask(zone, "1.0.96.10.in-addr.arpa. PTR")) == "NXDOMAIN"


def test_a_service_that_is_not_exposed_leaves_the_address_to_an_endpoint_that_is() -> None:
    objects = [*OBJECTS, service("hidden/only", "10.97.1.2")]
    assert shown(ask(cluster_zone(objects), "2.1.97.10.in-addr.arpa. PTR")) == "only.hidden.svc.cluster.local."
    zone = cluster_zone(objects, namespaces=frozenset({"shop"}))
    assert shown(ask(zone, "2.1.97.10.in-addr.arpa. PTR")) == "db-0.db.shop.svc.cluster.local."
