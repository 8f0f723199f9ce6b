"""A real etcd and kube-apiserver, from the folder that KUBEBUILDER_ASSETS names, as for the tests of controllers."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Sequence
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from pathlib import Path
from typing import Any

from tests.support.api_server import PATHS
from tests.support.certificates import client_context, write_certificate
from tests.support.process import PATIENCE_SECONDS, free_port

ASSETS = Path(os.environ.get("KUBEBUILDER_ASSETS", "/nonexistent"))
"""Where the programs are."""
WHY_SKIPPED = "KUBEBUILDER_ASSETS names no folder with etcd and kube-apiserver"
SERVICE_IPS = "10.96.0.0/12,fd00:10:96::/112"
Body = dict[str, Any]
_ADMIN = "admin-of-tests"
_NAMESPACED = ("Service", "EndpointSlice", "Pod", "ServiceAccount")
_COLLECTIONS = {
    **PATHS,
    "ServiceAccount": "/api/v1/serviceaccounts",
    "ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    "CustomResourceDefinition": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
}


def is_installed() -> bool:
    """Whether both programs are there."""
    return all(os.access(ASSETS / name, os.X_OK) for name in ("etcd", "kube-apiserver"))


class RealApiServer:
    """A cluster's control plane as far as it keeps objects; files in ``folder``. Must be closed.

    No controller runs: nobody makes slices, nor takes out what stands in a namespace that goes.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port, self._etcd_port = free_port(), free_port()
        self._context = client_context()
        self._server: subprocess.Popen[bytes] | None = None
        write_certificate(folder)
        (folder / "tokens.csv").write_text(f'{_ADMIN},admin,admin,"system:masters"\n')
        self._etcd = self._run("etcd", self._etcd_flags())

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"https://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Begin to serve what etcd has, and wait until the server says that it is ready."""
        self._server = self._run("kube-apiserver", self._server_flags())
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not self._is_ready():
            if self._server.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"no API server: {(self._folder / 'kube-apiserver.log').read_text()[-2000:]}")
            time.sleep(0.1)

    def kill(self) -> None:
        """End the API server at once, as a crash does; what it had is in etcd."""
        if self._server is not None:
            self._server.kill()
            self._server.wait(PATIENCE_SECONDS)

    def close(self) -> None:
        """End it all."""
        self.kill()
        self._etcd.kill()
        self._etcd.wait(PATIENCE_SECONDS)

    def put(self, body: Body) -> None:
        """Create an object, or change it by a merge."""
        namespace = _namespace_of(body)
        collection = _collection(body["kind"], namespace)
        path = f"{collection}/{body['metadata']['name']}"
        if self._request("GET", path, accepted=(200, 404)) == 200:
            self._request("PATCH", path, body)
        else:
            if namespace:
                self._request("POST", PATHS["Namespace"], {"metadata": {"name": namespace}}, accepted=(201, 409))
            self._request("POST", collection, body)
        if "status" in body:
            self._request("PATCH", f"{path}/status", {"status": body["status"]})

    def remove(self, kind: str, namespace: str, name: str) -> None:
        """Delete an object."""
        self._request("DELETE", f"{_collection(kind, namespace)}/{name}")

    def compact(self) -> None:
        """Have etcd forget how things were."""
        revision = self._ask_etcd("range", {"key": "AA=="})["header"]["revision"]
        self._ask_etcd("compaction", {"revision": revision, "physical": True})

    def token_of(self, namespace: str, account: str) -> str:
        """A token of a ServiceAccount, such as is mounted in its pods."""
        path = f"{_collection('ServiceAccount', namespace)}/{account}/token"
        status, reply = self._exchange("POST", path, {"spec": {"expirationSeconds": 3600}})
        assert status == 201, reply
        return str(json.loads(reply)["status"]["token"])

    def write_config(self, path: Path, token: str = _ADMIN) -> Path:
        """Write a kubeconfig of who has ``token``; by default of one who may do everything."""
        authority = str(self._folder / "ca.pem")
        config = {
            "apiVersion": "v1", "kind": "Config", "current-context": "real",
            "clusters": [{"name": "real", "cluster": {"server": self.url, "certificate-authority": authority}}],
            "contexts": [{"name": "real", "context": {"cluster": "real", "user": "me"}}],
            "users": [{"name": "me", "user": {"token": token}}],
        }  # fmt: skip
        path.write_text(json.dumps(config))
        return path

    def _run(self, program: str, flags: Sequence[str]) -> subprocess.Popen[bytes]:
        with (self._folder / f"{program}.log").open("w") as log:
            return subprocess.Popen([ASSETS / program, *flags], stdout=log, stderr=log)

    def _etcd_flags(self) -> Sequence[str]:
        clients, peers = f"http://127.0.0.1:{self._etcd_port}", f"http://127.0.0.1:{free_port()}"
        return (
            f"--data-dir={self._folder / 'etcd'}",
            f"--listen-client-urls={clients}", f"--advertise-client-urls={clients}",
            f"--listen-peer-urls={peers}", f"--initial-advertise-peer-urls={peers}",
            f"--initial-cluster=default={peers}",
        )  # fmt: skip

    def _server_flags(self) -> Sequence[str]:
        key, certificate = self._folder / "key.pem", self._folder / "cert.pem"
        return (
            f"--etcd-servers=http://127.0.0.1:{self._etcd_port}",
            "--bind-address=127.0.0.1", f"--secure-port={self._port}", f"--cert-dir={self._folder}",
            f"--tls-cert-file={certificate}", f"--tls-private-key-file={key}",
            f"--token-auth-file={self._folder / 'tokens.csv'}", "--authorization-mode=RBAC",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={key}", f"--service-account-signing-key-file={key}",
            f"--service-cluster-ip-range={SERVICE_IPS}", "--allow-privileged=true",
            # Else it writes the slice of the Service ``kubernetes``, which is as every object what a test puts there.
            "--endpoint-reconciler-type=none",
            # The account ``default`` of a namespace, which a pod needs by it, is made by a controller.
            "--disable-admission-plugins=ServiceAccount",
        )  # fmt: skip

    def _is_ready(self) -> bool:
        try:
            return self._exchange("GET", "/readyz")[0] == 200
        except (OSError, HTTPException):
            return False

    def _request(self, method: str, path: str, body: Body | None = None, accepted: Sequence[int] = (200, 201)) -> int:
        status, reply = self._exchange(method, path, body)
        assert status in accepted, f"{method} {path}: {status} {reply!r}"
        return status

    def _exchange(self, method: str, path: str, body: Body | None = None) -> tuple[int, bytes]:
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        headers = {"Authorization": f"Bearer {_ADMIN}", "Content-Type": kind}
        connection = HTTPSConnection("127.0.0.1", self._port, timeout=PATIENCE_SECONDS, context=self._context)
        return _exchanged(connection, method, path, None if body is None else json.dumps(body), headers)

    def _ask_etcd(self, action: str, body: Body) -> Body:
        connection = HTTPConnection("127.0.0.1", self._etcd_port, timeout=PATIENCE_SECONDS)
        status, reply = _exchanged(connection, "POST", f"/v3/kv/{action}", json.dumps(body), {})
        assert status == 200, reply
        found: Body = json.loads(reply)
        return found


def _exchanged(
    connection: HTTPConnection, method: str, path: str, body: str | None, headers: dict[str, str]
) -> tuple[int, bytes]:
    try:
        connection.request(method, path, body, headers)
        reply: HTTPResponse = connection.getresponse()
        return reply.status, reply.read()
    finally:
        connection.close()


def _namespace_of(body: Body) -> str:
    return body["metadata"].get("namespace", "default") if body["kind"] in _NAMESPACED else ""


def _collection(kind: str, namespace: str) -> str:
    root, _, plural = _COLLECTIONS[kind].rpartition("/")
    return f"{root}/namespaces/{namespace}/{plural}" if namespace else _COLLECTIONS[kind]
