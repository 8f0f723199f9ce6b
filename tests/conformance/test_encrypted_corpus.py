"""The conformance corpus and the raw packets again, by the same runners, over TLS and over HTTPS."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.shim import Server, shimmed
from tests.conformance.test_corpus import CASES, HERE, PROFILES, run
from tests.support.certificates import write_certificate
from tests.support.process import Running, free_port, running

TRANSPORTS = ("tls", "https")
LABEL = re.compile(r"(\S+):\{\$(\w+)_PORT\}")


def corefile() -> str:
    """The corpus's Corefile, and each of its server blocks once more for TLS and HTTPS."""
    plain = (HERE / "Corefile").read_text()

    def secured(found: re.Match[str]) -> str:
        labels = [
            f"{transport}://{zone}:{{${profile}_{transport.upper()}_PORT}}"
            for transport in TRANSPORTS
            for zone, profile in LABEL.findall(found[0])
        ]
        return f"{' '.join(labels)} {{\n    tls cert.pem key.pem"

    text = re.sub(r"(?m)^[^\s#}].*\{$", secured, plain)
    return (plain + text).replace("manifests cluster.yaml", f"manifests {json.dumps(str(HERE / 'cluster.yaml'))}")


@pytest.fixture(scope="module")
def servers() -> dict[str, Server]:
    return {profile: Server(free_port(), free_port(), free_port()) for profile in PROFILES}


@pytest.fixture(scope="module")
def outside() -> int:
    return free_port()


@pytest.fixture(scope="module")
def server(servers: dict[str, Server], outside: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("encrypted")
    write_certificate(folder)
    (folder / "Corefile").write_text(corefile())
    environment = {"OUTSIDE_PORT": str(outside)}
    for profile, found in servers.items():
        word = profile.upper().replace("-", "_")
        environment[f"{word}_PORT"] = str(found.plain)
        environment[f"{word}_TLS_PORT"] = str(found.tls)
        environment[f"{word}_HTTPS_PORT"] = str(found.https)
    arguments = ["serve", "--conf", str(folder / "Corefile")]
    with running(arguments, servers["default"].plain, folder / "log", environment) as process:
        yield process
    assert "Traceback" not in (folder / "log").read_text()


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("profile", PROFILES)
def test_every_case_of_a_profile_passes(
    profile: str, transport: str, server: Running, servers: dict[str, Server], outside: int
) -> None:
    upstream = ("--serve-upstream", f"127.0.0.1:{outside}") if profile in ("upstream", "autopath") else ()
    with shimmed(servers[profile], transport) as port:
        output = run("run.py", "--port", str(port), "--profile", profile, *upstream, str(HERE / "cases.yaml"))
    assert f"{CASES[profile]} passed, 0 failed" in output


PACKETS = {"tls": 100, "https": 93}
"""HTTPS has no stream of messages, so the packets that are about that are left out there."""


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_every_packet_gets_the_promised_reaction(
    transport: str, server: Running, servers: dict[str, Server], tmp_path: Path
) -> None:
    text = (HERE / "packets.yaml").read_text()
    if transport == "https":
        head, *cases = re.split(r"(?m)^(?=- )", text)
        text = head + "".join(case for case in cases if '\n  transport: "tcp-raw' not in case)
    (tmp_path / "packets.yaml").write_text(text)
    with shimmed(servers["default"], transport) as port:
        output = run(
            "packets.py", "--strict", "--port", str(port), "--pid", str(server.process.pid),
            str(tmp_path / "packets.yaml"),
        )  # fmt: skip
    assert re.search(rf"^{PACKETS[transport]} passed, 0 failed$", output, re.MULTILINE), output
