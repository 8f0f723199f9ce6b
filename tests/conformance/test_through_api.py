"""The corpus once more with its objects coming through the API: the stand-in's, and a real one's where there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from tests.conformance.test_corpus import CASES, HERE, PROFILES, run
from tests.e2e.test_api_servers import KINDS, Server
from tests.support.process import Running, free_port, running


@pytest.fixture(scope="module", params=KINDS)
def api(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    make: Callable[[Path], Server] = request.param
    server = make(tmp_path_factory.mktemp("api"))
    try:
        server.start()
        for body in yaml.safe_load_all((HERE / "cluster.yaml").read_text()):
            if body:
                server.put(body)
        yield server
    finally:
        server.close()


@pytest.fixture(scope="module")
def ports() -> dict[str, int]:
    return {profile: free_port() for profile in (*PROFILES, "outside")}


@pytest.fixture(scope="module")
def server(api: Server, ports: dict[str, int], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("conformance")
    config = api.write_config(folder / "config")
    text = (HERE / "Corefile").read_text()
    assert text.count("manifests cluster.yaml") == len(PROFILES)
    text = text.replace("manifests cluster.yaml", f"kubeconfig {config}\n        startup_timeout 60s")
    (folder / "Corefile").write_text(text)
    environment = {f"{profile.upper().replace('-', '_')}_PORT": str(port) for profile, port in ports.items()}
    command = ["serve", "--conf", str(folder / "Corefile")]
    with running(command, ports["default"], folder / "log", environment) as process:
        yield process
        assert "Traceback" not in process.log.read_text()


@pytest.mark.parametrize("profile", PROFILES)
def test_every_case_of_a_profile_passes(profile: str, server: Running, ports: dict[str, int]) -> None:
    outside = ("--serve-upstream", f"127.0.0.1:{ports['outside']}") if profile in ("upstream", "autopath") else ()
    output = run("run.py", "--port", str(ports[profile]), "--profile", profile, *outside, str(HERE / "cases.yaml"))
    assert f"{CASES[profile]} passed, 0 failed" in output
