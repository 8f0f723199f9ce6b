from __future__ import annotations

import pytest

from kubedns.cluster.objects import Object
from tests.records.cluster import ask, cluster_zone, shown
from tests.support.clusters import endpoint, endpoint_slice, pod, service

SERVICE: Object = service("data/db", "None", "pg/TCP/5432")


def cluster(*pods: Object, name: str = "db-0") -> list[Object]:
    found = endpoint_slice("data/db-1", "db", endpoint("10.0.0.1", pod=name), ports="pg/TCP/5432")
    return [SERVICE, found, *pods]


@pytest.mark.parametrize(
    ("objects", "name"),
    [
        (cluster(), "10-0-0-1"),
        (cluster(pod("data/db-0", "10.0.0.1")), "10-0-0-1"),
        (cluster(pod("data/db-0", "10.0.0.1", hostname="zero", subdomain="db")), "zero"),
        (cluster(pod("data/db-0", "10.0.0.1", hostname="zero", subdomain="other")), "10-0-0-1"),
        (cluster(pod("data/db-0", "10.0.0.1", stateful_name="db-0", subdomain="db", hostname="db-0")), "db-0"),
        (cluster(pod("data/db-0", "10.0.0.1", stateful_name="db-0")), "db-0"),
        (cluster(pod("data/db-0", "10.0.0.1", stateful_name="db-0", subdomain="other")), "10-0-0-1"),
        (cluster(pod("elsewhere/db-0", "10.0.0.1", stateful_name="db-0")), "10-0-0-1"),
    ],
)
def test_a_pod_names_the_endpoint_where_it_was_promised_the_name(objects: list[Object], name: str) -> None:
    zone = cluster_zone(objects)
    assert shown(ask(zone, "_pg._tcp.db.data.svc SRV")) == f"0 100 5432 {name}.db.data.svc.cluster.local."
    assert shown(ask(zone, "1.0.0.10.in-addr.arpa. PTR")) == f"{name}.db.data.svc.cluster.local."
    for each in ("10-0-0-1", "zero", "db-0"):
        assert shown(ask(zone, f"{each}.db.data.svc A")) == ("10.0.0.1" if each == name else "NXDOMAIN")


@pytest.mark.parametrize(
    ("pod_name", "name"), [("web-1", "web-1"), ("web.1", "10-0-0-1"), ("w" * 64, "10-0-0-1"), ("Web", "10-0-0-1")]
)
def test_a_pods_name_serves_only_if_it_is_a_label(pod_name: str, name: str) -> None:
    zone = cluster_zone(cluster(name=pod_name), endpoint_pod_names=True)
    assert shown(ask(zone, "1.0.0.10.in-addr.arpa. PTR")) == f"{name}.db.data.svc.cluster.local."


def test_addresses_of_one_endpoint_have_a_dashed_name_each_but_share_a_hostname() -> None:
    both = "10.0.0.1 10.0.0.2"
    zone = cluster_zone([SERVICE, endpoint_slice("data/db-1", "db", endpoint(both))])
    assert shown(ask(zone, "10-0-0-2.db.data.svc A")) == "10.0.0.2"
    zone = cluster_zone([SERVICE, endpoint_slice("data/db-1", "db", endpoint(both, hostname="two"))])
    assert shown(ask(zone, "two.db.data.svc A")) == "10.0.0.1, 10.0.0.2"


def test_a_slice_that_leaves_the_port_open_has_no_srv() -> None:
    objects: list[Object] = [SERVICE, endpoint_slice("data/db-1", "db", endpoint("10.0.0.1"), ports="pg/TCP/0")]
    assert shown(ask(cluster_zone(objects), "db.data.svc SRV")) == "NODATA"
    assert shown(ask(cluster_zone(objects), "_pg._tcp.db.data.svc SRV")) == "NXDOMAIN"
    assert shown(ask(cluster_zone(objects), "_tcp.db.data.svc SRV")) == "NXDOMAIN"


def test_an_endpoint_without_address_is_none() -> None:
    assert (
        shown(ask(cluster_zone([SERVICE, endpoint_slice("data/db-1", "db", endpoint(""))]), "db.data.svc A"))
        == "NXDOMAIN"
    )


def test_text_of_endpoints_is_for_the_mesh() -> None:
    facts = endpoint("10.0.0.1", hostname="a", node="n1", zone="eu-1", pod="p", pod_uid="u-1", terminating=True)
    objects: list[Object] = [SERVICE, endpoint_slice("data/db-1", "db", facts)]
    assert shown(ask(cluster_zone(objects), "a.db.data.svc TXT")) == "NODATA"
    assert shown(ask(cluster_zone(objects, mesh=True), "a.db.data.svc TXT")) == (
        '"node=n1" "zone=eu-1" "pod=p" "uid=u-1" "ready=1" "serving=1" "terminating=1"'
    )
