"""Every metric that the common CoreDNS dashboards and alerts ask for is on a real server's page, with their labels."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import dns.exception
import dns.message
import dns.query
import dns.rcode
from prometheus_client.parser import text_string_to_metric_families

from tests.e2e.test_corefiles import CLUSTER
from tests.e2e.test_probes import page
from tests.e2e.test_reload import until
from tests.support.process import Running, free_port, running

COREFILE = """
.:{port} {{
    bind 127.0.0.1
    errors
    log
    health 127.0.0.1:{pages} {{
        lameduck 10ms
    }}
    prometheus 127.0.0.1:{pages}
    kubernetes cluster.local in-addr.arpa {{
        manifests {cluster}
    }}
    hosts {folder}/hosts laptop.example
    local
    forward . 127.0.0.1:{outside}
    cache 30
    reload
    loop
}}
.:{outside} {{
    bind 127.0.0.1
    template IN A {{
        answer "{{{{ .Name }}}} 60 IN A 198.51.100.7"
    }}
}}
"""
WHERE = {"server", "zone", "view"}
KEPT = {"server", "zones", "view"}
ASKED = {
    "coredns_dns_requests_total": WHERE | {"proto", "family", "type"},
    "coredns_dns_responses_total": WHERE | {"rcode", "plugin"},
    "coredns_dns_do_requests_total": WHERE,
    "coredns_dns_request_duration_seconds_bucket": WHERE | {"le"},
    "coredns_dns_request_size_bytes_bucket": WHERE | {"proto", "le"},
    "coredns_dns_response_size_bytes_bucket": WHERE | {"proto", "le"},
    "coredns_cache_entries": KEPT | {"type"},
    "coredns_cache_hits_total": KEPT | {"type"},
    "coredns_cache_misses_total": KEPT,
    "coredns_cache_requests_total": KEPT,
    "coredns_cache_prefetch_total": KEPT,
    "coredns_cache_drops_total": KEPT,
    "coredns_cache_served_stale_total": KEPT,
    "coredns_cache_evictions_total": KEPT | {"type"},
    "coredns_forward_requests_total": {"to"},
    "coredns_forward_responses_total": {"to", "rcode"},
    "coredns_forward_request_duration_seconds_bucket": {"to", "rcode", "le"},
    "coredns_forward_healthcheck_failures_total": {"to"},
    "coredns_forward_healthcheck_broken_total": set(),
    "coredns_forward_max_concurrent_rejects_total": set(),
    "coredns_proxy_request_duration_seconds_bucket": {"proxy_name", "to", "rcode", "le"},
    "coredns_proxy_healthcheck_failures_total": {"proxy_name", "to"},
    "coredns_proxy_conn_cache_hits_total": {"proxy_name", "to", "proto"},
    "coredns_proxy_conn_cache_misses_total": {"proxy_name", "to", "proto"},
    "coredns_panics_total": set(),
    "coredns_plugin_enabled": WHERE | {"name"},
    "coredns_build_info": {"version", "revision", "goversion"},
    "coredns_health_request_duration_seconds_bucket": {"le"},
    "coredns_health_request_failures_total": set(),
    "coredns_hosts_entries": set(),
    "coredns_hosts_reload_timestamp_seconds": set(),
    "coredns_local_localhost_requests_total": set(),
    "coredns_reload_failed_total": set(),
    "coredns_reload_version_info": {"hash", "value"},
    "kubedns_log_lines_dropped_total": set(),
    "process_cpu_seconds_total": set(),
    "process_resident_memory_bytes": set(),
    "process_open_fds": set(),
    "process_start_time_seconds": set(),
    "python_asyncio_tasks": set(),
    "python_threads": set(),
}


def samples(port: int) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(page(port, "metrics")[1]):
        for sample in family.samples:
            found[sample.name] = set(sample.labels)
    return found


def test_dashboards_find_what_they_ask_for(tmp_path: Path) -> None:
    port, pages, outside = free_port(), free_port(), free_port()
    (tmp_path / "hosts").write_text("192.0.2.1 a.laptop.example\n")
    text = COREFILE.format(port=port, pages=pages, outside=outside, cluster=CLUSTER, folder=tmp_path)
    (tmp_path / "Corefile").write_text(text)
    with running(["-conf", str(tmp_path / "Corefile")], port, tmp_path / "log") as server:
        for name in ("web.shop.svc.cluster.local.", "www.outside.example.", "www.outside.example."):
            assert server.ask(name).answer
        until(lambda: value(pages, "coredns_health_request_duration_seconds_count") >= 2)
        found = samples(pages)
        assert {name: found.get(name) for name in ASKED} == ASKED
        assert value(pages, "coredns_health_request_failures_total") == 0
        assert value(pages, "coredns_cache_hits_total") >= 1


def value(port: int, name: str) -> float:
    families = text_string_to_metric_families(page(port, "metrics")[1])
    return sum(sample.value for family in families for sample in family.samples if sample.name == name)


def test_queries_are_logged_as_objects(tmp_path: Path) -> None:
    port = free_port()
    (tmp_path / "Corefile").write_text(f".:{port} {{\n    bind 127.0.0.1\n    log\n    any\n}}\n")
    flags = ["serve", "--conf", str(tmp_path / "Corefile"), "--log-format", "json"]
    with running(flags, port, tmp_path / "log") as server:
        server.ask("a.test.")
        until(lambda: '"a.test."' in server.log.read_text())
        lines = [json.loads(line) for line in server.log.read_text().splitlines() if line.startswith("{")]
    (line,) = [line for line in lines if line.get("name") == "a.test."]
    assert (line["level"], line["type"], line["rcode"], line["proto"]) == ("info", "A", "REFUSED", "udp")
    assert isinstance(line["duration"], float)


def test_answers_do_not_wait_for_who_reads_the_log(tmp_path: Path) -> None:
    port = free_port()
    (tmp_path / "Corefile").write_text(f".:{port} {{\n    bind 127.0.0.1\n    log\n    any\n}}\n")
    # The pipe that nobody reads holds some hundred lines.
    with subprocess.Popen(
        [sys.executable, "-m", "kubedns", "-conf", str(tmp_path / "Corefile")], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            server = Running(process, port, tmp_path / "log")
            until(lambda: answers(server))
            for _ in range(3000):
                assert server.ask("a.test.").rcode() == dns.rcode.REFUSED
        finally:
            process.kill()


def answers(server: Running) -> bool:
    query = dns.message.make_query("a.test.", "A")
    try:
        return bool(dns.query.udp(query, "127.0.0.1", 0.5, server.port).id)
    except (OSError, dns.exception.Timeout):
        return False
