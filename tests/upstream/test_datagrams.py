"""Questions over UDP: nobody guesses where they come from, and nothing but their replies is believed."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from random import Random

import pytest

from tests.upstream.forger import FORGERIES, TRUE, Forger, ask_through

QUERIES = 600


def test_ports_and_identifiers_are_anybodys_guess() -> None:
    forger = Forger(0, Random(1))
    asyncio.run(ask_through(forger, QUERIES, Random(2)))
    ports = [port for port, _ in forger.seen]
    idents = [ident for _, ident in forger.seen]
    # Of 28,000 ports or more, and 65,536 identifiers, six hundred picks hit few twice.
    assert len(set(ports)) > QUERIES * 0.95
    assert len(set(idents)) > QUERIES * 0.95
    for series in (ports, idents):
        steps = [later - earlier for earlier, later in pairwise(series)]
        assert sum(abs(step) <= 4 for step in steps) < QUERIES * 0.02
        assert QUERIES * 0.35 < sum(step > 0 for step in steps) < QUERIES * 0.65


@pytest.mark.parametrize("forgery", FORGERIES, ids=lambda each: each.__name__.strip("_"))
def test_no_kind_of_forged_reply_is_believed(forgery: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.upstream.forger.FORGERIES", (forgery,))
    assert asyncio.run(ask_through(Forger(3, Random(1)), 40, Random(2))) == [TRUE] * 40


def test_of_twenty_thousand_forged_replies_none_is_believed() -> None:
    forger = Forger(19, Random(3))
    assert asyncio.run(ask_through(forger, 1000, Random(4))) == [TRUE] * 1000
    assert forger.forged == 20_000


def test_after_twenty_it_is_asked_another_way() -> None:
    assert asyncio.run(ask_through(Forger(20, Random(5)), 40, Random(6))) == [""] * 40
