"""A client that validates, behind us: what proves an answer comes through, asked for anew and kept alike.

The zone is signed and served by one foreign program, and validated by another.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import dns.message
import dns.query
import dns.rdatatype
import pytest

from tests.e2e.wires import wait_until
from tests.support.knot import knot
from tests.support.process import PATIENCE_SECONDS, Running, free_port, running

ORIGIN = "signed.test."
ZONE = """
$TTL 300
@ SOA ns host 1 2 3 4 60
@ NS ns
ns A 127.0.0.1
www A 192.0.2.1
alias CNAME www
*.wild A 192.0.2.2
old DNAME new
host.new A 192.0.2.3
"""
COREFILE = """
.:{port} {{
    bind 127.0.0.1
    {cache}
    forward . 127.0.0.1:{upstream}
}}
"""
SIGNED = """
policy:
  - id: one-key
    algorithm: ecdsap256sha256
    single-type-signing: on
zone:
  - domain: signed.test
    file: zone
    storage: {folder}
    zonefile-load: whole
    zonefile-sync: -1
    journal-content: none
    semantic-checks: off
    dnssec-signing: on
    dnssec-policy: one-key
"""


def keys_of(port: int) -> list[str]:
    """The zone's keys as master files have them; none yet: it is being signed."""
    query = dns.message.make_query(ORIGIN, "DNSKEY", want_dnssec=True)
    try:
        response = dns.query.tcp(query, "127.0.0.1", PATIENCE_SECONDS, port)
    except OSError:
        return []
    return [str(rdata) for rrset in response.answer if rrset.rdtype == dns.rdatatype.DNSKEY for rdata in rrset]


def write_anchor(file: Path, port: int) -> None:
    """Write whom the validating client trusts: the keys that the zone has."""
    wait_until(lambda: bool(keys_of(port)))
    anchors = []
    for key in keys_of(port):
        flags, protocol, algorithm, public = key.split(None, 3)
        anchors.append(f'{ORIGIN} static-key {flags} {protocol} {algorithm} "{public}";')
    file.write_text(f"trust-anchors {{ {' '.join(anchors)} }};\n")


@pytest.fixture(scope="module", params=["", "cache"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder, port, upstream = tmp_path_factory.mktemp("signed"), free_port(), free_port()
    (folder / "zone").write_text(ZONE)
    (folder / "Corefile").write_text(COREFILE.format(port=port, upstream=upstream, cache=request.param))
    with (
        knot(folder / "knot", SIGNED.format(folder=folder), upstream),
        running(["-conf", str(folder / "Corefile")], port, folder / "log") as serving,
    ):
        write_anchor(folder / "anchor", upstream)
        yield serving


CASES = [
    ("www", "A", "; fully validated", ["192.0.2.1"]),
    ("www", "AAAA", "; negative response, fully validated", []),
    ("none", "A", "; negative response, fully validated", []),
    ("a.b.none", "TXT", "; negative response, fully validated", []),
    ("alias", "A", "; fully validated", ["192.0.2.1"]),
    ("any.wild", "A", "; fully validated", ["192.0.2.2"]),
    ("host.old", "A", "; fully validated", ["192.0.2.3"]),
    ("@", "SOA", "; fully validated", []),
    ("@", "DNSKEY", "; fully validated", []),
]


@pytest.mark.parametrize(("name", "rdtype", "verdict", "rdatas"), CASES)
def test_delv_validates_every_answer(name: str, rdtype: str, verdict: str, rdatas: list[str], server: Running) -> None:
    delv = shutil.which("delv")
    if delv is None:
        pytest.skip("there is no delv")
    full = ORIGIN if name == "@" else f"{name}.{ORIGIN}"
    for _ in range(2):
        done = subprocess.run(
            [delv, "@127.0.0.1", "-p", str(server.port), "-a", str(server.log.parent / "anchor"),
             f"+root={ORIGIN}", full, rdtype],
            capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False,
        )  # fmt: skip
        assert verdict in done.stdout, done.stdout + done.stderr
        assert all(rdata in done.stdout for rdata in rdatas)


@pytest.mark.parametrize("name", ["www", "none", "any.wild", "host.old"])
def test_others_get_no_signatures(name: str, server: Running) -> None:
    for wanting in (True, False, True, False):
        query = dns.message.make_query(f"{name}.{ORIGIN}", "A", use_edns=0, want_dnssec=wanting)
        response = dns.query.udp(query, server.address, PATIENCE_SECONDS, server.port)
        types = {rrset.rdtype for section in (response.answer, response.authority) for rrset in section}
        assert (dns.rdatatype.RRSIG in types) == wanting
        assert wanting or not types & {dns.rdatatype.NSEC, dns.rdatatype.DNAME}
