"""The server under test: a cluster of manifests that change, an upstream that fails, and a cache with short times."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.bench.big_cluster import BigService, Manifest, big_services, write_manifests
from tests.soak.questions import KNOWN_OUTSIDE, MOVING, alias_name, blinking_name, moving_name, outside_name
from tests.support.process import PATIENCE_SECONDS, Running, free_port, running

SERVICES, ENDPOINTS = 300, 3
COREFILE = """
.:{port} {{
    bind 127.0.0.1
    errors
    prometheus 127.0.0.1:{metrics}
    kubernetes cluster.local in-addr.arpa ip6.arpa {{
        manifests {manifests}
        fallthrough in-addr.arpa ip6.arpa
    }}
    cache 5 {{
        success 2000 5 1
        denial 2000 5 1
        prefetch 3 10s 20%
        serve_stale 1h
    }}
    forward . 127.0.0.1:{upstream}
}}
"""


class Site:
    """A folder with everything; ``version`` counts the changes of the manifests."""

    def __init__(self, folder: Path) -> None:
        self.services: list[BigService] = big_services(SERVICES, ENDPOINTS)
        self.version = 0
        self.metrics_port = free_port()
        self._folder = folder
        self._manifests = folder / "manifests"
        self._manifests.mkdir()
        with (self._manifests / "big.json").open("w") as file:
            write_manifests(self.services, file)
        self.change()

    def change(self) -> None:
        """Move what moves, and let come or go what comes and goes."""
        self.version += 1
        items = [_namespace("live")]
        items += [_service(alias_name(each), externalName=outside_name(each)) for each in range(KNOWN_OUTSIDE)]
        items += [_service(moving_name(each), clusterIP=self.address(each)) for each in range(MOVING)]
        if self.version % 2:
            items += [_service(blinking_name(each), clusterIP=f"10.111.0.{each}") for each in range(MOVING)]
        written = self._folder / "live.json"
        written.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
        written.replace(self._manifests / "live.json")

    def address(self, number: int) -> str:
        """Where the moving Service ``number`` is now."""
        return f"10.110.{self.version % 250}.{number}"

    def await_change(self, server: Running) -> None:
        """Until the server answers by the last change.

        Raises:
            AssertionError: it still has not, long after.
        """
        deadline = time.monotonic() + PATIENCE_SECONDS
        shown = ""
        while shown != self.address(0):
            assert time.monotonic() < deadline, f"{moving_name(0)} is still at {shown}"
            shown = " ".join(str(rdata) for rrset in server.ask(moving_name(0)).answer for rdata in rrset)

    @contextmanager
    def served(self, fails_each: float) -> Iterator[Running]:
        """The server, whose upstream fails each so many seconds."""
        with ExitStack() as stack:
            upstream, port = free_port(), free_port()
            stack.enter_context(_upstream(upstream, fails_each))
            corefile = self._folder / "Corefile"
            corefile.write_text(
                COREFILE.format(port=port, metrics=self.metrics_port, manifests=self._manifests, upstream=upstream)
            )
            yield stack.enter_context(
                running(["-conf", str(corefile)], port, self._folder / "log", probe=moving_name(0))
            )


@contextmanager
def _upstream(port: int, fails_each: float) -> Iterator[None]:
    process = subprocess.Popen([sys.executable, "-m", "tests.soak.upstream", str(port), str(fails_each)])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def _namespace(name: str) -> Manifest:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def _service(owner: str, **spec: object) -> Manifest:
    name, namespace, _ = owner.split(".", 2)
    made: dict[str, object] = {"ports": [{"name": "http", "port": 80, "protocol": "TCP"}], **spec}
    made |= {"type": "ExternalName"} if "externalName" in spec else {"clusterIPs": [spec["clusterIP"]]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": namespace}, "spec": made}
