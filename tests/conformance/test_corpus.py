"""The conformance corpus and the raw packets, asked of a real process by runners that share no code with it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.process import Running, free_port, running

HERE = Path(__file__).parent
PROFILES = (
    "default",
    "pods-verified",
    "endpoint-pod-names",
    "ignore-empty",
    "namespaces",
    "namespace-labels",
    "ttl-30",
    "noendpoints",
    "upstream",
    "external",
    "autopath",
)
CASES = {
    "default": 379,
    "pods-verified": 7,
    "endpoint-pod-names": 6,
    "ignore-empty": 5,
    "namespaces": 7,
    "namespace-labels": 3,
    "ttl-30": 5,
    "noendpoints": 5,
    "upstream": 21,
    "external": 12,
    "autopath": 7,
}
"""How many cases each profile has, so that none can go missing."""


@pytest.fixture(scope="module")
def ports() -> dict[str, int]:
    return {profile: free_port() for profile in (*PROFILES, "outside")}


@pytest.fixture(scope="module")
def server(ports: dict[str, int], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    environment = {f"{profile.upper().replace('-', '_')}_PORT": str(port) for profile, port in ports.items()}
    log = tmp_path_factory.mktemp("conformance") / "log"
    with running(["serve", "--conf", str(HERE / "Corefile")], ports["default"], log, environment) as process:
        yield process


def run(script: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, str(HERE / script), *arguments], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("profile", PROFILES)
def test_every_case_of_a_profile_passes(profile: str, server: Running, ports: dict[str, int]) -> None:
    outside = ("--serve-upstream", f"127.0.0.1:{ports['outside']}") if profile in ("upstream", "autopath") else ()
    cases = str(HERE / "cases.yaml")
    output = run("run.py", "--port", str(ports[profile]), "--profile", profile, *outside, cases)
    assert f"{CASES[profile]} passed, 0 failed" in output


def test_the_default_profile_passes_over_ipv6(server: Running, ports: dict[str, int]) -> None:
    cases = str(HERE / "cases.yaml")
    output = run("run.py", "--server", "::1", "--port", str(ports["default"]), cases)
    assert f"{CASES['default']} passed, 0 failed" in output


def test_every_packet_gets_the_promised_reaction(server: Running, ports: dict[str, int]) -> None:
    pid = str(server.process.pid)
    packets = str(HERE / "packets.yaml")
    output = run("packets.py", "--strict", "--port", str(ports["default"]), "--pid", pid, packets)
    assert re.search(r"^100 passed, 0 failed$", output, re.MULTILINE), output
