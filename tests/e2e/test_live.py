"""A real process beside a stand-in API server: its own Corefile, fresh answers, and the server going away and back."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import dns.edns
import dns.message
import dns.query

from tests.e2e.test_corefiles import FOLDER
from tests.e2e.test_probes import page
from tests.e2e.test_reload import until
from tests.support.api_server import FakeApiServer, endpoint_slice, service
from tests.support.process import Running, free_port, running

COREFILE = """
.:{port} {{
    bind 127.0.0.1
    errors
    ready 127.0.0.1:{pages}
    prometheus 127.0.0.1:{pages}
    kubernetes cluster.local in-addr.arpa {{
        {how}
        pods verified
        startup_timeout 1ms
    }}
}}
"""
WEB = "web.shop.svc.cluster.local."
KUBECONFIG = {
    "apiVersion": "v1",
    "kind": "Config",
    "current-context": "here",
    "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
    "users": [{"name": "me", "user": {"token": "secret"}}],
}


class Api:
    """The stand-in, on a thread of its own."""

    def __init__(self) -> None:
        self.server = FakeApiServer()
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()

    def call(self, act: Callable[[], None]) -> None:
        async def called() -> None:
            act()

        asyncio.run_coroutine_threadsafe(called(), self.loop).result(60)

    @contextmanager
    def open(self, port: int = 0) -> Iterator[None]:
        opening = self.server.open(port)
        asyncio.run_coroutine_threadsafe(opening.__aenter__(), self.loop).result(60)
        try:
            yield
        finally:
            asyncio.run_coroutine_threadsafe(opening.__aexit__(None, None, None), self.loop).result(60)

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


def addresses(server: Running, name: str) -> list[str]:
    response = server.ask(name)
    return [str(response.rcode())] if response.rcode() else [str(each) for rrset in response.answer for each in rrset]


def test_answers_follow_the_api_server_and_outlive_it(tmp_path: Path) -> None:
    api, port, pages = Api(), free_port(), free_port()
    api.server.token = "secret"
    api.call(lambda: api.server.put(service("web", "10.96.0.1")))
    with api.open():
        place = api.server.port
        cluster = {"name": "here", "cluster": {"server": api.server.url}}
        (tmp_path / "config").write_text(json.dumps({**KUBECONFIG, "clusters": [cluster]}))
        text = COREFILE.format(port=port, pages=pages, how="kubeconfig config here")
        (tmp_path / "Corefile").write_text(text)
        with running(["-conf", str(tmp_path / "Corefile")], port, tmp_path / "log") as server:
            until(lambda: page(pages, "ready")[0] == 200)
            assert addresses(server, WEB) == ["10.96.0.1"]
            api.call(lambda: api.server.put(service("web", "10.96.0.2")))
            until(lambda: addresses(server, WEB) == ["10.96.0.2"])
            assert addresses(server, "none.shop.svc.cluster.local.") == ["3"]
            api.call(lambda: api.server.put(service("none", "None")))
            api.call(lambda: api.server.put(endpoint_slice("none-1", "none", "10.0.0.7")))
            until(lambda: addresses(server, "none.shop.svc.cluster.local.") == ["10.0.0.7"])
            asyncio.run_coroutine_threadsafe(api.server.stop(), api.loop).result(60)
            until(lambda: "what is known stays in force" in server.log.read_text())
            assert addresses(server, WEB) == ["10.96.0.2"]
            api.call(lambda: api.server.put(service("web", "10.96.0.3")))
            with api.open(place):
                until(lambda: addresses(server, WEB) == ["10.96.0.3"])
                metrics = page(pages, "metrics")[1]
                assert "coredns_kubernetes_rest_client_requests_total" in metrics
                assert server.stop() == 0
            assert "Traceback" not in server.log.read_text()
    api.close()


def test_a_laptop_s_corefile_serves_what_its_kubeconfig_names(tmp_path: Path) -> None:
    api, port = Api(), free_port()
    api.call(lambda: api.server.put(service("web", "10.96.10.1")))
    api.call(lambda: api.server.put(service("hidden", "10.96.10.2", namespace="other")))
    with api.open():
        users = [{"name": "me", "user": {}}]
        contexts = [{"name": "dev", "context": {"cluster": "here", "user": "me"}}]
        clusters = [{"name": "here", "cluster": {"server": api.server.url}}]
        config = {**KUBECONFIG, "current-context": "", "users": users, "contexts": contexts, "clusters": clusters}
        (tmp_path / ".kube").mkdir()
        (tmp_path / ".kube" / "config").write_text(json.dumps(config))
        text = (FOLDER / "19-laptop-outside-cluster.Corefile").read_text().replace(":5300", f":{port}")
        (tmp_path / "Corefile").write_text(text)
        home = {"HOME": str(tmp_path)}
        with running(["-conf", str(tmp_path / "Corefile")], port, tmp_path / "log", home, probe=WEB) as server:
            until(lambda: addresses(server, WEB) == ["10.96.10.1"])
            assert addresses(server, "hidden.other.svc.cluster.local.") == ["3"]
            response = server.ask("1.10.96.10.in-addr.arpa.", "PTR")
            assert [str(each) for rrset in response.answer for each in rrset] == [WEB]
            assert server.stop() == 0
    api.close()


def test_flags_are_enough_for_a_live_cluster(tmp_path: Path) -> None:
    api, port = Api(), free_port()
    api.call(lambda: api.server.put(service("web", "10.96.10.1")))
    with api.open():
        cluster = {"name": "here", "cluster": {"server": api.server.url}}
        config = tmp_path / "config"
        config.write_text(json.dumps({**KUBECONFIG, "clusters": [cluster]}))
        flags = ["--kubeconfig", str(config), "--context", "here"]
        with running(["serve", *flags, "--port", str(port)], port, tmp_path / "log", probe=WEB) as server:
            until(lambda: addresses(server, WEB) == ["10.96.10.1"])
            assert server.stop() == 0
        (tmp_path / "kube-dns").mkdir()
        flags = [*flags, "--kube-dns-config", str(tmp_path / "kube-dns")]
        port = free_port()
        with running(["serve", *flags, "--port", str(port)], port, tmp_path / "log", probe=WEB) as server:
            until(lambda: addresses(server, WEB) == ["10.96.10.1"])
            assert server.stop() == 0
        flags = flags[:-2]
        for command, shown in (("records", f"{WEB} 5 IN A 10.96.10.1"), ("explain", "resourceVersion 101")):
            words = [command, *(["web", "-n", "shop"] if command == "explain" else []), *flags]
            done = subprocess.run(
                [sys.executable, "-m", "kubedns", *words], capture_output=True, text=True, timeout=60, check=False
            )
            assert shown in " ".join(done.stdout.split()), done.stdout + done.stderr
            assert done.returncode == 0
            assert not done.stderr
    api.close()


def test_without_an_api_server_nothing_is_denied_and_nothing_is_ready(tmp_path: Path) -> None:
    port, pages = free_port(), free_port()
    how = f"endpoint http://127.0.0.1:{free_port()}"
    (tmp_path / "Corefile").write_text(COREFILE.format(port=port, pages=pages, how=how))
    with running(["-conf", str(tmp_path / "Corefile")], port, tmp_path / "log") as server:
        assert addresses(server, WEB) == ["2"]
        assert page(pages, "ready")[0] == 503
        assert server.stop() == 0


def test_after_a_kill_answers_come_from_the_snapshot_though_the_api_server_is_away(tmp_path: Path) -> None:
    api, port, pages = Api(), free_port(), free_port()
    api.call(lambda: api.server.put(service("web", "10.96.0.1")))
    with api.open():
        place = api.server.port
        how = f"endpoint {api.server.url}\n        snapshot kept 10m"
        (tmp_path / "Corefile").write_text(COREFILE.format(port=port, pages=pages, how=how))
        command = ["-conf", str(tmp_path / "Corefile")]
        with running(command, port, tmp_path / "log") as server:
            until((tmp_path / "kept").exists)
            server.process.kill()
            server.process.wait(60)
    with running(command, port, tmp_path / "log") as server:
        assert addresses(server, WEB) == ["10.96.0.1"]
        assert addresses(server, "none.shop.svc.cluster.local.") == ["3"]
        (stale,) = [each for each in asked(server, WEB).options if isinstance(each, dns.edns.EDEOption)]
        assert stale.code == dns.edns.EDECode.STALE_ANSWER
        assert page(pages, "ready")[0] == 200
        assert stale_by_metrics(pages) == 1
        api.call(lambda: api.server.put(service("web", "10.96.0.2")))
        with api.open(place):
            until(lambda: addresses(server, WEB) == ["10.96.0.2"])
            until(lambda: stale_by_metrics(pages) == 0)
            assert not asked(server, WEB).options
            assert server.stop() == 0
        kept = (tmp_path / "kept").read_text()
        assert f'"{base64.b64encode(bytes((10, 96, 0, 2))).decode()}"' in kept
        assert "Traceback" not in server.log.read_text()
    api.close()


def asked(server: Running, name: str) -> dns.message.Message:
    query = dns.message.make_query(name, "A", use_edns=0)
    return dns.query.udp(query, server.address, timeout=60, port=server.port)


def stale_by_metrics(pages: int) -> float:
    found = re.search(r"^kubedns_snapshot_stale{.*} (\S+)$", page(pages, "metrics")[1], re.MULTILINE)
    assert found
    return float(found[1])
