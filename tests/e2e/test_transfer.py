"""Whole zones for clients that are not ours, from a real process."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import dns.message
import dns.query
import dns.rcode
import dns.rdatatype
import dns.zone
import pytest

from tests.support.knot import knot
from tests.support.process import PATIENCE_SECONDS, Running, free_port, running

CLUSTER = Path(__file__).parent.parent / "conformance" / "cluster.yaml"
ZONES = ("cluster.local", "in-addr.arpa", "ip6.arpa")
COREFILE = """
cluster.local:{port} in-addr.arpa:{port} ip6.arpa:{port} {{
    bind 127.0.0.1
    timeouts {{
        write 60s
    }}
    log
    errors
    acl cluster.local {{
        block type AXFR net 127.0.0.3
    }}
    transfer {{
        to 127.0.0.1 127.0.0.3
    }}
    kubernetes {{
        manifests {manifests}
        pods verified
    }}
}}
silent.test:{port} {{
    bind 127.0.0.1
    any
}}
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Running]:
    (tmp_path / "m").mkdir()
    shutil.copy(CLUSTER, tmp_path / "m" / "cluster.yaml")
    port = free_port()
    corefile = tmp_path / "Corefile"
    corefile.write_text(COREFILE.format(port=port, manifests=tmp_path / "m"))
    with running(["-conf", str(corefile)], port, tmp_path / "log") as running_server:
        yield running_server


def transfer(server: Running, zone: str, source: str = "127.0.0.1", serial: int = 0) -> Iterator[dns.message.Message]:
    """The messages of a transfer."""
    rdtype = dns.rdatatype.IXFR if serial else dns.rdatatype.AXFR
    messages: Iterator[dns.message.Message] = dns.query.xfr(
        server.address,
        zone,
        rdtype,
        port=server.port,
        timeout=PATIENCE_SECONDS,
        relativize=False,
        source=source,
        serial=serial,
    )
    return messages


def lines_of(messages: Iterator[dns.message.Message]) -> list[str]:
    return [f"{line}" for each in messages for rrset in each.answer for line in rrset.to_text().splitlines()]


def without_serial(lines: list[str]) -> list[str]:
    """SOAs have the serial of their process."""
    return sorted(re.sub(r"(IN SOA \S+ \S+) \d+", r"\1 N", line) for line in lines)


def listed(server: Running, zone: str) -> list[str]:
    corefile = server.log.parent / "Corefile"
    command = [sys.executable, "-m", "kubedns", "records", "--conf", str(corefile), "--only", zone]
    text = subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE_SECONDS).stdout
    return [line for line in text.splitlines() if line and line[0] not in ";$"]


def test_what_is_transferred_is_what_is_listed_and_answered(server: Running) -> None:
    for zone in ZONES:
        lines = lines_of(transfer(server, zone))
        assert lines[0] == lines[-1]
        found = dns.zone.from_text("\n".join(lines[:-1]), origin=zone, relativize=False, check_origin=False)
        expected = dns.zone.from_text("\n".join(listed(server, zone)), zone, relativize=False, check_origin=False)
        assert without_serial(lines[:-1]) == without_serial(dump(expected))
        names = sorted(found.nodes)[:: max(1, len(found.nodes) // 60)]
        for name in names:
            for rdataset in found.nodes[name]:
                (answer,) = server.ask(str(name), dns.rdatatype.to_text(rdataset.rdtype), tcp=True).answer
                assert (set(answer), answer.ttl) == (set(rdataset), rdataset.ttl)


def dump(zone: dns.zone.Zone) -> list[str]:
    return [
        line for name, node in zone.nodes.items() for rdataset in node for line in rdataset.to_text(name).splitlines()
    ]


REFUSED = [
    ("cluster.local", "127.0.0.2", "tcp"),  # not named
    ("cluster.local", "127.0.0.3", "tcp"),  # named, and blocked by acl
    ("svc.cluster.local", "127.0.0.1", "tcp"),  # no zone begins there
    ("silent.test", "127.0.0.1", "tcp"),  # no transfer in that server block
    ("elsewhere.test", "127.0.0.1", "tcp"),
    ("cluster.local", "127.0.0.1", "udp"),
]


def test_others_are_refused(server: Running) -> None:
    for zone, source, over in REFUSED:
        exchange = dns.query.tcp if over == "tcp" else dns.query.udp
        query = dns.message.make_query(zone, "AXFR", use_edns=True)
        reply = exchange(query, server.address, PATIENCE_SECONDS, port=server.port, source=source)
        assert (reply.rcode(), reply.answer) == (dns.rcode.REFUSED, [])
    assert lines_of(transfer(server, "cluster.local"))
    assert '"AXFR IN cluster.local. tcp' in server.log.read_text()


def test_who_has_the_serial_gets_the_soa(server: Running) -> None:
    (soa,) = server.ask("cluster.local", "SOA").answer
    assert lines_of(transfer(server, "cluster.local", serial=soa[0].serial)) == [soa.to_text()]
    whole = lines_of(transfer(server, "cluster.local", serial=soa[0].serial - 1))
    assert whole == lines_of(transfer(server, "cluster.local"))


@pytest.mark.parametrize("client", [("dig", "AXFR", "+noall", "+answer"), ("kdig", "AXFR")])
def test_other_programs_take_the_zone(server: Running, client: tuple[str, ...]) -> None:
    program, rdtype, *flags = client
    if shutil.which(program) is None:
        pytest.skip(f"there is no {program}")
    command = [program, f"@{server.address}", "-p", str(server.port), "cluster.local", rdtype, *flags]
    text = subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE_SECONDS).stdout
    got = [" ".join(line.split()) for line in text.splitlines() if line and line[0] != ";"]
    assert len(got) == len(lines_of(transfer(server, "cluster.local")))
    assert got[0] == got[-1]


MANY = """
apiVersion: v1
kind: Service
metadata: {{name: web-{number}, namespace: shop}}
spec: {{clusterIP: 10.97.{high}.{low}, ports: [{{name: http, port: 80}}]}}
---
"""


def test_a_zone_that_changes_while_it_is_taken_is_taken_as_it_was(server: Running) -> None:
    manifests = server.log.parent / "m"
    many = [MANY.format(number=number, high=number >> 8, low=number & 255) for number in range(20_000)]
    (manifests / "many.yaml").write_text("".join(many))
    until_answered(server, "web-19999.shop.svc.cluster.local.")
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(PATIENCE_SECONDS)
        client.connect((server.address, server.port))
        query = dns.message.make_query("cluster.local", "AXFR").to_wire()
        client.sendall(len(query).to_bytes(2) + query)
        first = message_from(client)
        (manifests / "many.yaml").write_text("".join(many[1:]).replace("10.97.", "10.98."))
        until_answered(server, "web-19999.shop.svc.cluster.local.", "10.98.78.31")
        lines = first
        while len(lines) < 2 or lines[-1] != lines[0]:
            lines += message_from(client)
    web = [line.split() for line in lines if re.match(r"web-\d+\.shop\.svc\S+ 5 IN A ", line)]
    assert len(web) == 20_000
    assert {line[-1].split(".")[1] for line in web} == {"97"}
    soa = server.ask("cluster.local", "SOA").answer[0]
    assert soa[0].serial > int(lines[0].split()[6])


def message_from(client: socket.socket) -> list[str]:
    length = int.from_bytes(exactly(client, 2))
    message = dns.message.from_wire(exactly(client, length), one_rr_per_rrset=True)
    return lines_of(iter([message]))


def exactly(client: socket.socket, count: int) -> bytes:
    octets = b""
    while len(octets) < count:
        more = client.recv(count - len(octets))
        assert more, "the transfer breaks off"
        octets += more
    return octets


def until_answered(server: Running, name: str, address: str = "") -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    query = dns.message.make_query(name, "A")
    while time.monotonic() < deadline:
        with suppress(dns.exception.Timeout):
            reply = dns.query.udp(query, server.address, 1, port=server.port)
            found = [rdata.to_text() for rrset in reply.answer for rdata in rrset]
            if found and address in ("", *found):
                return
        time.sleep(0.05)
    raise AssertionError(f"{name} never came")


SECONDARY = """
remote:
  - id: kubedns
    address: 127.0.0.1@{primary}
acl:
  - id: told
    address: 127.0.0.1
    action: [notify, transfer]
zone:
  - domain: cluster.local
    storage: {folder}
    master: kubedns
    acl: told
"""


def test_a_secondary_of_another_kind_follows_every_change(tmp_path: Path) -> None:
    port, peer = free_port(), free_port()
    (tmp_path / "m").mkdir()
    shutil.copy(CLUSTER, tmp_path / "m" / "cluster.yaml")
    corefile = tmp_path / "Corefile"
    text = COREFILE.format(port=port, manifests=tmp_path / "m")
    corefile.write_text(text.replace("to 127.0.0.1 127.0.0.3", f"to 127.0.0.1:{peer}"))
    rest = SECONDARY.format(primary=port, folder=tmp_path / "knot")
    with (
        running(["-conf", str(corefile)], port, tmp_path / "log") as server,
        knot(tmp_path / "knot", rest, peer),
    ):
        other = Running(server.process, peer, server.log)
        until_answered(other, "web.shop.svc.cluster.local.")
        assert without_serial(lines_of(transfer(other, "cluster.local"))) == without_serial(
            lines_of(transfer(server, "cluster.local"))
        )
        for low in (1, 2):
            (tmp_path / "m" / "new.yaml").write_text(MANY.format(number=low, high=0, low=low))
            until_answered(other, f"web-{low}.shop.svc.cluster.local.", f"10.97.0.{low}")


STATIC = """
{zone}:{port} {{
    bind 127.0.0.1
    transfer {{
        to 127.0.0.1
    }}
    file {folder}/a.test.zone a.test
    auto b.test {{
        directory {folder} db\\.(.*) {{1}}
    }}
}}
cluster.local:{port} corp.example:{port} {{
    bind 127.0.0.1
    transfer {{
        to *
    }}
    k8s_external corp.example
    kubernetes cluster.local {{
        manifests {manifests}
        mesh kube-system/proxies
    }}
}}
"""
MASTER_FILE = """
@ 60 IN SOA ns host 1 2 3 4 5
@ 60 IN NS ns
@ 60 IN NS ns2.b.test.
ns 60 IN A 192.0.2.1
*.w 60 IN TXT "x"
"""


def test_zones_of_files_and_of_endpoints_are_given(tmp_path: Path) -> None:
    port = free_port()
    (tmp_path / "a.test.zone").write_text(MASTER_FILE)
    (tmp_path / "db.b.test").write_text(MASTER_FILE)
    (tmp_path / "Corefile").write_text(STATIC.format(zone="test", port=port, folder=tmp_path, manifests=CLUSTER))
    with running(["-conf", str(tmp_path / "Corefile")], port, tmp_path / "log") as server:
        for zone in ("a.test", "b.test"):
            expected = dump(dns.zone.from_text(MASTER_FILE, zone, relativize=False))
            assert sorted(set(lines_of(transfer(server, zone)))) == sorted(expected)
        lines = lines_of(transfer(server, "web.shop.endpoints.cluster.local"))
        (answer,) = server.ask("_http._tcp.web.shop.endpoints.cluster.local", "SRV", tcp=True).answer
        assert set(answer.to_text().splitlines()) <= set(lines)
        assert lines[0] == lines[-1]
        lines = lines_of(transfer(server, "corp.example"))
        assert lines[0] == lines[-1]
        assert lines[1] == "corp.example. 5 IN NS ns1.dns.corp.example."
