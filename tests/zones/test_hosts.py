"""Hosts files, line by line."""

from __future__ import annotations

import pytest

from kubedns.dns.names import parse_name
from kubedns.zones.hosts import parse_hosts
from tests.support.clusters import addresses

LINES = [
    ("10.0.0.1 a", {"a.": "10.0.0.1"}, ()),
    ("10.0.0.1\ta.test B.test. # c.test\n\n# 10.0.0.2 d", {"a.test.": "10.0.0.1", "b.test.": "10.0.0.1"}, ()),
    ("10.0.0.1 a\n::1 a\n10.0.0.1 A", {"a.": "10.0.0.1 ::1"}, ()),
    ("fe80::1%eth0 a", {"a.": "fe80::1"}, ()),
    ("10.0.0.300 a\n10.0.0.1 b\n10.0.0.2 " + "x" * 64, {"b.": "10.0.0.1"}, ("1: `10.0.0.300` is no address", "3: ")),
    ("10.0.0.1", {}, ()),
]


@pytest.mark.parametrize(("text", "expected", "faults"), LINES)
def test_a_line_is_an_address_and_its_names(text: str, expected: dict[str, str], faults: tuple[str, ...]) -> None:
    hosts = parse_hosts(text)
    assert dict(hosts.addresses) == {parse_name(name).key: addresses(ips) for name, ips in expected.items()}
    assert [told.startswith(fault) for told, fault in zip(hosts.faults, faults, strict=True)] == [True] * len(faults)
