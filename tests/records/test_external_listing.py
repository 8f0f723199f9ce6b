"""What is listed of an external zone is what is answered, both ways."""

from __future__ import annotations

import pytest

from kubedns.dns.names import Name, parse_name
from kubedns.dns.question import Question
from kubedns.dns.rdata import SOA, TYPE_NUMBERS, RecordType
from kubedns.records.external_listing import external_records
from tests.records.test_external import CASES, HEADLESS, zones

ZONE = parse_name("corp.example.")


@pytest.mark.parametrize("headless", [False, True])
def test_what_is_listed_is_answered_and_the_other_way_round(headless: bool) -> None:
    external = zones(headless)
    listed = list(external_records(external, external.zones[0]))
    assert listed[0].type == SOA.type
    assert len({(rrset.owner, rrset.type) for rrset in listed}) == len(listed)
    for rrset in listed:
        assert external.answer(Question(rrset.owner, rrset.type)).answer == (rrset,)
    found: set[tuple[Name, int]] = set()
    for owner, rdtype, _, _ in [*CASES, *HEADLESS, ("dns", "NS", "", []), ("db.shop", "SRV", "", [])]:
        name = parse_name(f"{owner}.corp.example.")
        found |= {(each.owner, each.type) for each in external.answer(Question(name, TYPE_NUMBERS[rdtype])).answer}
    assert found <= {(rrset.owner, rrset.type) for rrset in listed}


def test_a_zone_is_listed_as_it_was() -> None:
    external = zones(False)
    frozen = external.frozen()
    assert frozen.serial == external.serial
    assert list(external_records(frozen, frozen.zones[0])) == list(external_records(external, external.zones[0]))
    assert external.begins_at(parse_name("CORP.example.")) is external.zones[0]
    assert external.begins_at(parse_name("shop.corp.example.")) is None
    assert RecordType.SOA in {rrset.type for rrset in external_records(frozen, frozen.zones[0])}
