"""The conformance corpus, asked of ClusterZone itself; over sockets it is asked by tests/conformance."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import pytest
import yaml
from msgspec.structs import replace

from kubedns.dns.answer import Answer
from kubedns.dns.question import Question
from kubedns.dns.rdata import RecordType
from kubedns.dns.rrset import RRset
from kubedns.records.cluster_zone import ClusterZone
from kubedns.records.options import PodsMode
from tests.records.cluster import CORPUS, Json, TeamRetail, cluster_zone, corpus_objects, question

PROFILES: dict[str, dict[str, object]] = {
    "default": {},
    "pods-verified": {"pods": PodsMode.VERIFIED},
    "endpoint-pod-names": {"pods": PodsMode.DISABLED, "endpoint_pod_names": True},
    "ignore-empty": {"ignore_empty_services": True},
    "namespaces": {"namespaces": frozenset({"shop", "data"})},
    "namespace-labels": {"namespace_selector": TeamRetail()},
    "ttl-30": {"ttl": 30},
    "noendpoints": {"serve_endpoints": False},
}
_MESSAGES = {"wire", "questions", "opcode", "class", "qr", "pipeline"}
_RESOLVER = {"REFUSED", "BADVERS"}
"""Rcodes that are decided before a question gets here."""


def cases() -> list[Json]:
    """Cases that are about the cluster's names, not about messages."""
    found = yaml.load((CORPUS / "cases.yaml").read_text(), yaml.CSafeLoader)
    return [case for case in found if case.get("profile", "default") in PROFILES and _is_ours(case)]


def _is_ours(case: Json) -> bool:
    return not _MESSAGES & set(case["query"]) and not _RESOLVER & set(_rcodes(case))


def _rcodes(case: Json) -> list[str]:
    rcodes = case["expect"].get("rcode", "REFUSED")
    return [rcodes] if isinstance(rcodes, str) else list(rcodes)


@cache
def zone_of(profile: str) -> ClusterZone:
    return cluster_zone(corpus_objects(), **PROFILES[profile])


def followed(zone: ClusterZone, asked: Question) -> Answer:
    """The last answer of a chain of aliases, with the whole chain in its answer section."""
    answer = zone.answer(asked)
    chain = answer.answer
    while answer.follow is not None and asked.type != RecordType.CNAME and len(chain) < 8:
        if not any(each.holds(answer.follow) for each in zone.zones):
            break
        answer = zone.answer(Question(answer.follow, asked.type))
        chain += answer.answer
    return replace(answer, answer=chain)


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["id"])
def test_case(case: Json) -> None:
    expect = case["expect"]
    asked = question(f"{case['query']['name']} {case['query']['type']}")
    answer = followed(zone_of(case.get("profile", "default")), asked)
    assert answer.rcode.name in _rcodes(case)
    for section in ("answer", "authority", "additional"):
        wanted = expect.get(section, "any")
        if wanted != "any" and (wanted or section == "answer"):
            assert same(getattr(answer, section), wanted, bool(expect.get("case_exact")))
    if "soa_in_authority" in expect:
        assert any(rrset.type == RecordType.SOA for rrset in answer.authority) == expect["soa_in_authority"]


def same(rrsets: Iterable[RRset], wanted: list[str], case_exact: bool) -> bool:
    """Whether the records are those of the lines, in any order; ``*`` stands for any one field."""
    lines = [line if case_exact else line.lower() for rrset in rrsets for line in rrset.lines()]
    matches = [any(_matches(line, want if case_exact else want.lower()) for line in lines) for want in wanted]
    return len(lines) == len(wanted) and all(matches)


def _matches(line: str, wanted: str) -> bool:
    pairs = list(zip(line.split(), wanted.split(), strict=False))
    return all(want in ("*", field) for field, want in pairs)


def test_every_profile_has_its_cases() -> None:
    profiles = [case.get("profile", "default") for case in cases()]
    assert {profile: profiles.count(profile) for profile in PROFILES} == {
        "default": 331,
        "pods-verified": 7,
        "endpoint-pod-names": 6,
        "ignore-empty": 5,
        "namespaces": 7,
        "namespace-labels": 3,
        "ttl-30": 5,
        "noendpoints": 5,
    }
