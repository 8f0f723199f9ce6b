"""The program as a server, in a process of its own."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import dns.rcode
import pytest

from kubedns import __version__
from tests.support.process import free_port, running

DEMO = Path(__file__).parent.parent.parent / "zones" / "demo"


def test_manifests_are_served_and_what_to_try_is_said(tmp_path: Path) -> None:
    port = free_port()
    log = tmp_path / "log"
    with running(["serve", "--manifests", str(DEMO), "--port", str(port), "--ttl", "7"], port, log) as server:
        answer = server.ask("hostnames.default.svc.cluster.local").answer
        assert [(rrset.ttl, len(rrset)) for rrset in answer] == [(7, 3)]
        assert server.stop() == 0
    said = log.read_text()
    assert f"kubedns {__version__} answers on 127.0.0.1:{port} (UDP), 127.0.0.1:{port} (TCP)\n" in said
    assert f"  dig @127.0.0.1 -p {port} hostnames.default.svc.cluster.local\n" in said
    assert f"  kubedns explain hostnames --manifests {DEMO} --ttl 7\n" in said


def test_networks_of_made_up_addresses_are_as_told(tmp_path: Path) -> None:
    port = free_port()
    networks = ["--service-cidr", "127.9.0.0/16", "--pod-cidr", "127.8.0.0/16"]
    arguments = [
        "serve",
        "--manifests",
        str(DEMO),
        "--listen",
        "::1",
        "--listen",
        "127.0.0.1",
        "--port",
        str(port),
        "-q",
    ]
    with running([*arguments, *networks], port, tmp_path / "log") as server:
        found = {
            rdata.to_text().rpartition(".")[0].rpartition(".")[0]
            for name in ("web.shop", "hostnames.default")
            for rrset in server.ask(f"{name}.svc.cluster.local").answer
            for rdata in rrset
        }
    assert found == {"127.9", "127.8"}
    assert (tmp_path / "log").read_text() == ""


def corefile(folder: Path) -> Path:
    path = folder / "Corefile"
    path.write_text(f"cluster.local {{\n  bind 127.0.0.1\n  kubernetes {{\n    manifests {DEMO}\n  }}\n}}\n")
    return path


@pytest.mark.parametrize(
    "spelling", ["-conf {conf} -dns.port {port}", "--conf={conf} -p={port}", "-conf={conf} -p {port} -quiet=false"]
)
def test_corednss_flags_serve_a_corefile(spelling: str, tmp_path: Path) -> None:
    port = free_port()
    conf = corefile(tmp_path)
    pidfile = tmp_path / "pid"
    arguments = spelling.format(conf=conf, port=port).split()
    with running([*arguments, "-pidfile", str(pidfile)], port, tmp_path / "log") as server:
        assert server.ask("web.shop.svc.cluster.local").rcode() == dns.rcode.NOERROR
        assert pidfile.read_text() == f"{server.process.pid}\n"
        assert server.stop() == 0
    assert not pidfile.exists()
    assert f"cluster.local.:{port}\nkubedns-{__version__}\n" in (tmp_path / "log").read_text()


def test_quiet_says_nothing_at_the_start(tmp_path: Path) -> None:
    port = free_port()
    arguments = ["-conf", str(corefile(tmp_path)), f"-dns.port={port}", "-quiet"]
    with running(arguments, port, tmp_path / "log"):
        assert (tmp_path / "log").read_text() == ""


def test_a_taken_port_is_one_line(tmp_path: Path) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        command = [sys.executable, "-m", "kubedns", "serve", "--manifests", str(DEMO), "--port", str(port)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(f"kubedns: cannot listen on 127.0.0.1:{port} (UDP): the port is taken; ")
    assert done.stderr.count("\n") == 1
