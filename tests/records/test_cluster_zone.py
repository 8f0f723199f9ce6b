from __future__ import annotations

import pytest
from msgspec.structs import replace

from kubedns.cluster.lister import ANY_SYNC
from kubedns.cluster.objects import EndpointSlice, Kind, Namespace, Object
from kubedns.cluster.store import Store
from kubedns.dns.answer import Rcode
from kubedns.dns.edns import ErrorCode
from kubedns.dns.names import parse_name
from kubedns.dns.rdata import SOA
from kubedns.records.cluster_zone import ClusterZone
from tests.records.cluster import ZONES, ask, cluster_zone, options, shown
from tests.support.clusters import endpoint, endpoint_slice, service, store_of

OBJECTS: list[Object] = [
    Namespace("shop", {}),
    service("shop/web", "10.96.0.1 fd00::1", "http/TCP/80 https/TCP/443"),
    service("shop/db", "None", "pg/TCP/5432"),
    endpoint_slice("shop/db-1", "db", endpoint("10.0.0.1", hostname="db-0"), ports="pg/TCP/5432"),
    service("shop/alias", external_name="web.shop.svc.cluster.local"),
    service("shop/bad", external_name="two..dots"),
    service("kube-system/kube-dns", "10.96.0.10 fd00::10", "dns/UDP/53"),
]


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ("web.shop.svc ANY", r"\# 9 075246433834383200"),
        ("svc ANY", r"\# 9 075246433834383200"),
        ("alias.shop.svc ANY", "web.shop.svc.cluster.local."),
        ("nosuch.shop.svc ANY", "NXDOMAIN"),
        ("web.shop.svc SRV", "0 25 80 web.shop.svc.cluster.local., 0 25 443 web.shop.svc.cluster.local."),
        ("_pg._tcp.db.shop.svc A", "10.0.0.1"),
        ("_pg._tcp.db.shop.svc AAAA", "NODATA"),
        ("_tcp._tcp.db.shop.svc A", "NXDOMAIN"),
        ("_udp.db.shop.svc A", "NXDOMAIN"),
        ("bad.shop.svc A", "NODATA"),
        ("x.bad.shop.svc A", "NXDOMAIN"),
        ("cluster.local. NS", "ns.dns.cluster.local."),
        ("in-addr.arpa. NS", "ns.dns.in-addr.arpa."),
        ("ns.dns A", "10.96.0.10"),
        ("ns.dns AAAA", "fd00::10"),
        ("ns.dns TXT", "NODATA"),
        ("dns A", "NODATA"),
        ("x.ns.dns A", "NXDOMAIN"),
        ("ns.dns.in-addr.arpa. A", "10.96.0.10"),
        ("dns.in-addr.arpa. A", "NODATA"),
        ("mesh A", "NXDOMAIN"),
        ("endpoints A", "NXDOMAIN"),
        ("www.example.com. A", "REFUSED"),
    ],
)
def test_answers(asked: str, wanted: str) -> None:
    assert shown(ask(cluster_zone(OBJECTS), asked)) == wanted


def test_apex_names_its_server_with_the_addresses() -> None:
    additional = ask(cluster_zone(OBJECTS), "cluster.local. NS").additional
    assert [line for rrset in additional for line in rrset.lines()] == [
        "ns.dns.cluster.local. 5 IN A 10.96.0.10",
        "ns.dns.cluster.local. 5 IN AAAA fd00::10",
    ]


def test_without_a_dns_service_the_name_servers_name_exists() -> None:
    assert shown(ask(cluster_zone([]), "ns.dns A")) == "NODATA"
    assert shown(ask(cluster_zone([]), "cluster.local. NS")) == "ns.dns.cluster.local."


@pytest.mark.parametrize("asked", ["web.shop.svc A", "nosuch.shop.svc A", "1.0.96.10.in-addr.arpa. PTR", "svc A"])
def test_nothing_is_said_before_the_source_has_synced(asked: str) -> None:
    answer = ask(ClusterZone(options(), Store([Kind.SERVICE])), asked)
    assert answer.rcode == Rcode.SERVFAIL
    assert answer.extended_error is not None
    assert answer.extended_error.code == ErrorCode.NOT_READY
    assert answer.lifetime_seconds == 0


@pytest.mark.parametrize(
    "asked", ["web.shop.svc A", "web.shop.svc TXT", "nosuch.shop.svc A", "1.0.96.10.in-addr.arpa. PTR"]
)
def test_what_is_only_remembered_is_said_to_be_so_until_it_is_listed(asked: str) -> None:
    store = Store([Kind.SERVICE])
    store.upsert(service("shop/web", "10.96.0.1"))
    store.recalled()
    zone = ClusterZone(options(), store)
    remembered = ask(zone, asked)
    assert remembered.extended_error is not None
    assert remembered.extended_error.code == ErrorCode.STALE_ANSWER
    assert ANY_SYNC in remembered.depends_on
    store.replace(Kind.SERVICE, [service("shop/web", "10.96.0.1")])
    known = ask(zone, asked)
    assert (known.extended_error, known.rcode, known.answer) == (None, remembered.rcode, remembered.answer)


@pytest.mark.parametrize(("first", "serial"), [(0, 2), (2026120100, 2026120102), (0xFFFFFFFF, 1)])
def test_serial_starts_where_it_is_told_and_grows_with_the_store(first: int, serial: int) -> None:
    zone = ClusterZone(options(), store_of(OBJECTS[:2]), first)
    found = ask(zone, "cluster.local. SOA")
    assert isinstance(soa := found.answer[0].rdatas[0], SOA)
    assert soa.serial == serial
    assert found.lifetime_seconds == 0
    assert ask(zone, "nosuch A").authority[0].rdatas == (soa,)


def test_alias_is_handed_on_to_be_followed() -> None:
    answer = ask(cluster_zone(OBJECTS), "ALIAS.shop.svc AAAA")
    assert [str(rrset.owner) for rrset in answer.answer] == ["ALIAS.shop.svc.cluster.local."]
    assert answer.follow == parse_name("web.shop.svc.cluster.local.")


def test_owner_is_spelt_as_asked_and_targets_are_not() -> None:
    answer = ask(cluster_zone(OBJECTS, zones=(parse_name("Cluster.Local"),)), "_PG._tcp.DB.Shop.svc.CLUSTER.local. SRV")
    assert [line for rrset in (*answer.answer, *answer.additional) for line in rrset.lines()] == [
        "_PG._tcp.DB.Shop.svc.CLUSTER.local. 5 IN SRV 0 100 5432 db-0.db.shop.svc.cluster.local.",
        "db-0.db.shop.svc.cluster.local. 5 IN A 10.0.0.1",
    ]


def test_the_longest_zone_answers() -> None:
    zone = cluster_zone(OBJECTS, zones=(ZONES[0], parse_name("shop.svc.cluster.local.")))
    assert shown(ask(zone, "web.shop.svc A")) == "NXDOMAIN"
    assert shown(ask(zone, "web.shop.svc.shop.svc A")) == "10.96.0.1"


def test_targets_are_in_the_zone_that_is_asked_and_pointers_in_the_first() -> None:
    zone = cluster_zone(OBJECTS, zones=(*ZONES[1:], parse_name("one.example."), parse_name("two.example.")))
    assert shown(ask(zone, "_pg._tcp.db.shop.svc.two.example. SRV")) == "0 100 5432 db-0.db.shop.svc.two.example."
    assert shown(ask(zone, "1.0.96.10.in-addr.arpa. PTR")) == "web.shop.svc.one.example."


def test_ttl_zero_is_kept() -> None:
    zone = cluster_zone(OBJECTS, ttl=0)
    assert [rrset.ttl for rrset in ask(zone, "web.shop.svc A").answer] == [0]
    assert [rrset.ttl for rrset in ask(zone, "nosuch.shop.svc A").authority] == [0]
    assert [rrset.ttl for rrset in ask(zone, "dns-version TXT").answer] == [28800]


def test_a_namespace_without_namespace_object_exists_by_its_services() -> None:
    objects = [each for each in OBJECTS if not isinstance(each, Namespace)]
    assert shown(ask(cluster_zone(objects), "shop.svc A")) == "NODATA"
    assert shown(ask(cluster_zone(objects), "1-2-3-4.shop.pod A")) == "1.2.3.4"
    assert shown(ask(cluster_zone([]), "shop.svc A")) == "NXDOMAIN"


def test_headless_name_goes_and_comes_with_readiness() -> None:
    (found,) = [each for each in OBJECTS if isinstance(each, EndpointSlice)]
    ready = endpoint("10.0.0.1", hostname="db-0")
    store = store_of(OBJECTS)
    zone = ClusterZone(options(), store)
    for state, wanted in ((False, "NXDOMAIN"), (True, "10.0.0.1")):
        store.upsert(replace(found, endpoints=(replace(ready, ready=state),)))
        assert shown(ask(zone, "db.shop.svc A")) == shown(ask(zone, "db-0.db.shop.svc A")) == wanted


def test_endpoints_that_move_between_slices_are_given_once_and_never_missing() -> None:
    one, two = endpoint("10.0.0.1", hostname="n-1"), endpoint("10.0.0.2", hostname="n-2")
    first, second = endpoint_slice("data/big-a", "big", one, two), endpoint_slice("data/big-b", "big", two)
    store = store_of([service("data/big", "None"), first, second])
    zone = ClusterZone(options(), store)
    assert shown(ask(zone, "big.data.svc A")) == "10.0.0.1, 10.0.0.2"
    assert shown(ask(zone, "n-2.big.data.svc A")) == "10.0.0.2"
    store.upsert(replace(first, endpoints=(one,)))
    assert shown(ask(zone, "big.data.svc A")) == "10.0.0.1, 10.0.0.2"
