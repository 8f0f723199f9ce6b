"""kubedns host-ip, by its environment and beside a stand-in API server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kubedns.cli.main import main
from tests.support.api_server import FakeApiServer, Fault, refusing, saying
from tests.support.certificates import server_context
from tests.support.in_pod import mount_service_account, name_api_server
from tests.support.process import free_port

NAMED = {"NAMESPACE": "shop", "POD_NAME": "web-0"}
PATH = "/api/v1/namespaces/shop/pods/web-0"


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """No variable that counts is set by whoever runs the tests."""
    for name in ("HOST_IP", "NODE_IP", "NAMESPACE", "NS", "POD_NAME", "KUBERNETES_SERVICE_HOST"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def pod(status: dict[str, Any]) -> dict[str, Any]:
    metadata = {"name": "web-0", "namespace": "shop"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {}, "status": status}


def kubeconfig(folder: Path, url: str) -> str:
    config = {
        "apiVersion": "v1", "kind": "Config", "current-context": "here",
        "clusters": [{"name": "here", "cluster": {"server": url}}],
        "users": [{"name": "me", "user": {"token": "secret"}}],
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
    }  # fmt: skip
    (folder / "config").write_text(json.dumps(config))
    return str(folder / "config")


def beside(act: Callable[[FakeApiServer], int], server: FakeApiServer, **opening: Any) -> int:  # noqa: ANN401
    """What ``act`` gives while the server is there."""

    async def run() -> int:
        async with server.open(**opening):
            return await asyncio.to_thread(act, server)

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("variables", "printed"),
    [
        ({"HOST_IP": "192.0.2.7"}, "192.0.2.7\n"),
        ({"NODE_IP": "192.0.2.8"}, "192.0.2.8\n"),
        ({"HOST_IP": "", "NODE_IP": "192.0.2.8"}, "192.0.2.8\n"),
        ({"HOST_IP": "192.0.2.7", "NODE_IP": "192.0.2.8", **NAMED}, "192.0.2.7\n"),
        ({"HOST_IP": "fd00::7"}, "[fd00::7]\n"),
    ],
)
def test_what_the_downward_api_sets_is_printed_and_nobody_asked(
    variables: dict[str, str], printed: str, environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in variables.items():
        environment.setenv(name, value)
    assert main(["host-ip"]) == 0
    assert capsys.readouterr().out == printed


@pytest.mark.parametrize("namespace", ["NAMESPACE", "NS"])
@pytest.mark.parametrize(("address", "printed"), [("192.0.2.9", "192.0.2.9\n"), ("fd00::9", "[fd00::9]\n")])
def test_else_the_api_server_is_asked_for_the_pod_once(
    namespace: str,
    address: str,
    printed: str,
    tmp_path: Path,
    environment: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    environment.setenv(namespace, "shop")
    environment.setenv("POD_NAME", "web-0")
    server = FakeApiServer()
    server.token = "secret"
    server.put(pod({"hostIP": address, "podIP": "10.0.0.1"}))
    assert beside(lambda server: main(["host-ip", "--kubeconfig", kubeconfig(tmp_path, server.url)]), server) == 0
    assert capsys.readouterr().out == printed
    assert [path for path, _ in server.requests] == [PATH]


def test_in_a_pod_the_server_around_is_asked_with_the_projected_token(
    tmp_path: Path, environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mount_service_account(environment, tmp_path, "projected")
    for name, value in NAMED.items():
        environment.setenv(name, value)
    server = FakeApiServer()
    server.token = "projected"
    server.put(pod({"hostIP": "192.0.2.9"}))

    def ask(server: FakeApiServer) -> int:
        name_api_server(environment, server)
        return main(["host-ip"])

    assert beside(ask, server, secured=server_context()) == 0
    assert capsys.readouterr().out == "192.0.2.9\n"


FAULTS: list[tuple[Fault, int, str]] = [
    (refusing(404, "not found"), 1, "there is no Pod shop/web-0; NAMESPACE and POD_NAME are metadata.namespace and"),
    (saying(json.dumps(pod({})).encode()), 1, "Pod shop/web-0 has no status.hostIP yet; no node runs it; try again"),
    (saying(b'{"metadata": {"name": "web-0"}}'), 1, "Pod shop/web-0 has no status.hostIP yet"),
    (refusing(401, "Unauthorized"), 2, "the credentials are refused: 401 Unauthorized; renew them"),
    (refusing(403, "pods is forbidden"), 2, 'by {apiGroups: [""], resources: ["pods"], verbs: [get]}'),
    (refusing(500, "oh"), 3, "no answer about Pod shop/web-0: 500 oh; is the API server there?"),
    (refusing(429, "later"), 3, "429 later"),
    (saying(b"<html>"), 3, "what it says of Pod shop/web-0 cannot be read"),
    (saying(json.dumps(pod({"hostIP": "node-1"})).encode()), 3, "'node-1' does not appear to be an IPv4 or IPv6"),
]


@pytest.mark.parametrize(("fault", "status", "line"), FAULTS, ids=[line for _, _, line in FAULTS])
def test_what_goes_wrong_there_is_one_line_and_a_status(
    fault: Fault,
    status: int,
    line: str,
    tmp_path: Path,
    environment: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in NAMED.items():
        environment.setenv(name, value)
    server = FakeApiServer()
    server.faults[PATH] = [fault]
    assert beside(lambda server: main(["host-ip", "--kubeconfig", kubeconfig(tmp_path, server.url)]), server) == status
    printed = capsys.readouterr()
    assert line in printed.err
    assert printed.err.startswith("kubedns: ")
    assert (printed.out, printed.err.count("\n")) == ("", 1)


@pytest.mark.parametrize(
    ("variables", "arguments", "status", "line"),
    [
        ({}, [], 2, "neither HOST_IP nor NAMESPACE and POD_NAME are set; set them in the Pod's env by fieldRef: "),
        ({"NS": "shop"}, [], 2, "neither HOST_IP nor POD_NAME is set; "),
        (
            {"HOST_IP": "node-1"},
            [],
            2,
            "HOST_IP is 'node-1', which is no address; set it from fieldPath: status.hostIP",
        ),
        (NAMED, [], 2, "this is no pod of a cluster: name a kubeconfig"),
        (NAMED, ["--kubeconfig", "missing"], 2, "no kubeconfig at missing"),
        (NAMED, ["--kubeconfig", "config", "--context", "none"], 2, "none"),
        (NAMED, ["--context", "here"], 2, "--context goes with --kubeconfig"),
        (NAMED, ["--kubeconfig", "config"], 3, "no answer about Pod shop/web-0: "),
    ],
)
def test_what_cannot_be_asked_is_one_line_and_a_status(
    variables: dict[str, str],
    arguments: list[str],
    status: int,
    line: str,
    tmp_path: Path,
    environment: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    environment.chdir(tmp_path)
    kubeconfig(tmp_path, f"http://127.0.0.1:{free_port()}")
    for name, value in variables.items():
        environment.setenv(name, value)
    assert main(["host-ip", *arguments]) == status
    printed = capsys.readouterr()
    assert line in printed.err
    assert (printed.out, printed.err.count("\n")) == ("", 1)


def test_a_server_that_is_not_trusted_is_told_apart_from_one_that_is_away(
    tmp_path: Path, environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in NAMED.items():
        environment.setenv(name, value)
    asked = beside(
        lambda server: main(["host-ip", "--kubeconfig", kubeconfig(tmp_path, server.url)]),
        FakeApiServer(),
        secured=server_context(),
    )
    assert asked == 2
    assert "the server is not trusted: " in capsys.readouterr().err
