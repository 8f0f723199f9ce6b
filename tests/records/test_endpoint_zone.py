from __future__ import annotations

import pytest

from kubedns.dns.question import Question
from kubedns.dns.rdata import SOA, RecordType
from kubedns.records.endpoint_zone import endpoint_zone_records, endpoint_zone_soa
from tests.records.cluster import cluster_zone, question
from tests.records.test_endpoint_list import OBJECTS

ZONES = ["web.shop", "plain.shop", "db.shop", "idle.shop"]


def apex(text: str) -> Question:
    return question(f"{text} SOA")


@pytest.mark.parametrize("name", ZONES)
def test_it_has_what_the_answers_have(name: str) -> None:
    zone = cluster_zone(OBJECTS, mesh=True)
    top = apex(f"{name}.endpoints").name
    records = list(endpoint_zone_records(zone, top))
    assert len({(rrset.owner, rrset.type) for rrset in records}) == len(records)
    in_zone = [rrset for rrset in records if rrset.owner.is_at_or_below(top)]
    beside = [rrset for rrset in records if not rrset.owner.is_at_or_below(top)]
    assert {rrset.type for rrset in in_zone} <= {RecordType.NS, RecordType.SRV}
    wanted = set()
    for rrset in in_zone:
        if rrset.type == RecordType.SRV:
            answer = zone.answer(Question(rrset.owner, RecordType.SRV))
            assert answer.answer == (rrset,)
            wanted |= {(each.owner, each.type, frozenset(each.rdatas)) for each in answer.additional}
    assert {(each.owner, each.type, frozenset(each.rdatas)) for each in beside} == wanted


def test_endpoints_that_no_port_leads_to_are_there_too() -> None:
    zone = cluster_zone(OBJECTS, mesh=True)
    texts = [line for rrset in endpoint_zone_records(zone, apex("web.shop.endpoints").name) for line in rrset.lines()]
    assert any("ready=0" in line for line in texts)
    assert "10-0-0-2.web.shop.svc.cluster.local. 5 IN A 10.0.0.2" in texts


NOWHERE = [
    "alias.shop.endpoints",
    "nosuch.shop.endpoints",
    "shop.endpoints",
    "endpoints",
    "web.shop.svc",
    "1.in-addr.arpa.",
]


@pytest.mark.parametrize("name", NOWHERE)
def test_no_zone_begins_elsewhere(name: str) -> None:
    zone = cluster_zone(OBJECTS, mesh=True)
    assert endpoint_zone_soa(zone, apex(name).name) is None
    assert list(endpoint_zone_records(zone, apex(name).name)) == []


def test_without_the_mesh_there_is_none() -> None:
    assert endpoint_zone_soa(cluster_zone(OBJECTS), apex("web.shop.endpoints").name) is None


def test_its_serial_is_the_clusters() -> None:
    zone = cluster_zone(OBJECTS, mesh=True)
    soa = endpoint_zone_soa(zone, apex("web.shop.endpoints").name)
    assert soa is not None
    (rdata,) = soa.rdatas
    assert isinstance(rdata, SOA)
    assert (soa.owner, rdata.serial) == (apex("web.shop.endpoints").name, zone.serial)
