"""What a kubelet sees: /health and /ready from the start to the end, while queries are answered."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import dns.rcode
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.support.process import PATIENCE_SECONDS, Running, free_port, running

CLUSTER = Path(__file__).parent.parent / "conformance" / "cluster.yaml"
COREFILE = """
cluster.local:{port} {{
    bind 127.0.0.1
    health 127.0.0.1:{health} {{
        lameduck {lameduck}
    }}
    ready 127.0.0.1:{ready}
    prometheus 127.0.0.1:{health}
    kubernetes {{
        manifests {manifests}
    }}
}}
second.test:{port} {{
    bind 127.0.0.1
    ready 127.0.0.1:{ready}
    any
}}
"""


def page(port: int, path: str) -> tuple[int, str]:
    """Status and text of a page; status 0: nobody takes the connection."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}", timeout=PATIENCE_SECONDS) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError:
        return 0, ""


def answers(server: Running) -> bool:
    return server.ask("web.shop.svc.cluster.local.").rcode() == dns.rcode.NOERROR


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_probes_from_start_to_end(stop: signal.Signals, tmp_path: Path) -> None:
    port, health, ready = free_port(), free_port(), free_port()
    text = COREFILE.format(port=port, health=health, ready=ready, lameduck="10m", manifests=CLUSTER)
    (tmp_path / "Corefile").write_text(text)
    with running(["-conf", str(tmp_path / "Corefile")], port, tmp_path / "log") as server:
        assert page(health, "health") == (200, "OK")
        assert page(ready, "ready") == (200, "OK")
        assert page(health, "nosuch")[0] == 404
        server.process.send_signal(stop)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while page(ready, "ready") != (503, "stopping"):
            assert time.monotonic() < deadline
        assert answers(server)
        assert page(health, "health") == (200, "OK")
        server.process.send_signal(stop)
        assert server.process.wait(PATIENCE_SECONDS) == 0
        assert page(health, "health")[0] == 0


def samples(text: str) -> dict[tuple[str, ...], float]:
    """Values by name and labels, of what is ours."""
    return {
        (sample.name, *(f"{key}={value}" for key, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if family.name.startswith(("coredns", "kubedns"))
    }


def test_every_query_is_counted_for_prometheus(tmp_path: Path) -> None:
    port, health, ready = free_port(), free_port(), free_port()
    text = COREFILE.format(port=port, health=health, ready=ready, lameduck="0s", manifests=CLUSTER)
    (tmp_path / "Corefile").write_text(text)
    with running(["-conf", str(tmp_path / "Corefile")], port, tmp_path / "log") as server:
        for _ in range(5):
            assert answers(server)
        server.ask("nosuch.shop.svc.cluster.local.", tcp=True)
        found = samples(page(health, "metrics")[1])
        where = (f"server=dns://127.0.0.1:{port}", "view=", "zone=cluster.local.")
        requests = ("coredns_dns_requests_total", "family=1")
        assert found[*requests, "proto=udp", where[0], "type=A", *where[1:]] == 5
        assert found[*requests, "proto=tcp", where[0], "type=A", *where[1:]] == 1
        responses = ("coredns_dns_responses_total", "plugin=kubernetes")
        assert found[*responses, "rcode=NOERROR", *where] == 5
        assert found[*responses, "rcode=NXDOMAIN", *where] == 1
        assert found["coredns_dns_request_duration_seconds_count", *where] == 6
        assert found["coredns_dns_request_duration_seconds_bucket", "le=8.192", *where] == 6
        assert found["coredns_dns_request_size_bytes_count", "proto=udp", *where] == 5
        assert found["coredns_dns_response_size_bytes_bucket", "le=8291", "proto=tcp", *where] == 1
        assert found["coredns_plugin_enabled", "name=kubernetes", *where] == 1
        assert found["coredns_panics_total",] == 0
        assert found["kubedns_answers_kept",] >= 2


def test_a_taken_port_is_one_line(tmp_path: Path) -> None:
    health = free_port()
    corefiles = []
    for port in (free_port(), free_port()):
        text = COREFILE.format(port=port, health=health, ready=health, lameduck="0s", manifests=CLUSTER)
        corefiles.append((port, tmp_path / f"Corefile-{port}"))
        corefiles[-1][1].write_text(text)
    (first_port, first), (_, second) = corefiles
    with running(["-conf", str(first)], first_port, tmp_path / "log"):
        arguments = [sys.executable, "-m", "kubedns", "-conf", str(second)]
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
    assert done.returncode == 1
    (line,) = [line for line in done.stderr.splitlines() if "cannot" in line]
    assert line.startswith(f"kubedns: cannot listen on 127.0.0.1:{health} (HTTP): ")
