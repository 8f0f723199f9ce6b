"""The same on the stand-in and on a real kube-apiserver with its etcd: changes, crashes, compaction, a cold start."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

import pytest

from tests.e2e.test_live import KUBECONFIG, Api, addresses, stale_by_metrics
from tests.e2e.test_probes import page
from tests.e2e.test_reload import until
from tests.support.api_server import Body, endpoint_slice, service
from tests.support.process import Running, free_port, running
from tests.support.real_api import WHY_SKIPPED, RealApiServer, is_installed

COREFILE = """
cluster.local:{port} in-addr.arpa:{port} {{
    bind 127.0.0.1
    errors
    ready 127.0.0.1:{pages}
    prometheus 127.0.0.1:{pages}
    kubernetes cluster.local in-addr.arpa {{
        kubeconfig {config}
        pods verified
        snapshot {snapshot} 10m
    }}
}}
"""
WEB, DB = "web.shop.svc.cluster.local.", "db.shop.svc.cluster.local."
NAMED, POD = f"db-0.{DB}", "10-0-0-9.shop.pod.cluster.local."
NOBODY = ["3"]


class Server(Protocol):
    """An API server, whichever."""

    def start(self) -> None: ...
    def kill(self) -> None: ...
    def close(self) -> None: ...
    def put(self, body: Body) -> None: ...
    def remove(self, kind: str, namespace: str, name: str) -> None: ...
    def compact(self) -> None: ...
    def write_config(self, path: Path) -> Path: ...


class StandInServer:
    """The stand-in by the same methods; it is changed while it is away as well."""

    def __init__(self) -> None:
        self._api = Api()
        self._port = 0
        self._open = ExitStack()

    def start(self) -> None:
        self._open.enter_context(self._api.open(self._port))
        self._port = self._api.server.port

    def kill(self) -> None:
        self._open.close()

    def close(self) -> None:
        self.kill()
        self._api.close()

    def put(self, body: Body) -> None:
        self._api.call(lambda: self._api.server.put(body))

    def remove(self, kind: str, namespace: str, name: str) -> None:
        self._api.call(lambda: self._api.server.remove(kind, namespace, name))

    def compact(self) -> None:
        self._api.call(self._api.server.compact)

    def write_config(self, path: Path) -> Path:
        cluster = {"name": "here", "cluster": {"server": self._api.server.url}}
        path.write_text(json.dumps({**KUBECONFIG, "clusters": [cluster]}))
        return path


KINDS = [
    pytest.param(lambda folder: StandInServer(), id="stand-in"),
    pytest.param(RealApiServer, id="real", marks=pytest.mark.skipif(not is_installed(), reason=WHY_SKIPPED)),
]


@pytest.fixture(params=KINDS)
def api(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    make: Callable[[Path], Server] = request.param
    (tmp_path / "api").mkdir()
    server = make(tmp_path / "api")
    try:
        server.start()
        yield server
    finally:
        server.close()


class Served:
    """How the server is started beside an API server, and asked."""

    def __init__(self, api: Server, folder: Path) -> None:
        self.port, self.pages, self.log, self.snapshot = free_port(), free_port(), folder / "log", folder / "kept"
        config = api.write_config(folder / "config")
        text = COREFILE.format(port=self.port, pages=self.pages, config=config, snapshot=self.snapshot)
        (folder / "Corefile").write_text(text)
        self._command = ["-conf", str(folder / "Corefile")]
        self._stack = ExitStack()

    def __enter__(self) -> Running:
        return self._stack.enter_context(running(self._command, self.port, self.log, probe=WEB))

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        assert "Traceback" not in self.log.read_text()

    def lists(self) -> int:
        """How often Services have been listed."""
        found = re.search(r'^kubedns_api_lists_total{resource="services"} (\S+)$', self.metrics(), re.MULTILINE)
        assert found
        return int(float(found[1]))

    def metrics(self) -> str:
        return page(self.pages, "metrics")[1]

    def is_ready(self) -> bool:
        return page(self.pages, "ready")[0] == 200


def named_endpoint(address: str) -> Body:
    body = endpoint_slice("db-1", "db", address)
    body["endpoints"][0]["hostname"] = "db-0"
    return body


def pod(address: str) -> Body:
    containers = [{"name": "main", "image": "example.test/none"}]
    status = {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}]}
    metadata = {"name": "client", "namespace": "shop"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": containers},
        "status": status,
    }


def first_objects(api: Server) -> None:
    """What there is from the start."""
    api.put(service("web", "10.96.0.40"))
    api.put(service("db", "None"))
    api.put(named_endpoint("10.0.0.1"))


def test_every_kind_of_change_is_followed(api: Server, tmp_path: Path) -> None:
    first_objects(api)
    with Served(api, tmp_path) as server:
        assert addresses(server, WEB) == ["10.96.0.40"]
        assert addresses(server, DB) == addresses(server, NAMED) == ["10.0.0.1"]
        response = server.ask("40.0.96.10.in-addr.arpa.", "PTR")
        assert [str(each) for rrset in response.answer for each in rrset] == [WEB]
        assert addresses(server, POD) == NOBODY
        api.put(named_endpoint("10.0.0.2"))
        until(lambda: addresses(server, NAMED) == ["10.0.0.2"])
        api.put(service("late", "10.96.0.41", namespace="new"))
        until(lambda: addresses(server, "late.new.svc.cluster.local.") == ["10.96.0.41"])
        api.put(pod("10.0.0.9"))
        until(lambda: addresses(server, POD) == ["10.0.0.9"])
        api.remove("EndpointSlice", "shop", "db-1")
        until(lambda: addresses(server, NAMED) == NOBODY)
        api.remove("Service", "shop", "web")
        until(lambda: addresses(server, WEB) == NOBODY)
        assert server.stop() == 0


def test_a_crash_of_the_api_server_is_outlived(api: Server, tmp_path: Path) -> None:
    first_objects(api)
    with Served(api, tmp_path) as server:
        api.kill()
        until(lambda: "what is known stays in force" in server.log.read_text())
        assert addresses(server, WEB) == ["10.96.0.40"]
        assert addresses(server, "none.shop.svc.cluster.local.") == NOBODY
        api.start()
        api.put(named_endpoint("10.0.0.3"))
        until(lambda: addresses(server, NAMED) == ["10.0.0.3"])
        assert addresses(server, WEB) == ["10.96.0.40"]


def test_what_a_compacted_server_does_not_tell_any_more_is_listed(api: Server, tmp_path: Path) -> None:
    first_objects(api)
    served = Served(api, tmp_path)
    with served as server:
        listed = served.lists()
        # While it is stopped it makes no new watch, so it hears of nothing that is changed by the server's next life.
        server.process.send_signal(signal.SIGSTOP)
        api.kill()
        api.start()
        api.remove("Service", "shop", "web")
        api.put(service("late", "10.96.0.42"))
        api.kill()
        api.compact()
        api.start()
        server.process.send_signal(signal.SIGCONT)
        until(lambda: addresses(server, "late.shop.svc.cluster.local.") == ["10.96.0.42"])
        until(lambda: addresses(server, WEB) == NOBODY)
        assert served.lists() > listed


def test_a_start_without_the_api_server_goes_by_the_snapshot(api: Server, tmp_path: Path) -> None:
    first_objects(api)
    served = Served(api, tmp_path)
    with served as server:
        until(served.snapshot.exists)
        server.process.kill()
        server.process.wait(60)
    api.kill()
    with served as server:
        assert addresses(server, WEB) == ["10.96.0.40"]
        assert addresses(server, "none.shop.svc.cluster.local.") == NOBODY
        assert served.is_ready()
        assert stale_by_metrics(served.pages) == 1
        api.start()
        api.put(named_endpoint("10.0.0.4"))
        until(lambda: addresses(server, NAMED) == ["10.0.0.4"])
        until(lambda: stale_by_metrics(served.pages) == 0)
