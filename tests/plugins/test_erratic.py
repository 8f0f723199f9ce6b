"""erratic: which of the queries go wrong, and how."""

from __future__ import annotations

import asyncio
from pathlib import Path

import dns.flags
import dns.message
import pytest

from tests.plugins.asking import query_for
from tests.plugins.test_chaos import exchange
from tests.plugins.test_file import built

CASES = [
    ("erratic", [False, True, False, True]),
    ("erratic {\ndrop 3\n}", [False, False, True, False]),
    ("erratic {\ndrop 0\n}", [False] * 4),
    ("erratic {\ndelay 2 1ms\n}", [False] * 4),
]


@pytest.mark.parametrize(("body", "expected"), CASES)
def test_which_queries_get_no_response(tmp_path: Path, body: str, expected: list[bool]) -> None:
    async def run() -> list[bool]:
        resolver = next(iter(built(tmp_path, body).resolvers.values()))
        return [(await resolver.answer(query_for("a.test."))).silent for _ in expected]

    assert asyncio.run(run()) == expected


@pytest.mark.parametrize(("rdtype", "rcode", "count"), [("A", 0, 1), ("AAAA", 0, 1), ("TXT", 2, 0)])
def test_the_others_get_an_address(tmp_path: Path, rdtype: str, rcode: int, count: int) -> None:
    (response,) = exchange(tmp_path, "erratic", dns.message.make_query("a.test.", rdtype))
    assert (response.rcode(), sum(map(len, response.answer))) == (rcode, count)


@pytest.mark.parametrize("edns", [False, 0])
def test_every_second_is_truncated(tmp_path: Path, edns: int | bool) -> None:
    query = dns.message.make_query("a.test.", "A", use_edns=edns)
    responses = exchange(tmp_path, "erratic {\ntruncate\n}", query, times=4)
    assert [bool(each.flags & dns.flags.TC) for each in responses] == [False, True, False, True]
    assert [len(each.answer) for each in responses] == [1, 0, 1, 0]
