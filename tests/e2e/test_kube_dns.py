"""A mounted ConfigMap of kube-dns is served, and its changes are taken over while queries are answered."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from tests.e2e.test_corefiles import CLUSTER, OUTSIDE
from tests.e2e.test_reload import Load, until
from tests.support.certificates import write_certificate
from tests.support.process import Running, free_port, running

PROBE = "web.shop.svc.cluster.local."


def mount(folder: Path, version: str, texts: dict[str, str]) -> None:
    """Write the ConfigMap as a kubelet does: a folder of its own, and a link that changes at once."""
    (folder / version).mkdir()
    for key, text in texts.items():
        (folder / version / key).write_text(text)
        if not (folder / key).is_symlink():
            (folder / key).symlink_to(f"..data/{key}")
    made = folder / "..data_tmp"
    made.symlink_to(version)
    os.replace(made, folder / "..data")


def rcode(server: Running, name: str) -> int:
    return int(server.ask(name).rcode())


def test_changes_of_the_configmap_are_taken_over(tmp_path: Path) -> None:
    outside, tls, port = free_port(), free_port(), free_port()
    (tmp_path / "outside").mkdir()
    write_certificate(tmp_path / "outside")
    (tmp_path / "outside" / "Corefile").write_text(OUTSIDE.format(port=outside, tls=tls))
    folder = tmp_path / "config"
    folder.mkdir()
    nowhere, there = '["192.0.2.1:9"]', f'["127.0.0.1:{outside}"]'
    mount(folder, "1", {"upstreamNameservers": there, "stubDomains": f'{{"corp.example": {there}}}'})
    flags = ["serve", "--manifests", str(CLUSTER), "--kube-dns-config", str(folder), "--port", str(port)]
    with (
        running(["-conf", str(tmp_path / "outside" / "Corefile")], outside, tmp_path / "log1"),
        running(flags, port, tmp_path / "log2", probe=PROBE) as server,
    ):
        assert rcode(server, PROBE) == 0
        assert server.ask("www.corp.example.").answer
        assert server.ask("www.outside.example.").answer
        with Load(port) as load:
            mount(folder, "2", {"upstreamNameservers": there, "stubDomains": '{"corp.example": "broken"}'})
            server.process.send_signal(signal.SIGHUP)
            until(lambda: "has no list of servers" in server.log.read_text())
            assert server.ask("www.corp.example.").answer
            mount(folder, "3", {"upstreamNameservers": there, "stubDomains": f'{{"corp.example": {nowhere}}}'})
            server.process.send_signal(signal.SIGHUP)
            until(lambda: "the changed configuration is in force" in server.log.read_text())
        assert load.answered
        assert not load.lost
        assert rcode(server, "other.corp.example.") == 2
        assert server.ask("www.outside.example.").answer
        assert server.stop() == 0
