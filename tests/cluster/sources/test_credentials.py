"""Credentials of the API source: certificates, tokens and exec plugins, and what comes of it when they change."""

from __future__ import annotations

import asyncio
import json
import logging
import stat
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import trustme
from aiohttp import web
from kubernetes.aio.config.incluster_config import InClusterConfigLoader

from kubedns.cluster.access import ApiAccess
from kubedns.cluster.sources.api import ApiOptions
from kubedns.observe.rows import API_REQUESTS
from tests.cluster.sources.test_api import QUICK, Scene, follows, until
from tests.support.api_server import FakeApiServer, service, status
from tests.support.certificates import AUTHORITY, server_context, write_certificate
from tests.support.in_pod import mount_service_account, name_api_server

PLUGIN = """#!{python}
import json, pathlib
folder = pathlib.Path({folder!r})
with (folder / "calls").open("a") as calls:
    calls.write("x")
status = {{"token": (folder / "token").read_text()}}
print(json.dumps({{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status}}))
"""


@asynccontextmanager
async def following(server: FakeApiServer, access: ApiAccess) -> AsyncIterator[Scene]:
    scene = Scene(server, QUICK, ApiOptions(access, startup_seconds=0.01))
    await scene.source.load()
    task = asyncio.create_task(scene.source.run())
    try:
        yield scene
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await asyncio.sleep(0.01)


def served() -> FakeApiServer:
    server = FakeApiServer()
    server.put(service("stays", "10.96.0.9"))
    return server


def with_files(url: str, folder: Path, **others: str) -> ApiAccess:
    files = {
        "certificate": str(folder / "cert.pem"),
        "key": str(folder / "key.pem"),
        "authority": str(folder / "ca.pem"),
    }
    return ApiAccess(endpoint=url, **{**files, **others})


def kubeconfig(folder: Path, url: str, user: dict[str, Any], **cluster: str) -> ApiAccess:
    config = {
        "apiVersion": "v1", "kind": "Config", "current-context": "here",
        "clusters": [{"name": "here", "cluster": {"server": url, **cluster}}],
        "users": [{"name": "me", "user": user}],
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
    }  # fmt: skip
    (folder / "config").write_text(json.dumps(config))
    return ApiAccess(kubeconfig=str(folder / "config"))


def test_a_client_certificate_is_shown_and_the_server_s_checked(tmp_path: Path) -> None:
    async def run() -> None:
        write_certificate(tmp_path)
        secured = server_context(clients=AUTHORITY)
        async with served().open(secured=secured) as server:
            accesses = [
                with_files(server.url, tmp_path),
                kubeconfig(
                    tmp_path, server.url,
                    {"client-certificate": str(tmp_path / "cert.pem"), "client-key": str(tmp_path / "key.pem")},
                    **{"certificate-authority": str(tmp_path / "ca.pem")},
                ),
            ]  # fmt: skip
            for access in accesses:
                async with following(server, access) as scene:
                    await until(lambda scene=scene: scene.store.has_synced)  # type: ignore[misc]
                    await follows(scene)

    asyncio.run(run())


def test_a_server_of_an_unknown_authority_is_not_believed_until_the_authority_is_renewed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    other = trustme.CA()

    async def run() -> None:
        write_certificate(tmp_path)
        async with (
            served().open(secured=server_context(authority=other)) as server,
            following(server, with_files(server.url, tmp_path, certificate="", key="")) as scene,
        ):
            await until(lambda: "certificate verify failed" in caplog.text)
            assert not scene.store.has_synced
            (tmp_path / "ca.pem").write_bytes(other.cert_pem.bytes())
            await until(lambda: scene.store.has_synced)
            await follows(scene)

    with caplog.at_level(logging.WARNING):
        asyncio.run(run())


async def only_renewed(request: web.Request) -> web.StreamResponse | None:
    """An API server takes any certificate, and then says 401 to whom it does not know."""
    assert request.transport is not None
    shown = request.transport.get_extra_info("peercert")
    return None if ("DNS", "renewed.test") in shown["subjectAltName"] else status(401, "Unauthorized")


def test_a_renewed_client_certificate_is_taken_up(tmp_path: Path) -> None:
    async def run() -> None:
        write_certificate(tmp_path)
        async with (
            served().open(secured=server_context(clients=AUTHORITY)) as server,
            following(server, with_files(server.url, tmp_path)) as scene,
        ):
            await until(lambda: scene.store.has_synced)
            server.fail("Service", *[only_renewed] * 1000)
            server.cut()
            server.put(service("new", "10.96.0.10"))
            left = len(server.faults["/api/v1/services"])
            await until(lambda: len(server.faults["/api/v1/services"]) < left - 2)
            assert "new" not in scene.ips()
            write_certificate(tmp_path, "renewed.test")
            await until(lambda: "new" in scene.ips())

    asyncio.run(run())


@pytest.mark.parametrize("missing", ["certificate", "key", "authority"])
def test_a_file_that_is_not_there_is_named(missing: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def run() -> None:
        write_certificate(tmp_path)
        async with served().open(secured=server_context()) as server:
            absent = tmp_path / "absent.pem"
            async with following(server, with_files(server.url, tmp_path, **{missing: str(absent)})) as scene:
                await until(lambda: str(absent) in caplog.text)
                write_certificate(tmp_path)
                name = {"certificate": "cert.pem", "key": "key.pem", "authority": "ca.pem"}[missing]
                (tmp_path / name).replace(absent)
                await until(lambda: scene.store.has_synced)

    with caplog.at_level(logging.WARNING):
        asyncio.run(run())


def play_tokens(tmp_path: Path, user: dict[str, Any], act: Callable[[Scene], Awaitable[None]]) -> None:
    async def run() -> None:
        server = served()
        server.token = "first"
        (tmp_path / "token").write_text("first")
        async with server.open(), following(server, kubeconfig(tmp_path, server.url, user)) as scene:
            await until(lambda: scene.store.has_synced)
            await act(scene)

    asyncio.run(run())


async def rotated(scene: Scene, tmp_path: Path) -> None:
    """The token is another, first at the server; whoever has the old one is refused."""
    for word in ("second", "third"):
        scene.server.token = word
        scene.server.cut()
        (tmp_path / "token").write_text(word)
        await follows(scene)


def test_an_exec_plugin_s_token_is_asked_for_anew_when_it_is_refused(tmp_path: Path) -> None:
    plugin = tmp_path / "plugin"
    plugin.write_text(PLUGIN.format(python=sys.executable, folder=str(tmp_path)))
    plugin.chmod(plugin.stat().st_mode | stat.S_IXUSR)
    user = {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": str(plugin),
            "interactiveMode": "Never",
        }
    }

    async def act(scene: Scene) -> None:
        await rotated(scene, tmp_path)
        assert len((tmp_path / "calls").read_text()) < 40

    play_tokens(tmp_path, user, act)


def test_a_token_file_is_read_anew_when_its_token_is_refused(tmp_path: Path) -> None:
    async def act(scene: Scene) -> None:
        await rotated(scene, tmp_path)

    play_tokens(tmp_path, {"tokenFile": str(tmp_path / "token")}, act)


def swapped(folder: Path, token: str) -> None:
    """As the kubelet does it: a link to a folder with the new file takes the place of the old link."""
    (folder / token.strip()).mkdir()
    (folder / token.strip() / "token").write_text(token)
    (folder / "next").symlink_to(token.strip())
    (folder / "next").rename(folder / "..data")


@pytest.mark.parametrize("end", ["", "\n"])
@pytest.mark.parametrize("meanwhile", ["nothing", "missing", "empty"])
def test_a_pod_s_token_is_replaced(
    meanwhile: str, end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It is read for each request here, in place of each minute, so that some fall into the time without one."""
    read = InClusterConfigLoader._read_token_file

    def read_anew(loader: Any) -> None:  # noqa: ANN401
        read(loader)  # type: ignore[no-untyped-call]
        loader.token_expires_at = datetime.min

    monkeypatch.setattr(InClusterConfigLoader, "_read_token_file", read_anew)
    mount_service_account(monkeypatch, tmp_path, "")
    (tmp_path / "token").unlink()
    (tmp_path / "token").symlink_to("..data/token")
    swapped(tmp_path, f"first{end}")
    server = served()
    server.token = "first"

    async def run() -> None:
        async with server.open(secured=server_context()):
            name_api_server(monkeypatch, server)
            async with following(server, ApiAccess()) as scene:
                await until(lambda: scene.store.has_synced)
                if meanwhile == "missing":
                    (tmp_path / "first" / "token").unlink()
                elif meanwhile == "empty":
                    (tmp_path / "first" / "token").write_text("")
                server.token = "second"
                server.cut()
                if meanwhile != "nothing":
                    await until(lambda: "token" in caplog.text)
                swapped(tmp_path, f"second{end}")
                await follows(scene)
                refused = scene.metrics.cell(API_REQUESTS, "401", "GET", server.url.removeprefix("https://")).value
                assert refused < 40

    with caplog.at_level(logging.WARNING):
        asyncio.run(run())
