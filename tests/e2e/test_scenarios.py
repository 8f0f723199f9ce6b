"""The hostnames application, as a cluster holds it and as a developer writes it, asked by foreign programs."""

from __future__ import annotations

import ipaddress
import os
import shutil
import subprocess
import sys
from pathlib import Path

import dns.rcode
import dns.reversename
import pytest
import yaml

from tests.support.process import free_port, running

SCENARIOS = Path(__file__).parent / "scenarios"
EXPECTED = yaml.safe_load((SCENARIOS / "expected.yaml").read_text())


@pytest.mark.parametrize("manifest", EXPECTED)
def test_what_a_cluster_holds_is_answered(manifest: str, tmp_path: Path) -> None:
    port = free_port()
    arguments = ["serve", "--manifests", str(SCENARIOS / manifest), "--port", str(port)]
    with running(arguments, port, tmp_path / "log") as server:
        for case in EXPECTED[manifest]:
            response = server.ask(case["name"], case["type"])
            assert dns.rcode.to_text(response.rcode()) == case["rcode"]
            assert {rrset.ttl for rrset in response.answer} == {5}
            found = [rdata.to_text() for rrset in response.answer for rdata in rrset]
            assert sorted(found) == sorted(case["answer"]), case["name"]


POD_RESOLV_CONF = (
    "nameserver 127.0.0.1\nsearch default.svc.cluster.local svc.cluster.local cluster.local\noptions ndots:5\n"
)
POD = """
ip link set lo up
mount --bind {folder}/resolv.conf /etc/resolv.conf
{python} -m kubedns serve --manifests {manifest} --listen 127.0.0.1 --port 53 > {folder}/log 2>&1 &
server=$!
tries=0
until nslookup hostnames > {folder}/out 2>&1; do
    tries=$((tries + 1)); [ $tries -lt 300 ] || break; sleep 0.1
done
for name in "$@"; do nslookup "$name"; echo "status $?"; done
kill $server
wait $server
"""


def nslookup(manifest: str, folder: Path, *names: str) -> str:
    """What nslookup prints for names as a pod types them, in namespaces of its own with the server on port 53."""
    (folder / "resolv.conf").write_text(POD_RESOLV_CONF)
    script = POD.format(folder=folder, python=sys.executable, manifest=SCENARIOS / manifest)
    done = subprocess.run(
        ["unshare", "--net", "--mount", "bash", "-c", script, "pod", *names],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    return done.stdout + done.stderr


def addresses(output: str) -> list[str]:
    """The addresses after the server's own."""
    lines = [line.split()[-1] for line in output.splitlines() if line.startswith("Address")]
    return [line for line in lines if "#" not in line]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root for namespaces of its own")
@pytest.mark.skipif(not shutil.which("nslookup") or not shutil.which("unshare"), reason="nslookup is not installed")
@pytest.mark.parametrize("kind", ["deployment", "statefulset"])
def test_what_a_developer_writes_is_found_by_nslookup(kind: str, tmp_path: Path) -> None:
    manifest = f"hostnames-app-{kind}.yaml"
    output = nslookup(manifest, tmp_path, "hostnames")
    found = addresses(output)
    assert len(found) == (1 if kind == "deployment" else 3), output
    assert "hostnames.default.svc.cluster.local" in output
    if kind == "statefulset":
        (first,) = addresses(nslookup(manifest, tmp_path, "hostnames-0.hostnames"))
        assert first in found
    reverse = nslookup(manifest, tmp_path, found[0])
    assert dns.reversename.from_address(found[0]).to_text(omit_final_dot=True) in reverse
    assert "hostnames.default.svc.cluster.local" in reverse
    assert ipaddress.ip_address(found[0])
