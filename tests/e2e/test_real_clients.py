"""Fifteen resolvers that real programs use, each in a network namespace with the server on port 53: all must agree."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CLUSTER = HERE.parent / "conformance" / "cluster.yaml"
TOOLS = ("unshare", "gcc", "musl-gcc", "busybox", "ruby", "javac", "node", "nslookup")
MISSING = [tool for tool in TOOLS if not shutil.which(tool)]

SCRIPT = """
ip link set lo up
{python} -m kubedns serve --manifests {manifests} --listen 127.0.0.1 --port 53 > {folder}/log 2>&1 &
server=$!
tries=0
until {python} -c 'import dns.message, dns.query, sys
dns.query.udp(dns.message.make_query(".", "A"), "127.0.0.1", timeout=0.5)' 2> /dev/null; do
    tries=$((tries + 1)); [ $tries -lt 300 ] || exit 9; sleep 0.1
done
PYTHON={python} bash {clients} --work {folder}/clients "$@"
status=$?
kill $server
exit $status
"""

QUESTIONS = {
    "cluster-ip": ("web.shop", ["--expect", "10.96.10.1"]),
    "dual-stack": ("web-dual.shop", ["--expect", "10.96.10.2,fd00:10:96::a02"]),
    "headless": (
        "db.data",
        [
            *("--expect", "10.244.2.10,10.244.2.11,10.244.2.12"),
            *("--srv", "_pg._tcp.db.data.svc.cluster.local", "--ptr", "10.244.2.10"),
        ],
    ),
    "alias": ("in-web.ext", ["--expect", "10.96.10.1"]),
}
"""What a pod of the namespace asks for; one label, since busybox takes no other to the search list."""


def typed_in_a_pod(name: str) -> list[str]:
    """Arguments for asking as a pod of the Service's own namespace does."""
    service, namespace = name.split(".")
    search = f"{namespace}.svc.cluster.local svc.cluster.local cluster.local"
    return ["--search", search, "--full", f"{name}.svc.cluster.local", service]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root for namespaces of its own")
@pytest.mark.skipif(bool(MISSING), reason=f"not installed: {' '.join(MISSING)}")
@pytest.mark.parametrize("question", QUESTIONS)
def test_every_client_finds_the_same(question: str, tmp_path: Path) -> None:
    name, expected = QUESTIONS[question]
    script = SCRIPT.format(python=sys.executable, manifests=CLUSTER, folder=tmp_path, clients=HERE / "real_clients.sh")
    done = subprocess.run(
        ["unshare", "--net", "bash", "-c", script, "clients", *expected, *typed_in_a_pod(name)],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stdout + done.stderr
    assert sum("\tok" in line for line in lines) == 15, done.stdout
    assert not [line for line in lines if "absent" in line]
    for what, answer in (("srv", "db-0.db.data.svc.cluster.local"), ("ptr", "db-0.db.data.svc.cluster.local")):
        found = [line for line in lines if line.split("\t")[1] == what]
        assert len(found) == (5 if question == "headless" else 0)
        assert all(answer in line for line in found), done.stdout
