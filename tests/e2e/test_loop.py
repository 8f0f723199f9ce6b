"""A server that is told to forward to itself finds that out, says so, and goes on."""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path

import dns.rcode
import pytest

from tests.e2e.test_probes import page
from tests.e2e.wires import wait_until
from tests.support.process import PATIENCE_SECONDS, free_port, running

CLUSTER = Path(__file__).parent.parent / "conformance" / "cluster.yaml"
COREFILE = """
.:{port} {{
    bind 127.0.0.1
    loop
    kubernetes cluster.local {{
        manifests {manifests}
    }}
    forward . {resolv_conf}
}}
"""


def test_an_upstream_that_is_ourselves_is_switched_off(tmp_path: Path) -> None:
    port = free_port()
    text = COREFILE.format(port=port, manifests=CLUSTER, resolv_conf=f"127.0.0.1:{port}")
    (tmp_path / "Corefile").write_text(text)
    log = tmp_path / "log"
    with running(["serve", "--conf", str(tmp_path / "Corefile")], port, log, probe="nosuch.cluster.local.") as server:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while "sends our questions back to us" not in log.read_text():
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.02)
        line = next(line for line in log.read_text().splitlines() if "back to us" in line)
        assert f"upstream 127.0.0.1:{port} of {tmp_path}/Corefile:8" in line
        assert server.ask("www.example.com.").rcode() == dns.rcode.SERVFAIL
        assert server.ask("web.shop.svc.cluster.local.").rcode() == dns.rcode.NOERROR
        assert server.stop() == 0


CHAINED = """
.:{port} {{
    bind 127.0.0.1
    {loop}
    kubernetes cluster.local {{
        manifests {manifests}
    }}
    prometheus 127.0.0.1:{metrics}
    forward . 127.0.0.1:{other}
}}
"""
FEW = 10


@pytest.mark.parametrize("loop", ["loop", ""])
def test_two_servers_that_ask_each_other_stay_quiet_and_well(loop: str, tmp_path: Path) -> None:
    ports, pages = (free_port(), free_port()), (free_port(), free_port())
    with ExitStack() as stack:
        servers = []
        for port, other, page_port in zip(ports, reversed(ports), pages, strict=True):
            text = CHAINED.format(port=port, other=other, metrics=page_port, manifests=CLUSTER, loop=loop)
            file = tmp_path / f"Corefile{port}"
            file.write_text(text)
            arguments = ["-conf", str(file)]
            probe = "nosuch.cluster.local."
            servers.append(stack.enter_context(running(arguments, port, tmp_path / f"log{port}", probe=probe)))
        if loop:
            logs = [server.log for server in servers]
            wait_until(lambda: any("sends our questions back to us" in log.read_text() for log in logs))
        before = [asked(port) for port in pages]
        for server in servers:
            assert server.ask("www.example.com.").rcode() == dns.rcode.SERVFAIL
            assert server.ask("web.shop.svc.cluster.local.").rcode() == dns.rcode.NOERROR
        assert sum(asked(port) for port in pages) - sum(before) < FEW * len(servers)
        assert [server.stop() for server in servers] == [0, 0]


def asked(port: int) -> float:
    """How many queries a server has read."""
    lines = page(port, "metrics")[1].splitlines()
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith("coredns_dns_requests_total{"))
