"""A server that is told to forward to itself finds that out, says so, and goes on."""

from __future__ import annotations

import time
from pathlib import Path

import dns.rcode

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
