from __future__ import annotations

import pytest

from kubedns.cluster.objects import Namespace, Object
from tests.records.cluster import ask, cluster_zone, shown
from tests.support.clusters import endpoint, endpoint_slice, service

OBJECTS: list[Object] = [
    Namespace("shop", {}),
    Namespace("empty", {}),
    service("shop/web", "10.96.0.1", "http/TCP/80 admin/TCP/9000"),
    endpoint_slice(
        "shop/web-1",
        "web",
        endpoint("10.0.0.1", node="n1", pod="web-1"),
        endpoint("10.0.0.2", node="n2", pod="web-2", ready=False, serving=False),
        ports="http/TCP/8080 other/TCP/1",
    ),
    service("shop/plain", "10.96.0.2", "/TCP/9000"),
    endpoint_slice("shop/plain-1", "plain", endpoint("10.0.0.3"), ports="/TCP/9001"),
    service("shop/db", "None", "pg/TCP/5432"),
    endpoint_slice("shop/db-4", "db", endpoint("10.0.0.4", hostname="db-0", node="n1"), ports="pg/TCP/5433"),
    endpoint_slice("shop/db-6", "db", endpoint("fd00::4", hostname="db-0", node="n1"), ports="pg/TCP/5433"),
    service("shop/idle", "10.96.0.5"),
    service("shop/alias", external_name="www.example.com"),
]
WEB = "10-0-0-1.web.shop.svc.cluster.local.", "10-0-0-2.web.shop.svc.cluster.local."


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ("_http._tcp.web.shop.endpoints SRV", f"0 50 8080 {WEB[0]}, 0 50 8080 {WEB[1]}"),
        ("_80._tcp.web.shop.endpoints SRV", f"0 50 8080 {WEB[0]}, 0 50 8080 {WEB[1]}"),
        ("_admin._tcp.web.shop.endpoints SRV", "NODATA"),
        ("_8080._tcp.web.shop.endpoints SRV", "NXDOMAIN"),
        ("_80._udp.web.shop.endpoints SRV", "NXDOMAIN"),
        ("_http._tcp.web.shop.endpoints A", "NODATA"),
        ("_9000._tcp.plain.shop.endpoints SRV", "0 100 9001 10-0-0-3.plain.shop.svc.cluster.local."),
        ("_._tcp.plain.shop.endpoints SRV", "NXDOMAIN"),
        ("_pg._tcp.db.shop.endpoints SRV", "0 50 5433 db-0.db.shop.svc.cluster.local."),
        ("_5432._tcp.db.shop.endpoints SRV", "0 50 5433 db-0.db.shop.svc.cluster.local."),
        ("_7000._udp.db.shop.endpoints SRV", "0 50 7000 db-0.db.shop.svc.cluster.local."),
        ("_07000._udp.db.shop.endpoints SRV", "NXDOMAIN"),
        ("_0._tcp.db.shop.endpoints SRV", "NXDOMAIN"),
        ("_65536._tcp.db.shop.endpoints SRV", "NXDOMAIN"),
        ("_mysql._tcp.db.shop.endpoints SRV", "NXDOMAIN"),
        ("_http._tcp.idle.shop.endpoints SRV", "NODATA"),
        ("_http._tcp.alias.shop.endpoints SRV", "NXDOMAIN"),
        ("_http._tcp.nosuch.shop.endpoints SRV", "NXDOMAIN"),
        ("_tcp.web.shop.endpoints SRV", "NODATA"),
        ("_udp.web.shop.endpoints SRV", "NXDOMAIN"),
        ("_udp.db.shop.endpoints SRV", "NODATA"),
        ("web.shop.endpoints A", "NODATA"),
        ("alias.shop.endpoints A", "NXDOMAIN"),
        ("x.web.shop.endpoints A", "NXDOMAIN"),
        ("shop.endpoints A", "NODATA"),
        ("empty.endpoints A", "NODATA"),
        ("nosuch.endpoints A", "NXDOMAIN"),
        ("endpoints A", "NODATA"),
    ],
)
def test_answers(asked: str, wanted: str) -> None:
    assert shown(ask(cluster_zone(OBJECTS, mesh=True), asked)) == wanted
    assert shown(ask(cluster_zone(OBJECTS), asked)) == "NXDOMAIN"


@pytest.mark.parametrize(
    ("asked", "lines"),
    [
        (
            "_http._tcp.web.shop.endpoints SRV",
            [
                f"{WEB[0]} 5 IN A 10.0.0.1",
                f"{WEB[1]} 5 IN A 10.0.0.2",
                f'{WEB[0]} 5 IN TXT "node=n1" "zone=" "pod=web-1" "uid=" "ready=1" "serving=1" "terminating=0"',
                f'{WEB[1]} 5 IN TXT "node=n2" "zone=" "pod=web-2" "uid=" "ready=0" "serving=0" "terminating=0"',
            ],
        ),
        (
            "_1._tcp.db.shop.endpoints SRV",
            [
                "db-0.db.shop.svc.cluster.local. 5 IN A 10.0.0.4",
                "db-0.db.shop.svc.cluster.local. 5 IN AAAA fd00::4",
                'db-0.db.shop.svc.cluster.local. 5 IN TXT "node=n1" "zone=" "pod=" "uid="'
                ' "ready=1" "serving=1" "terminating=0"',
            ],
        ),
    ],
)
def test_targets_come_with_addresses_and_facts(asked: str, lines: list[str]) -> None:
    additional = ask(cluster_zone(OBJECTS, mesh=True), asked).additional
    assert [line for rrset in additional for line in rrset.lines()] == lines


def test_an_endpoint_that_is_not_ready_has_no_name_of_its_own() -> None:
    assert shown(ask(cluster_zone(OBJECTS, mesh=True), "10-0-0-2.web.shop.svc TXT")) == "NXDOMAIN"
