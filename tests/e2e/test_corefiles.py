"""Corefiles as installers write them serve: real processes, with ports, paths and upstreams moved out of the way."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import dns.flags
import dns.message
import dns.query
import dns.rcode
import pytest

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
"""

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
    "09-helm-chart-rke2": [*KUBERNETES, *FORWARD],
    "11-kops-ipv6": [*KUBERNETES, *FORWARD, ("api.c1.k8s.example.", "A", "NOERROR", ["192.0.2.10"])],
    "13-talos": [*KUBERNETES, *FORWARD],
    "17-custom-ipv4only-template": [
        *KUBERNETES,
        *FORWARD,
        ("www.outside.example.", "AAAA", "NOERROR", []),
        ("web-12.lab.example.", "A", "NOERROR", ["192.0.2.12"]),
    ],
    "91-oneline-block-refused-by-coredns": [*KUBERNETES, *FORWARD],
}
NOT_YET = {
    "08-openshift": "chaos, and upstreams by TLS",
    "18-custom-zonefile-snippet": "file, and upstreams by TLS",
    "19-laptop-outside-cluster": "an API server",
}
"""Files with words that are not built."""


def moved(text: str, port: int, outside: int, folder: Path) -> str:
    """The Corefile with everything outside of the test's reach replaced."""
    text = re.sub(r"/etc/resolv\.conf|(?<=forward \. )[0-9.]+", f"127.0.0.1:{outside}", text)
    text = re.sub(r"lameduck \d+s", "lameduck 10ms", text)
    text = re.sub(r"(?<=hosts )/\S+", str(folder / "hosts"), text)
    text = re.sub(r"(?m)^(\s*kubernetes .*\{)$", rf"\1\n manifests {CLUSTER}", text)
    text = re.sub(r"(?m)^(\S+):53 \{$", rf"\1:{port} {{", text)
    text = re.sub(r"(?m)^\s+bind .*$", "", text)
    text = re.sub(r"(?m)^(\S.*:\d+ \{)$", r"\1\n bind 127.0.0.1", text)
    for word in ("health", "ready", "prometheus"):
        address = f"127.0.0.1:{free_port()}"
        text = re.sub(rf"(?m)^(\s+{word})(?: [^\s{{]+)?( \{{.*)?$", rf"\1 {address}\2", text)
    return text


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    folder, port = tmp_path_factory.mktemp("outside"), free_port()
    (folder / "Corefile").write_text(OUTSIDE.format(port=port))
    with running(["-conf", str(folder / "Corefile")], port, folder / "log"):
        yield port


def test_every_file_is_accounted_for() -> None:
    assert {file.stem for file in FOLDER.glob("*.Corefile")} == EXPECTED.keys() | NOT_YET.keys()


@pytest.mark.parametrize("file", EXPECTED)
def test_it_serves(file: str, outside: int, tmp_path: Path) -> None:
    port = free_port()
    (tmp_path / "hosts").write_text("192.0.2.10 node-1 api.c1.k8s.example\n")
    (tmp_path / "Corefile").write_text(moved((FOLDER / f"{file}.Corefile").read_text(), port, outside, tmp_path))
    with running(["-conf", str(tmp_path / "Corefile")], port, tmp_path / "log") as server:
        for name, rdtype, rcode, rdatas in EXPECTED[file]:
            assert found(server, name, rdtype) == (rcode, rdatas), f"{name} {rdtype}"
        assert server.stop() == 0


def found(server: Running, name: str, rdtype: str) -> tuple[str, list[str]]:
    response = server.ask(name, rdtype)
    return dns.rcode.to_text(response.rcode()), [str(rdata) for rrset in response.answer for rdata in rrset]
