"""Faults of deploying that users of other servers had: broken configurations, busy servers, other domains."""

from __future__ import annotations

import asyncio
import signal
import threading
from pathlib import Path

import dns.rcode
import pytest

from kubedns.cli.main import main
from kubedns.observe.http import PageServer
from kubedns.observe.pages import HttpAddress, Page, Reply
from tests.e2e.test_probes import page
from tests.e2e.test_reload import BLOCK, Site, addresses, until
from tests.support.process import free_port, running

BAD_ZONE = "$ORIGIN broken.test.\n@ 60 IN SOA ns hostmaster 1 2 3 4 5\n@ 60 IN NS ns\nns 60 IN A 192.0.2.999\n"
BROKEN = {
    "an unknown word": (BLOCK + "\nother.test:{port} {{\n    nosuchthing\n}}\n", "Corefile:11: unknown plugin `nosuch"),
    "a brace that is not closed": (BLOCK.rstrip().removesuffix("}}"), "Corefile:2: "),
    "an empty file": ("", "Corefile"),
    "an upstream that is a name": (
        BLOCK.replace("reload", "forward . dns.corp.example\n    reload"),
        "Corefile:4: forward: `dns.corp.example` is no address",
    ),
    "a zone file with a bad record": (
        BLOCK + "\nbroken.test:{port} {{\n    bind 127.0.0.1\n    file broken.zone\n}}\n",
        "broken.zone:4: ",
    ),
}


def test_a_broken_configuration_changes_nothing_and_the_next_good_one_is_taken(tmp_path: Path) -> None:
    site = Site(tmp_path)
    (tmp_path / "broken.zone").write_text(BAD_ZONE)
    with site.served() as server:
        for number, (name, (text, place)) in enumerate(BROKEN.items(), 1):
            failed, told = site.metric("coredns_reload_failed_total"), len(server.log.read_text())
            site.corefile.write_text(text.format(port=site.port, health=site.health))
            server.process.send_signal(signal.SIGHUP)
            until(lambda failed=failed: site.metric("coredns_reload_failed_total") > failed)  # type: ignore[misc]
            until(lambda told=told, place=place: place in server.log.read_text()[told:])  # type: ignore[misc]
            assert addresses(server) == [f"10.0.0.{number - 1}"], name
            assert page(site.health, "health") == (200, "OK"), name
            site.rule(number)
            site.corefile.write_text(BLOCK.format(port=site.port, health=site.health))
            server.process.send_signal(signal.SIGHUP)
            until(lambda number=number: addresses(server) == [f"10.0.0.{number}"])  # type: ignore[misc]


CLUSTER = """
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {clusterIP: 10.96.0.20, ports: [{name: http, port: 80}]}
"""


def test_a_cluster_may_have_a_domain_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "cluster.yaml").write_text(CLUSTER)
    port = free_port()
    corefile = tmp_path / "Corefile"
    zones = f"k8s.example:{port} in-addr.arpa:{port}"
    corefile.write_text(f"{zones} {{\n bind 127.0.0.1\n kubernetes {{\n  manifests cluster.yaml\n }}\n}}\n")
    with running(["-conf", str(corefile)], port, tmp_path / "log", probe="web.shop.svc.k8s.example.") as server:
        names = {
            ("web.shop.svc.k8s.example.", "A"): "10.96.0.20",
            ("_http._tcp.web.shop.svc.k8s.example.", "SRV"): "0 100 80 web.shop.svc.k8s.example.",
            ("20.0.96.10.in-addr.arpa.", "PTR"): "web.shop.svc.k8s.example.",
            ("k8s.example.", "NS"): "ns.dns.k8s.example.",
        }
        for question, expected in names.items():
            assert [str(each) for rrset in server.ask(*question).answer for each in rrset] == [expected]
        for section in (server.ask(*question).to_text() for question in names):
            assert "cluster.local" not in section
        assert server.ask("web.shop.svc.cluster.local.").rcode() == dns.rcode.REFUSED
    assert main(["explain", "web.shop", "--conf", str(corefile)]) == 0
    assert main(["records", "--conf", str(corefile)]) == 0
    said = capsys.readouterr().out
    assert "web.shop.svc.k8s.example. 5 IN A 10.96.0.20" in said
    assert "cluster.local" not in said


def test_the_health_page_is_given_while_the_server_is_stuck() -> None:
    """It has a thread of its own; the loop that answers queries is held up here until the page has come."""
    port = free_port()
    found: list[tuple[int, str]] = []

    async def run() -> None:
        server = PageServer()
        await server.show([Page(HttpAddress("127.0.0.1", port), "/health", lambda: Reply(200, "OK"))])
        asking = threading.Thread(target=lambda: found.append(page(port, "health")))
        asking.start()
        asking.join(60)
        await server.stop()

    asyncio.run(run())
    assert found == [(200, "OK")]
