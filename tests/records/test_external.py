"""What Services have outside of the cluster, name by name."""

from __future__ import annotations

import pytest

from kubedns.cluster.lister import service_key
from kubedns.dns.answer import Rcode
from kubedns.dns.names import parse_name
from kubedns.dns.question import Question
from kubedns.dns.rdata import TYPE_NUMBERS
from kubedns.records.external import ExternalOptions, ExternalZones
from kubedns.records.options import RecordOptions
from tests.support.clusters import addresses, endpoint, endpoint_slice, service, store_of

ZONES = (parse_name("corp.example."),)
STORE = store_of(
    [
        service("shop/lb", "10.96.0.1", external_addresses=addresses("192.0.2.1 2001:db8::1")),
        service("shop/named", "10.96.0.2", external_host="lb.cloud.example"),
        service("shop/inside", "10.96.0.3"),
        service("shop/db", "None"),
        endpoint_slice("shop/db-1", "db", endpoint("10.244.0.1", hostname="db-0"), ports="sql/TCP/5432"),
        service("kube-system/kube-dns", "10.96.0.10", external_addresses=addresses("192.0.2.53")),
    ]
)
CASES = [
    ("lb.shop", "A", "NOERROR", ["lb.shop.corp.example. 5 IN A 192.0.2.1"]),
    ("LB.shop", "AAAA", "NOERROR", ["LB.shop.corp.example. 5 IN AAAA 2001:db8::1"]),
    ("lb.shop", "TXT", "NOERROR", []),
    ("_http._tcp.lb.shop", "SRV", "NOERROR",
     ["_http._tcp.lb.shop.corp.example. 5 IN SRV 0 50 80 lb.shop.corp.example."]),
    ("_http._tcp.lb.shop", "A", "NOERROR", []),
    ("_sql._tcp.lb.shop", "SRV", "NXDOMAIN", []),
    ("_tcp.lb.shop", "A", "NOERROR", []),
    ("_udp.lb.shop", "A", "NXDOMAIN", []),
    ("named.shop", "A", "NOERROR", ["named.shop.corp.example. 5 IN CNAME lb.cloud.example."]),
    ("inside.shop", "A", "NXDOMAIN", []),
    ("x.lb.shop", "A", "NXDOMAIN", []),
    ("ns1.dns", "A", "NOERROR", ["ns1.dns.corp.example. 5 IN A 192.0.2.53"]),
]  # fmt: skip
HEADLESS = [
    ("db.shop", "A", "NOERROR", ["db.shop.corp.example. 5 IN A 10.244.0.1"]),
    ("db-0.db.shop", "A", "NOERROR", ["db-0.db.shop.corp.example. 5 IN A 10.244.0.1"]),
    ("_sql._tcp.db.shop", "SRV", "NOERROR",
     ["_sql._tcp.db.shop.corp.example. 5 IN SRV 0 100 5432 db-0.db.shop.corp.example."]),
]  # fmt: skip


def zones(headless: bool, namespaces: frozenset[str] = frozenset()) -> ExternalZones:
    limits = RecordOptions(zones=(parse_name("cluster.local."),), namespaces=namespaces)
    return ExternalZones(ExternalOptions(zones=ZONES, headless=headless), limits, STORE)


@pytest.mark.parametrize(
    ("headless", "owner", "rdtype", "rcode", "records"),
    [
        *[(False, *case) for case in CASES],
        *[(True, *case) for case in HEADLESS],
        *[(False, owner, rdtype, "NXDOMAIN", []) for owner, rdtype, _, _ in HEADLESS],
    ],
)
def test_what_is_outside(headless: bool, owner: str, rdtype: str, rcode: str, records: list[str]) -> None:
    question = Question(parse_name(f"{owner}.corp.example."), TYPE_NUMBERS[rdtype])
    answer = zones(headless).answer(question)
    assert (answer.rcode.name, [line for rrset in answer.answer for line in rrset.lines()]) == (rcode, records)
    assert bool(answer.authority) == (not records)


def test_a_namespace_that_is_hidden_inside_is_hidden_outside() -> None:
    question = Question(parse_name("lb.shop.corp.example."), TYPE_NUMBERS["A"])
    assert zones(False, frozenset({"data"})).answer(question).rcode is Rcode.NXDOMAIN


def test_a_denial_falls_with_the_service_that_would_have_the_name() -> None:
    answer = zones(False).answer(Question(parse_name("new.shop.corp.example."), TYPE_NUMBERS["A"]))
    assert service_key("shop", "new") in answer.depends_on
