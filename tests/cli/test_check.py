"""kubedns check and convert: what they say of every kind of configuration, and the exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kubedns.cli.main import main
from tests.support.certificates import write_certificate
from tests.support.golden import assert_golden

COREFILE = """
(common) {
    errors
    cache 30
}
cluster.local:1053 in-addr.arpa:1053 {
    import common
    kubernetes {
        pods verified
    }
}
.:1053 tls://.:1853 {
    import common
    forward . 192.0.2.1 192.0.2.2:5353 {
        expire 5s
    }
    pprof
}
"""
CONFIG_MAPS = """
apiVersion: v1
kind: ConfigMap
metadata: {name: coredns}
data:
  Corefile: |
    . {
        whoami
    }
---
apiVersion: v1
kind: ConfigMap
metadata: {name: kube-dns}
data:
  stubDomains: |
    {"corp.example": ["192.0.2.53"]}
  upstreamNameservers: |
    ["192.0.2.8"]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a configuration of every kind, which the commands are run in."""
    write_certificate(tmp_path)
    (tmp_path / "Corefile").write_text(COREFILE.replace("    pprof\n", "    pprof\n    tls cert.pem key.pem\n"))
    (tmp_path / "bad").write_text(". {\n    cahce\n    forward . nowhere\n}\n")
    (tmp_path / "empty").write_text("# nothing\n")
    (tmp_path / "maps.yaml").write_text(CONFIG_MAPS)
    (tmp_path / "broken.yaml").write_text("a: [\n")
    (tmp_path / "service.yaml").write_text("apiVersion: v1\nkind: Service\n")
    for name, text in (("good", '{"a.test": ["192.0.2.1"]}'), ("wrong", '{"a.test": ["nowhere"]}')):
        (tmp_path / name).mkdir()
        (tmp_path / name / "stubDomains").write_text(text)
    (tmp_path / "good" / "upstreamNameservers").write_text('["192.0.2.8"]')
    (tmp_path / "coredns").mkdir()
    (tmp_path / "coredns" / "Corefile").write_text(".:53 {\n    whoami\n}\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


CHECKS = [
    ("check-corefile", 0, []),
    ("check-faults", 2, ["bad", "empty", "missing", "broken.yaml", "service.yaml", "wrong", "nowhere"]),
    ("check-configmaps", 0, ["maps.yaml", "good", "coredns"]),
]


@pytest.mark.parametrize(("golden", "status", "paths"), CHECKS)
def test_check(golden: str, status: int, paths: list[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", *paths]) == status
    assert_golden(f"{golden}.txt", capsys.readouterr().out)


def test_check_in_json_says_the_same(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "Corefile", "bad", "-o", "json", "--port", "1053"]) == 2
    good, bad = json.loads(capsys.readouterr().out)
    assert [block["zones"] for block in good["blocks"]] == [["cluster.local.", "in-addr.arpa."], ["."], ["."]]
    assert good["blocks"][1]["upstreams"] == ["192.0.2.1:53", "192.0.2.2:5353"]
    assert (good["faults"], len(good["warnings"])) == ([], 1)
    assert (len(bad["faults"]), bad["blocks"]) == (2, [])


@pytest.mark.parametrize(
    ("path", "octets", "fault"),
    [
        ("missing", None, "cannot read missing: No such file or directory"),
        ("missing.yaml", None, "cannot read missing.yaml: No such file or directory"),
        ("odd.yaml", b"\xff", "cannot read odd.yaml: it is no UTF-8 text"),
        ("odd.json", b"{", "odd.json:2: no YAML: "),
        ("odd.yaml", b"kind: ConfigMap\ndata: 5\n", "odd.yaml: data of a ConfigMap is no mapping"),
        ("odd.yaml", b"kind: ConfigMap\nmetadata: a\n", "odd.yaml: metadata of a ConfigMap is no mapping"),
        ("odd.yaml", b"kind: List\nitems: 5\n", "odd.yaml: no ConfigMap in it"),
        ("odd.yaml", b"kind: List\nitems: [5]\n", "odd.yaml: no ConfigMap in it"),
    ],
)
def test_what_cannot_be_read_is_a_fault_like_others(
    path: str, octets: bytes | None, fault: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if octets is not None:
        (folder / path).write_bytes(octets)
    assert main(["check", path, "Corefile", "-o", "json"]) == 2
    printed = capsys.readouterr()
    unread, read = json.loads(printed.out)
    assert [each[: len(fault)] for each in unread.pop("faults")] == [fault]
    assert unread == {"name": path, "blocks": [], "warnings": []}
    assert (read["faults"], printed.err) == ([], "")


@pytest.mark.parametrize("path", ["maps.yaml", "good"])
def test_what_is_converted_is_good(path: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", path, "--output", "made", "--zone", "k8s.example"]) == 0
    assert main(["check", "made"]) == 0
    shown = capsys.readouterr().out
    assert "made: good" in shown
    assert "kubernetes k8s.example in-addr.arpa" in Path("made").read_text()


def test_a_configmap_is_converted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "maps.yaml"]) == 0
    assert_golden("convert.Corefile", capsys.readouterr().out)


def test_federations_are_kept_for_this_cluster(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "good" / "federations").write_text('{"myfed": "fed.example.com"}')
    assert main(["check", "good"]) == 2
    assert "federations are gone from Kubernetes" in capsys.readouterr().out
    assert main(["convert", "good", "--output", "made", "--zone", "k8s.example"]) == 0
    assert capsys.readouterr().err == "good: federation myfed is kept for this cluster's own Services alone\n"
    rule = r"rewrite name regex ^([^.]+)\.([^.]+)\.myfed\.svc\.k8s\.example\.$ {1}.{2}.svc.k8s.example."
    assert rule in Path("made").read_text()
    assert main(["check", "made"]) == 0


NOTHING = [("wrong", "`nowhere` is no address"), ("service.yaml", "no ConfigMap in it"), ("missing", "cannot read")]


@pytest.mark.parametrize(("path", "fault"), NOTHING)
def test_what_cannot_be_converted_is_told(
    path: str, fault: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["convert", path]) == 2
    assert fault in capsys.readouterr().err
