"""The commands that look at a cluster, on manifests that say all there is."""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
from pathlib import Path

import dns.zone
import pytest

from kubedns.cli.main import main
from tests.support.golden import assert_golden

MANIFESTS = """
apiVersion: v1
kind: Service
metadata: {name: kube-dns, namespace: kube-system}
spec: {clusterIP: 10.96.0.10, ports: [{name: dns, port: 53, protocol: UDP}]}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {clusterIP: 10.96.0.20, ports: [{name: http, port: 80, protocol: TCP}]}
---
apiVersion: v1
kind: Service
metadata: {name: database, namespace: shop}
spec: {type: ExternalName, externalName: db.example.com}
"""
SLIP = "apiVersion: v1\nkind: Service\nmetadata: {name: broken}\nspec: {clusterIP: 10.0.0.999}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with ``k8s/shop.yaml`` and a Corefile that serves it, which the commands are run in."""
    (tmp_path / "k8s").mkdir()
    (tmp_path / "k8s" / "shop.yaml").write_text(MANIFESTS)
    (tmp_path / "Corefile").write_text(
        "cluster.local in-addr.arpa ip6.arpa {\n    kubernetes {\n        manifests k8s\n    }\n}\n"
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("golden", "status", "arguments"),
    [
        ("explain-service", 0, ["web", "--namespace", "shop"]),
        ("explain-other-namespace", 0, ["web.shop"]),
        ("explain-alias", 0, ["database.shop.svc.cluster.local."]),
        ("explain-near-miss", 1, ["wbe.shop.svc.cluster.local."]),
        ("explain-foreign", 1, ["example.com", "--search", "shop.svc.cluster.local", "--ndots", "1"]),
        ("explain-reverse", 0, ["10.96.0.20"]),
        ("explain-no-data", 1, ["web.shop.svc.cluster.local.", "AAAA"]),
    ],
)
def test_explain(
    golden: str, status: int, arguments: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", *arguments, "--manifests", "k8s"]) == status
    assert_golden(f"{golden}.txt", capsys.readouterr().out)


def test_explain_in_json_says_the_same(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "web", "-n", "shop", "--manifests", "k8s", "-o", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    (candidate,) = found["candidates"]
    assert candidate["answer"] == [{"name": "web.shop.svc.cluster.local.", "ttl": 5, "type": "A", "data": "10.96.0.20"}]
    assert candidate["objects"] == [
        {"kind": "Service", "namespace": "shop", "name": "web", "origin": "k8s/shop.yaml:7"}
    ]
    assert candidate["cache"]["depends_on"] == ["Service shop/web"]


def test_explain_by_a_corefile_says_the_same_as_by_manifests(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "web", "-n", "shop", "--conf", "Corefile"]) == 0
    assert_golden("explain-service.txt", capsys.readouterr().out)


@pytest.mark.parametrize(("color", "expected"), [("always", True), ("never", False), ("auto", False)])
def test_colour_is_for_those_who_look(
    color: str, expected: bool, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("NO_COLOR", "1")
    main(["explain", "web", "-n", "shop", "--manifests", "k8s", "--color", color])
    assert ("\x1b[" in capsys.readouterr().out) is expected


def listed(*arguments: str) -> int:
    return main(["records", "--manifests", "k8s", *arguments])


def test_records_as_a_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert listed("-o", "table", "--ttl", "30") == 0
    printed = capsys.readouterr().out
    assert re.search(r"^web\.shop\.svc\.cluster\.local\. +30  A +10\.96\.0\.20$", printed, re.MULTILINE)
    assert re.search(
        r"^20\.0\.96\.10\.in-addr\.arpa\. +30  PTR +web\.shop\.svc\.cluster\.local\.$", printed, re.MULTILINE
    )


def test_records_as_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert listed("-o", "json", "--only", "in-addr.arpa") == 0
    names = {record["name"] for record in json.loads(capsys.readouterr().out)}
    own = {"in-addr.arpa.", "ns.dns.in-addr.arpa."}
    assert names == own | {"10.0.96.10.in-addr.arpa.", "20.0.96.10.in-addr.arpa."}


@pytest.mark.parametrize("zone", ["cluster.local", "in-addr.arpa", "ip6.arpa"])
def test_one_zone_is_a_master_file_for_others(zone: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert listed("--only", zone) == 0
    text = capsys.readouterr().out
    read = dns.zone.from_text(text, zone, relativize=False)
    assert sum(len(rdataset) for _, rdataset in read.iterate_rdatasets()) == len(text.splitlines()) - 1


@pytest.mark.skipif(not shutil.which("named-checkzone"), reason="BIND's named-checkzone is not installed")
@pytest.mark.parametrize("zone", ["cluster.local", "in-addr.arpa", "ip6.arpa"])
def test_bind_loads_the_zone(zone: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert listed("--only", zone) == 0
    (folder / "zone").write_text(capsys.readouterr().out)
    command = ["named-checkzone", zone, "zone"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout


def test_another_zone_for_the_same_manifests(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert listed("--zone", "lab.example", "--only", "lab.example") == 0
    assert "web.shop.svc.lab.example. 5 IN A 10.96.0.20\n" in capsys.readouterr().out


def test_a_broken_document_is_told_and_the_rest_goes_on(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "k8s" / "slip.yaml").write_text(SLIP)
    assert listed("--only", "cluster.local") == 0
    printed = capsys.readouterr()
    assert "web.shop.svc.cluster.local." in printed.out
    assert re.fullmatch(r"kubedns: k8s/slip\.yaml:4: spec\.clusterIP.*\n", printed.err)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["records"], "give one of --manifests PATH, --kubeconfig FILE and --conf COREFILE"),
        (["explain", "web", "--manifests", "k8s", "--conf", "Corefile"], "give one of"),
        (["serve", "--conf", "Corefile", "--zone", "x"], "go without a Corefile"),
        (["serve", "--conf", "Corefile", "--listen", "::1"], "go without --conf"),
        (["records", "--manifests", "nothing-here"], "nothing-here"),
        (["records", "--conf", "nothing-here"], "nothing-here"),
        (["records", "--conf", "Broken"], "kubernets"),
        (["records", "--conf", "Empty"], "no cluster is served"),
        (["records", "--manifests", "k8s", "--only", "example"], "none of the cluster's zones"),
        (["records", "--manifests", "k8s", "--only", "a..b"], "empty label"),
        (["records", "--manifests", "k8s", "--zone", "a..b"], "a..b"),
        (["records", "--manifests", "k8s", "--service-cidr", "10.0.0.0/99"], "10.0.0.0/99"),
        (["records", "--manifests", "k8s", "--pod-cidr", "10.0.0.0/31"], "no room"),
        (["explain", "web", "--manifests", "k8s", "-n", "a.b"], "'a.b' is no name of a namespace"),
        (["explain", "a..b", "--manifests", "k8s"], "empty label"),
        (["explain", "web", "--search", "a..b", "--manifests", "k8s"], "empty label"),
        (["serve", "--manifests", "k8s", "--listen", "192.0.2.1"], "192.0.2.1"),
    ],
)
def test_bad_input_is_one_line_and_status_2(
    arguments: list[str], line: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "Broken").write_text(". {\n    kubernets\n}\n")
    (folder / "Empty").write_text(". {\n    errors\n}\n")
    assert main(arguments) == 2
    printed = capsys.readouterr().err
    assert line in printed
    assert printed.count("\n") == 1


@pytest.mark.parametrize(
    "arguments", [[], ["-dns.port=1053"], ["-conf", "Broken"], ["-conf=nothing-here"], ["-conf", "stdin"]]
)
def test_a_bad_configuration_is_status_1_under_corednss_flags(
    arguments: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "Broken").write_text(". {\n    kubernets\n}\n")
    monkeypatch.setattr("sys.stdin", io.StringIO("nonsense {\n"))
    if arguments[:1] == ["-dns.port=1053"]:
        (folder / "Corefile").unlink()
    if not arguments:
        (folder / "Corefile").write_text("nonsense {\n")
    assert main(arguments) == 1
    assert capsys.readouterr().err.startswith("kubedns: ")
