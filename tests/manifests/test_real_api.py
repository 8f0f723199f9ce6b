"""What would be deployed, judged by a real API server: it takes every object and pod, and the role's rights suffice."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.e2e.test_live import addresses
from tests.e2e.test_probes import page
from tests.e2e.test_reload import until
from tests.manifests.test_manifests import FOLDERS, OPERATORS, ROOT, WORKLOADS, of_kind, rendered
from tests.support.api_server import endpoint_slice, service
from tests.support.process import free_port, running
from tests.support.real_api import ASSETS, WHY_SKIPPED, RealApiServer, is_installed

KUBECTL = shutil.which("kubectl", path=f"{ASSETS}:{os.environ['PATH']}")
needs_kubectl = pytest.mark.skipif(KUBECTL is None, reason="no kubectl here")
pytestmark = pytest.mark.skipif(not is_installed(), reason=WHY_SKIPPED)
COREFILE = """
.:{port} {{
    bind 127.0.0.1
    errors
    ready 127.0.0.1:{pages}
    kubernetes cluster.local in-addr.arpa {{
        kubeconfig {config}
        startup_timeout {patience}
        pods verified
    }}
}}
"""
ACCOUNT = {"kind": "ServiceAccount", "metadata": {"name": "coredns", "namespace": "kube-system"}}
WEB = "web.shop.svc.cluster.local."


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealApiServer]:
    server = RealApiServer(tmp_path_factory.mktemp("api"))
    try:
        server.start()
        server.put({"apiVersion": "v1", **ACCOUNT})
        server.put(service("web", "10.96.0.40"))
        server.put(endpoint_slice("web-1", "web", "10.0.0.1"))
        for kind in OPERATORS:
            server.put(custom_kind(kind))
        yield server
    finally:
        server.close()


def custom_kind(kind: str) -> dict[str, object]:
    """A kind of the Prometheus operator, with whatever fields."""
    name = kind.lower()
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"kind": kind, "singular": name, "plural": f"{name}s"}
    spec = {"group": "monitoring.coreos.com", "names": names, "scope": "Namespaced", "versions": [version]}
    metadata = {"name": f"{name}s.monitoring.coreos.com"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": metadata, "spec": spec,
    }  # fmt: skip


def kubectl(api: RealApiServer, folder: Path, *words: str, given: str = "") -> Sequence[str]:
    """The lines that it prints."""
    assert KUBECTL
    command = [KUBECTL, "--kubeconfig", str(api.write_config(folder / "admin")), *words]
    environment = {**os.environ, "HOME": str(folder)}
    done = subprocess.run(
        command, input=given, capture_output=True, text=True, timeout=60, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@needs_kubectl
@pytest.mark.parametrize("folder", FOLDERS)
def test_every_object_is_taken(api: RealApiServer, folder: str, tmp_path: Path) -> None:
    until(lambda: kinds_are_known(api, tmp_path))
    printed = kubectl(api, tmp_path, "apply", "--dry-run=server", "-k", str(ROOT / "manifests" / folder))
    assert len(printed) == len(rendered(folder))
    assert all(line.endswith("(server dry run)") for line in printed)


def kinds_are_known(api: RealApiServer, folder: Path) -> bool:
    known = kubectl(api, folder, "api-resources", "--api-group=monitoring.coreos.com", "--output=name")
    return len(known) == len(OPERATORS)


@needs_kubectl
@pytest.mark.parametrize("folder", [folder for folder in FOLDERS if of_kind(folder, *WORKLOADS)])
def test_its_pods_are_taken(api: RealApiServer, folder: str, tmp_path: Path) -> None:
    for workload in of_kind(folder, *WORKLOADS):
        template = workload["spec"]["template"]
        names = {"name": "one", "namespace": workload["metadata"]["namespace"]}
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {**template["metadata"], **names},
            "spec": template["spec"],
        }
        (line,) = kubectl(api, tmp_path, "create", "--dry-run=server", "-f", "-", given=json.dumps(pod))
        assert line == "pod/one created (server dry run)"


def test_the_role_suffices_and_is_needed(api: RealApiServer, tmp_path: Path) -> None:
    config = api.write_config(tmp_path / "config", api.token_of("kube-system", "coredns"))
    port, pages = free_port(), free_port()
    settings = {"port": port, "pages": pages, "config": config}
    (tmp_path / "Corefile").write_text(COREFILE.format(**settings, patience="1ms"))
    with running(["-conf", str(tmp_path / "Corefile")], port, tmp_path / "log") as server:
        until(lambda: 'resources: ["services"], verbs: [list, watch]' in server.log.read_text())
        assert addresses(server, WEB) == ["2"]
        assert page(pages, "ready")[0] == 503
        assert server.stop() == 0
    for body in of_kind("base", "ClusterRole", "ClusterRoleBinding"):
        api.put(body)
    (tmp_path / "Corefile").write_text(COREFILE.format(**settings, patience="60s"))
    with running(["-conf", str(tmp_path / "Corefile")], port, tmp_path / "log", probe=WEB) as server:
        assert addresses(server, WEB) == ["10.96.0.40"]
        until(lambda: page(pages, "ready")[0] == 200)
        api.put(service("late", "10.96.0.41"))
        until(lambda: addresses(server, "late.shop.svc.cluster.local.") == ["10.96.0.41"])
        assert server.stop() == 0
        log = server.log.read_text()
        assert log.count("forbidden") == log.count('resources: ["nodes"], verbs: [list, watch]') == 1, log
