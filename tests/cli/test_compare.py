"""kubedns compare as a user runs it: between two of our servers, and beside another one."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kubedns.cli.main import main
from tests.cli.test_host_ip import kubeconfig
from tests.e2e.test_reload import until
from tests.support.api_server import FakeApiServer, service
from tests.support.certificates import server_context
from tests.support.golden import assert_golden
from tests.support.in_pod import mount_service_account, name_api_server
from tests.support.knot import knot
from tests.support.process import free_port, running

SERVICE = """
apiVersion: v1
kind: Service
metadata: {{name: {name}, namespace: shop}}
spec: {{clusterIP: {ip}, ports: [{{name: http, port: 80}}]}}
---
"""
OLD = SERVICE.format(name="web", ip="10.96.0.20") + SERVICE.format(name="db", ip="10.96.0.21")
NEW = OLD.replace("10.96.0.21", "10.96.0.22").replace("port: 80", "port: 81", 1) + SERVICE.format(name="new", ip="None")
IMPATIENT = "cluster.local {\n    kubernetes {\n        kubeconfig config\n        startup_timeout 1ms\n    }\n}\n"
KNOT = """
zone:
  - domain: cluster.local
    file: {folder}/zone
"""


@pytest.fixture(scope="module")
def ports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, int]]:
    """Two servers with different manifests; those of the first are in ``old.yaml``, where the tests are run."""
    folder = tmp_path_factory.mktemp("compare")
    (folder / "old.yaml").write_text(OLD)
    (folder / "new.yaml").write_text(NEW)
    old, new = free_port(), free_port()
    flags = {port: ["serve", "-q", "--port", str(port), "--manifests"] for port in (old, new)}
    with (
        pytest.MonkeyPatch.context() as patch,
        running([*flags[old], str(folder / "old.yaml")], old, folder / "log-old"),
        running([*flags[new], str(folder / "new.yaml"), "--ttl", "30"], new, folder / "log-new"),
    ):
        patch.chdir(folder)
        patch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
        yield old, new


def compared(*ports: int, flags: tuple[str, ...] = ("--manifests", "old.yaml")) -> int:
    servers = [word for port in ports for word in ("--server", f"127.0.0.1:{port}")]
    return main(["compare", *servers, *flags])


def test_a_server_is_like_itself(ports: tuple[int, int], capsys: pytest.CaptureFixture[str]) -> None:
    old, _ = ports
    assert compared(old, old) == 0
    expected = rf"\d+ questions, all answered alike by 127\.0\.0\.1:{old} and 127\.0\.0\.1:{old}\n"
    assert re.fullmatch(expected, capsys.readouterr().out)


def test_differences_are_told(ports: tuple[int, int], capsys: pytest.CaptureFixture[str]) -> None:
    assert compared(*ports) == 1
    printed = capsys.readouterr().out
    for port, name in zip(ports, ("OLD", "NEW"), strict=True):
        printed = printed.replace(f"127.0.0.1:{port}", name)
    assert_golden("compare.txt", re.sub(r"\b\d{10}\b", "SERIAL", printed))


def test_with_ttl_other_ttls_are_differences(ports: tuple[int, int], capsys: pytest.CaptureFixture[str]) -> None:
    assert compared(*ports, flags=("--manifests", "old.yaml", "--with-ttl")) == 1
    printed = capsys.readouterr().out
    assert "- answer web.shop.svc.cluster.local. 5 IN A 10.96.0.20\n" in printed
    assert "+ answer web.shop.svc.cluster.local. 30 IN A 10.96.0.20\n" in printed
    assert "- authority cluster.local. 5 IN SOA" in printed


def test_json_says_the_same(ports: tuple[int, int], capsys: pytest.CaptureFixture[str]) -> None:
    assert compared(*ports, flags=("--manifests", "old.yaml", "-o", "json")) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["servers"] == [f"127.0.0.1:{port}" for port in ports]
    assert found["questions"] == found["same"] + found["different"]
    assert found["different"] == len(found["differences"])
    (database,) = (
        each for each in found["differences"] if (each["name"], each["type"]) == ("db.shop.svc.cluster.local.", "A")
    )
    assert database["differs"] == ["answer"]
    assert [(each["rcode"], each["flags"], each["authority"]) for each in database["responses"]] == [
        ("NOERROR", ["aa"], [])
    ] * 2
    assert [each["answer"] for each in database["responses"]] == [
        [{"name": "db.shop.svc.cluster.local.", "ttl": ttl, "type": "A", "data": address}]
        for ttl, address in ((5, "10.96.0.21"), (30, "10.96.0.22"))
    ]


def test_names_come_from_an_api_server(
    ports: tuple[int, int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def run() -> int:
        server = FakeApiServer()
        server.put(service("db", "10.96.0.21"))
        async with server.open():
            flags = ("--kubeconfig", kubeconfig(tmp_path, server.url))
            return await asyncio.to_thread(compared, *ports, flags=flags)

    assert asyncio.run(run()) == 1
    printed = capsys.readouterr().out
    assert "+ answer db.shop.svc.cluster.local. IN A 10.96.0.22\n" in printed
    assert "web" not in printed


def test_in_a_pod_names_come_from_the_cluster_around(
    ports: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mount_service_account(monkeypatch, tmp_path, "projected")

    async def run() -> int:
        server = FakeApiServer()
        server.token = "projected"
        server.put(service("db", "10.96.0.21"))
        async with server.open(secured=server_context()):
            name_api_server(monkeypatch, server)
            return await asyncio.to_thread(compared, *ports, flags=())

    assert asyncio.run(run()) == 1
    assert "+ answer db.shop.svc.cluster.local. IN A 10.96.0.22\n" in capsys.readouterr().out


def test_another_server_with_our_records_is_alike(
    ports: tuple[int, int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = free_port()
    assert main(["records", "--manifests", "old.yaml", "--only", "cluster.local"]) == 0
    (tmp_path / "zone").write_text(capsys.readouterr().out)
    with knot(tmp_path, KNOT.format(folder=tmp_path), other):
        until(
            lambda: (
                main(["query", "--server", "127.0.0.1", "--port", str(other), "cluster.local", "SOA", "--fail"]) == 0
            )
        )
        capsys.readouterr()
        assert compared(ports[0], other, flags=("--manifests", "old.yaml", "-o", "json")) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["same"] > 0
    # It has been given one of the zones, and refuses the others.
    assert not [each for each in found["differences"] if each["name"].endswith("cluster.local.")]
    assert {each["responses"][1]["rcode"] for each in found["differences"]} == {"REFUSED"}


@pytest.mark.parametrize(
    ("servers", "flags", "status", "line"),
    [
        (["127.0.0.1"], ["--manifests", "old.yaml"], 2, "give two servers: --server OLD --server NEW"),
        (["127.0.0.1"] * 3, ["--manifests", "old.yaml"], 2, "give two servers"),
        (["127.0.0.1", "kube-dns"], ["--manifests", "old.yaml"], 2, "'kube-dns' is no IP address"),
        (["127.0.0.1", "127.0.0.1:0"], ["--manifests", "old.yaml"], 2, "'0' in '127.0.0.1:0' is no port"),
        (["127.0.0.1", "[::1]:dns"], ["--manifests", "old.yaml"], 2, "'dns' in '[::1]:dns' is no port"),
        (["127.0.0.1", "::1"], [], 2, "give one of --manifests PATH, --kubeconfig FILE and --conf COREFILE"),
        (["127.0.0.1", "::1"], ["--manifests", "none"], 2, "no file or folder none"),
        (["127.0.0.1:{none}"] * 2, ["--manifests", "old.yaml"], 3, ": connection refused; is a DNS server"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_one_line_and_a_status(
    servers: list[str],
    flags: list[str],
    status: int,
    line: str,
    ports: tuple[int, int],
    capsys: pytest.CaptureFixture[str],
) -> None:
    none = free_port()
    words = [word for server in servers for word in ("--server", server.format(none=none))]
    assert main(["compare", *words, *flags]) == status
    printed = capsys.readouterr()
    assert line in printed.err
    assert (printed.out, printed.err.count("\n")) == ("", 1)


@pytest.mark.parametrize("command", ["compare --server 127.0.0.1:{old} --server 127.0.0.1:{new}", "records"])
def test_a_cluster_that_cannot_be_listed_has_no_known_names(
    command: str, ports: tuple[int, int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = command.format(old=ports[0], new=ports[1]).split()
    kubeconfig(tmp_path, f"http://127.0.0.1:{free_port()}")
    (tmp_path / "Corefile").write_text(IMPATIENT)
    assert main([*words, "--conf", str(tmp_path / "Corefile")]) == 3
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "kubedns: the cluster cannot be listed; until it can, its names are not known\n" in printed.err
