"""nsid: told to those who ask, and to nobody else, from what is kept too."""

from __future__ import annotations

from pathlib import Path

import dns.edns
import dns.message
import pytest

from tests.plugins.test_chaos import exchange

ASKING = [dns.edns.GenericOption(dns.edns.OptionType.NSID, b"")]
OTHER = [dns.edns.GenericOption(dns.edns.OptionType.make(65001), b"x")]


def names(response: dns.message.Message) -> list[bytes]:
    return [option.to_wire() or b"" for option in response.options if option.otype == dns.edns.OptionType.NSID]


CASES = [
    ("nsid dns-1\nwhoami", ASKING, [b"dns-1"]),
    ('nsid "two words"\nwhoami', ASKING, [b"two words"]),
    ("nsid a b\nlocal", ASKING, [b"a b"]),
    ("nsid dns-1\nlocal", [*OTHER, *ASKING], [b"dns-1"]),
    ("nsid dns-1\nlocal", OTHER, []),
    ("nsid dns-1\nlocal", [], []),
    ("local", ASKING, []),
]


@pytest.mark.parametrize(("body", "options", "expected"), CASES)
def test_who_is_told(tmp_path: Path, body: str, options: list[dns.edns.Option], expected: list[bytes]) -> None:
    query = dns.message.make_query("localhost.", "A", use_edns=0, options=options)
    for response in exchange(tmp_path, body, query, times=3):
        assert names(response) == expected


def test_without_edns_there_is_no_room_for_it(tmp_path: Path) -> None:
    (response,) = exchange(tmp_path, "nsid x\nlocal", dns.message.make_query("localhost.", "A", use_edns=False))
    assert response.edns == -1
