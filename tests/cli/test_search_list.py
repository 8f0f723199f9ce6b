from __future__ import annotations

import pytest

from kubedns.cli.search_list import Candidate, Outcome, candidates, is_absolute, pod_search_list, still_asked
from kubedns.dns.names import BadNameError, Name, parse_name

ZONE = parse_name("cluster.local.")
SEARCH = pod_search_list("shop", ZONE)
LONG = ".".join(["a" * 60] * 4)


def test_a_pod_searches_its_namespace_then_all_services_then_the_zone() -> None:
    assert [str(domain) for domain in SEARCH] == ["shop.svc.cluster.local.", "svc.cluster.local.", "cluster.local."]


def searched(name: str) -> list[str]:
    return [f"{name}.{domain}" for domain in ("shop.svc.cluster.local.", "svc.cluster.local.", "cluster.local.")]


@pytest.mark.parametrize(
    ("typed", "ndots", "expected"),
    [
        ("web", 5, [*searched("web"), "web."]),
        ("web.", 5, ["web."]),
        ("db-0.db", 5, [*searched("db-0.db"), "db-0.db."]),
        ("a.b.c.d.e", 5, [*searched("a.b.c.d.e"), "a.b.c.d.e."]),
        ("a.b.c.d.e.f", 5, ["a.b.c.d.e.f.", *searched("a.b.c.d.e.f")]),
        ("example.com", 1, ["example.com.", *searched("example.com")]),
        ("web", 0, ["web.", *searched("web")]),
        (r"a\.b\.", 5, [*searched(r"a\.b\."), r"a\.b\.."]),
        (LONG, 5, [f"{LONG}."]),
        (".", 5, ["."]),
    ],
)
def test_candidates_come_in_the_resolvers_order(typed: str, ndots: int, expected: list[str]) -> None:
    assert [str(candidate.name) for candidate in candidates(typed, SEARCH, ndots)] == expected


def test_without_a_search_list_the_name_is_asked_for_as_typed() -> None:
    assert candidates("web", ()) == (Candidate(parse_name("web.")),)


@pytest.mark.parametrize("typed", ["", "a..b", ".a", "a" * 64])
def test_what_is_no_name_has_no_candidates(typed: str) -> None:
    with pytest.raises(BadNameError):
        candidates(typed, SEARCH)


@pytest.mark.parametrize(("typed", "expected"), [("a.", True), ("a", False), (r"a\.", False), (r"a\\.", True)])
def test_a_final_dot_counts_unless_it_is_escaped(typed: str, expected: bool) -> None:
    assert is_absolute(typed) is expected


def named(text: str, domain: Name | None) -> Candidate:
    return Candidate(parse_name(text), domain)


FIRST, SECOND, AS_TYPED = named("web.a.", parse_name("a.")), named("web.b.", parse_name("b.")), named("web.", None)


@pytest.mark.parametrize(
    ("candidate", "outcome", "rest", "expected"),
    [
        (FIRST, Outcome.ANSWER, (SECOND, AS_TYPED), ()),
        (FIRST, Outcome.NXDOMAIN, (SECOND, AS_TYPED), (SECOND, AS_TYPED)),
        (FIRST, Outcome.NODATA, (SECOND, AS_TYPED), (SECOND, AS_TYPED)),
        (FIRST, Outcome.SERVFAIL, (SECOND, AS_TYPED), (SECOND, AS_TYPED)),
        (FIRST, Outcome.REFUSED, (SECOND, AS_TYPED), (AS_TYPED,)),
        (FIRST, Outcome.DROPPED, (SECOND, AS_TYPED), (AS_TYPED,)),
        (FIRST, Outcome.REFUSED, (SECOND,), ()),
        (AS_TYPED, Outcome.REFUSED, (FIRST, SECOND), (FIRST, SECOND)),
        (AS_TYPED, Outcome.ANSWER, (FIRST, SECOND), ()),
    ],
)
def test_an_outcome_decides_what_is_still_asked(
    candidate: Candidate, outcome: Outcome, rest: tuple[Candidate, ...], expected: tuple[Candidate, ...]
) -> None:
    assert tuple(still_asked(candidate, outcome, rest)) == expected
