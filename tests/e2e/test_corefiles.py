"""Corefiles as installers write them serve: real processes, with ports, paths and upstreams moved out of the way."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import dns.flags
import dns.message
import dns.query
import dns.rcode
import pytest

from kubedns.cli.main import main
from tests.support.certificates import write_certificate
from tests.support.process import Running, free_port, running

TESTS = Path(__file__).parent.parent
FOLDER = TESTS / "corefile" / "corefiles"
CLUSTER = TESTS / "conformance" / "cluster.yaml"
OUTSIDE = """
.:{port} {{
    bind 127.0.0.1
    template IN A {{
        answer "{{{{ .Name }}}} 60 IN A 198.51.100.7"
    }}
    any
}}
tls://.:{tls} {{
    bind 127.0.0.1
    tls cert.pem key.pem
    template IN A {{
        answer "{{{{ .Name }}}} 60 IN A 198.51.100.8"
    }}
}}
"""
ZONES = {
    "db.corp.example": "$TTL 60\n@ SOA ns host 1 2 3 4 5\nwww A 192.0.2.44\n",
    "db.10.20": "$TTL 60\n@ SOA ns host 1 2 3 4 5\n5.0 PTR www.corp.example.\n",
}

KUBERNETES = [
    ("web.shop.svc.cluster.local.", "A", "NOERROR", ["10.96.10.1"]),
    ("nosuch.shop.svc.cluster.local.", "A", "NXDOMAIN", []),
    ("1.10.96.10.in-addr.arpa.", "PTR", "NOERROR", ["web.shop.svc.cluster.local."]),
]
FORWARD = [("www.outside.example.", "A", "NOERROR", ["198.51.100.7"])]
EXPECTED = {
    "01-kubeadm-current": [*KUBERNETES, *FORWARD],
    "02-kubeadm-older-kind": [*KUBERNETES, *FORWARD],
    "03-minikube": [*KUBERNETES, *FORWARD, ("host.laptop.example.", "A", "NOERROR", ["192.0.2.1"])],
    "04-k3s": [*KUBERNETES, *FORWARD, ("node-1.", "A", "NOERROR", ["192.0.2.10"])],
    "05-eks": [*KUBERNETES, *FORWARD],
    "06-aks": [
        *KUBERNETES,
        *FORWARD,
        ("a.b.c.d.cloudapp.example.", "A", "NXDOMAIN", []),
        ("a.cloudapp.example.", "A", "NOERROR", ["198.51.100.7"]),
        ("x.reddog.example.", "A", "NXDOMAIN", []),
    ],
    "07-nodelocaldns": [*FORWARD, ("web.shop.svc.cluster.local.", "A", "NOERROR", ["198.51.100.7"])],
    "08-openshift": [
        *KUBERNETES,
        *FORWARD,
        ("www.corp.example.", "A", "NOERROR", ["198.51.100.7"]),
        ("www.lab.example.", "A", "NOERROR", ["198.51.100.8"]),
        ("hostname.bind.", "A", "REFUSED", []),
    ],
    "09-helm-chart-rke2": [*KUBERNETES, *FORWARD],
    "11-kops-ipv6": [*KUBERNETES, *FORWARD, ("api.c1.k8s.example.", "A", "NOERROR", ["192.0.2.10"])],
    "13-talos": [*KUBERNETES, *FORWARD],
    "17-custom-ipv4only-template": [
        *KUBERNETES,
        *FORWARD,
        ("www.outside.example.", "AAAA", "NOERROR", []),
        ("web-12.lab.example.", "A", "NOERROR", ["192.0.2.12"]),
    ],
    "18-custom-zonefile-snippet": [
        *KUBERNETES,
        ("www.outside.example.", "A", "NOERROR", ["198.51.100.8"]),
        ("www.corp.example.", "A", "NOERROR", ["192.0.2.44"]),
        ("nothing.corp.example.", "A", "NXDOMAIN", []),
        ("5.0.20.10.in-addr.arpa.", "PTR", "NOERROR", ["www.corp.example."]),
    ],
    "91-oneline-block-refused-by-coredns": [*KUBERNETES, *FORWARD],
}
ELSEWHERE = {"19-laptop-outside-cluster"}
"""Files that are served beside an API server, in tests of that."""


def moved(text: str, port: int, outside: Outside, folder: Path) -> str:
    """The Corefile with everything outside of the test's reach replaced."""
    text = re.sub(r"(?<=tls://)[0-9.]+", f"127.0.0.1:{outside.tls}", text)
    plain = r"/etc/resolv\.conf|(?<= )192\.0\.2\.(5[34]|8|44)(:\d+)?|(?<=forward \. )[0-9.]+"
    text = re.sub(plain, f"127.0.0.1:{outside.plain}", text)
    text = text.replace("/etc/coredns", str(folder))
    text = re.sub(r"lameduck \d+s", "lameduck 10ms", text)
    text = re.sub(r"(?<=hosts )/\S+", str(folder / "hosts"), text)
    text = re.sub(r"(?m)^(\s*kubernetes .*\{)$", rf"\1\n manifests {CLUSTER}", text)
    text = re.sub(r"(?m)^\s+bind .*$", "", text)
    text = re.sub(r"(?m)^([^\s(}].*) \{$", lambda found: f"{labels(found[1], port)} {{\n bind 127.0.0.1", text)
    for word in ("health", "ready", "prometheus"):
        address = f"127.0.0.1:{free_port()}"
        text = re.sub(rf"(?m)^(\s+{word})(?: [^\s{{]+)?( \{{.*)?$", rf"\1 {address}\2", text)
    return text


def labels(text: str, port: int) -> str:
    return " ".join(f"{re.sub(r':[0-9]+$', '', label)}:{port}" for label in text.split())


@dataclass(frozen=True, slots=True)
class Outside:
    """Ports of upstreams, and the file with the authority of the one that speaks TLS."""

    plain: int
    tls: int
    authority: Path


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outside]:
    folder = tmp_path_factory.mktemp("outside")
    found = Outside(free_port(), free_port(), folder / "ca.pem")
    (folder / "Corefile").write_text(OUTSIDE.format(port=found.plain, tls=found.tls))
    write_certificate(folder, "dns.lab.example", "dns.resolver.example")
    with running(["-conf", str(folder / "Corefile")], found.plain, folder / "log"):
        yield found


def test_every_file_is_accounted_for() -> None:
    assert {file.stem for file in FOLDER.glob("*.Corefile")} == EXPECTED.keys() | ELSEWHERE


@pytest.mark.parametrize("file", EXPECTED)
def test_it_serves(file: str, outside: Outside, tmp_path: Path) -> None:
    port = free_port()
    (tmp_path / "hosts").write_text("192.0.2.10 node-1 api.c1.k8s.example\n")
    (tmp_path / "Corefile").write_text(moved((FOLDER / f"{file}.Corefile").read_text(), port, outside, tmp_path))
    for name, zone in ZONES.items():
        (tmp_path / name).write_text(zone)
    trusting = {"SSL_CERT_FILE": str(outside.authority)}
    with running(["-conf", str(tmp_path / "Corefile")], port, tmp_path / "log", trusting) as server:
        for name, rdtype, rcode, rdatas in EXPECTED[file]:
            assert found(server, name, rdtype) == (rcode, rdatas), f"{name} {rdtype}"
        assert server.stop() == 0


CONFIG_MAP = [
    *KUBERNETES,
    *FORWARD,
    ("www.corp.example.", "A", "NOERROR", ["198.51.100.7"]),
    ("www.consul.example.", "A", "NOERROR", ["198.51.100.7"]),
    ("web.shop.myfed.svc.cluster.local.", "A", "NOERROR", ["10.96.10.1"]),
    ("WEB.Shop.MyFed.svc.cluster.local.", "A", "NOERROR", ["10.96.10.1"]),
    ("nosuch.shop.myfed.svc.cluster.local.", "A", "NXDOMAIN", []),
    ("web.shop.other.svc.cluster.local.", "A", "NXDOMAIN", []),
]


def test_a_converted_config_map_serves(outside: Outside, tmp_path: Path) -> None:
    text = (FOLDER / "kube-dns.configmap.yaml").read_text()
    (tmp_path / "map.yaml").write_text(f'{text}  federations: |\n    {{"myfed": "fed.example.com"}}\n')
    assert main(["convert", str(tmp_path / "map.yaml"), "--output", str(tmp_path / "Corefile")]) == 0
    port = free_port()
    (tmp_path / "Corefile").write_text(moved((tmp_path / "Corefile").read_text(), port, outside, tmp_path))
    with running(["-conf", str(tmp_path / "Corefile")], port, tmp_path / "log", probe=KUBERNETES[0][0]) as server:
        for name, rdtype, rcode, rdatas in CONFIG_MAP:
            assert found(server, name, rdtype) == (rcode, rdatas), f"{name} {rdtype}"
            assert all(rrset.name.to_text() == name for rrset in server.ask(name, rdtype).answer)
        assert server.stop() == 0


def found(server: Running, name: str, rdtype: str) -> tuple[str, list[str]]:
    response = server.ask(name, rdtype)
    return dns.rcode.to_text(response.rcode()), [str(rdata) for rrset in response.answer for rdata in rrset]
