"""local, and the zones that ship with the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubedns.corefile.parser import parse_corefile
from kubedns.observe.rows import LOCALHOST_REQUESTS
from kubedns.server.build import Settings, build_server
from kubedns.server.files import DiskFiles
from tests.house.tree import ROOT
from tests.plugins.test_file import ask, built, shown

CASES = [
    ("localhost.", "A", ["NOERROR", "localhost. 86400 IN A 127.0.0.1"]),
    ("LocalHost.", "AAAA", ["NOERROR", "LocalHost. 86400 IN AAAA ::1"]),
    ("x.localhost.", "A", ["NOERROR", "x.localhost. 86400 IN A 127.0.0.1"]),
    ("localhost.", "MX", ["NOERROR"]),
    ("localhost.example.org.", "A", ["NOERROR", "localhost.example.org. 86400 IN A 127.0.0.1"]),
    ("localhost.example.org.", "TXT", ["NOERROR"]),
    ("1.0.0.127.in-addr.arpa.", "PTR", ["NOERROR", "1.0.0.127.in-addr.arpa. 86400 IN PTR localhost."]),
    ("2.0.0.127.in-addr.arpa.", "PTR", ["NXDOMAIN"]),
    ("1.0.0.0.in-addr.arpa.", "PTR", ["NXDOMAIN"]),
    ("255.in-addr.arpa.", "SOA",
     ["NOERROR", "255.in-addr.arpa. 86400 IN SOA localhost. root.localhost. 1 0 0 0 86400"]),
    ("nolocalhost.example.org.", "A", ["REFUSED"]),
    ("1.0.0.10.in-addr.arpa.", "PTR", ["REFUSED"]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "rdtype", "expected"), CASES)
def test_local_names_are_answered_here(tmp_path: Path, name: str, rdtype: str, expected: list[str]) -> None:
    assert shown(ask(built(tmp_path, "local"), name, rdtype)) == expected


def test_localhost_with_a_domain_is_counted(tmp_path: Path) -> None:
    server = built(tmp_path, "local")
    answer = ask(server, "localhost.example.org.")
    assert answer.served_again is not None
    answer.served_again(2)
    assert server.lasting.metrics.cell(LOCALHOST_REQUESTS).value == 3


SHIPPED = [
    ("rfc6303", "1.2.3.10.in-addr.arpa.", "PTR", "NXDOMAIN"),
    ("rfc6303", "10.in-addr.arpa.", "SOA", "NOERROR"),
    ("rfc6303", "1.0.31.172.in-addr.arpa.", "PTR", "NXDOMAIN"),
    ("rfc6303", "1.0.32.172.in-addr.arpa.", "PTR", "REFUSED"),
    ("rfc6303", "1.0.127.100.in-addr.arpa.", "PTR", "NXDOMAIN"),
    ("rfc6303", "1.0.128.100.in-addr.arpa.", "PTR", "REFUSED"),
    ("rfc6303", "0.0.0.0.0.0.d.f.ip6.arpa.", "PTR", "NXDOMAIN"),
    ("rfc6303", "8.b.d.0.1.0.0.2.ip6.arpa.", "NS", "NOERROR"),
    ("rfc6303", "example.org.", "A", "REFUSED"),
    ("rfc6761", "localhost.", "A", "NOERROR"),
    ("rfc6761", "a.b.localhost.", "AAAA", "NOERROR"),
    ("rfc6761", "www.invalid.", "A", "NXDOMAIN"),
    ("rfc6761", "www.onion.", "A", "NXDOMAIN"),
    ("rfc6761", "web.shop.svc.cluster.local.", "A", "REFUSED"),
]


@pytest.mark.parametrize(("file", "name", "rdtype", "rcode"), SHIPPED)
def test_the_zones_that_ship_can_be_imported(file: str, name: str, rdtype: str, rcode: str) -> None:
    text = f"import {ROOT}/zones/local/{file}\n"
    corefile = parse_corefile(text, str(ROOT / "Corefile"), DiskFiles(), {})
    assert corefile.warnings == ()
    assert shown(ask(build_server(corefile.blocks, Settings()), name, rdtype))[0] == rcode
