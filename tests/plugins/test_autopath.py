"""autopath: whose search list is tried, in which order, and what the client is told."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

from kubedns.corefile.parser import parse_corefile
from kubedns.dns.answer import Answer
from kubedns.dns.question import Client, Transport
from kubedns.errors import ConfigurationErrors
from kubedns.server.build import Settings, build_server
from kubedns.server.files import DiskFiles
from kubedns.server.server import Server
from tests.plugins.asking import query_for

MANIFEST = """
{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop}, status: {podIP: 10.1.2.3}}
---
{apiVersion: v1, kind: Service, metadata: {name: web, namespace: shop}, spec: {clusterIP: 10.96.0.1}}
---
{apiVersion: v1, kind: Service, metadata: {name: db, namespace: other}, spec: {clusterIP: 10.96.0.2}}
---
{apiVersion: v1, kind: Service, metadata: {name: out, namespace: other},
 spec: {type: ExternalName, externalName: www.example}}
"""
OUTSIDE = r"""
template ANY A example {
    match ^(www|host\.corp)\.example\.$
    answer "{{ .Name }} 3600 IN A 192.0.2.1"
    fallthrough
}
template ANY ANY www.example {
    rcode NOERROR
}
template ANY ANY example {
    rcode NXDOMAIN
}
"""
"""Stands for an upstream."""
ALIAS = "{} 5 IN CNAME {}"
CASES = [
    ("own list", "web.shop.svc.cluster.local.", "A", "NOERROR", ["web.shop.svc.cluster.local. 5 IN A 10.96.0.1"]),
    ("second domain", "db.other.shop.svc.cluster.local.", "A", "NOERROR",
     [ALIAS.format("db.other.shop.svc.cluster.local.", "db.other.svc.cluster.local."),
      "db.other.svc.cluster.local. 5 IN A 10.96.0.2"]),
    ("third domain", "db.other.svc.shop.svc.cluster.local.", "A", "NOERROR",
     [ALIAS.format("db.other.svc.shop.svc.cluster.local.", "db.other.svc.cluster.local."),
      "db.other.svc.cluster.local. 5 IN A 10.96.0.2"]),
    ("the name itself", "www.example.shop.svc.cluster.local.", "A", "NOERROR",
     ["www.example.shop.svc.cluster.local. 3600 IN CNAME www.example.", "www.example. 3600 IN A 192.0.2.1"]),
    ("NODATA ends it, without an alias", "www.example.shop.svc.cluster.local.", "AAAA", "NOERROR", []),
    ("nowhere", "none.shop.svc.cluster.local.", "A", "NXDOMAIN", []),
    ("another pod's list", "www.example.other.svc.cluster.local.", "A", "NXDOMAIN", []),
    ("no name in front", "shop.svc.cluster.local.", "A", "NOERROR", []),
]  # fmt: skip


def server(folder: Path, path: str = "@kubernetes", pods: str = "verified") -> Server:
    (folder / "objects.yaml").write_text(MANIFEST)
    kubernetes = f"kubernetes cluster.local {{\nmanifests objects.yaml\npods {pods}\n}}"
    text = f".:1053 {{\nautopath cluster.local {path}\n{kubernetes}\n{OUTSIDE}}}"
    blocks = parse_corefile(text, str(folder / "Corefile"), DiskFiles(), {}).blocks
    return build_server(blocks, Settings())


def ask(served: Server, name: str, rdtype: str = "A", client: str = "10.1.2.3") -> Answer:
    address = Client(bytes(map(int, client.split("."))), client, 1, Transport.UDP)

    async def asked() -> Answer:
        assert not await served.load()
        return await next(iter(served.resolvers.values())).answer(query_for(name, rdtype, address))

    return asyncio.run(asked())


def lines(answer: Answer) -> list[str]:
    return [line for rrset in answer.answer for line in rrset.lines()]


@pytest.mark.parametrize(
    ("name", "rdtype", "rcode", "records"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_the_search_list_of_a_pod_is_tried(
    tmp_path: Path, name: str, rdtype: str, rcode: str, records: list[str]
) -> None:
    answer = ask(server(tmp_path), name, rdtype)
    assert (answer.rcode.name, lines(answer)) == (rcode, records)


def test_a_client_that_is_no_pod_gets_what_there_is(tmp_path: Path) -> None:
    answer = ask(server(tmp_path), "www.example.shop.svc.cluster.local.", client="10.9.9.9")
    assert answer.rcode.name == "NXDOMAIN"
    assert answer.varies_by_client


def test_what_was_made_for_a_client_is_kept_for_nobody(tmp_path: Path) -> None:
    assert ask(server(tmp_path), "www.example.shop.svc.cluster.local.").varies_by_client
    assert not ask(server(tmp_path), "web.shop.svc.cluster.local.").varies_by_client


def test_a_file_gives_everybody_its_list(tmp_path: Path) -> None:
    (tmp_path / "resolv.conf").write_text("search nowhere.example\nsearch shop.svc.cluster.local corp.example bad..\n")
    answer = ask(server(tmp_path, "resolv.conf"), "host.shop.svc.cluster.local.", client="10.9.9.9")
    assert lines(answer)[0] == "host.shop.svc.cluster.local. 3600 IN CNAME host.corp.example."
    assert not answer.varies_by_client


@pytest.mark.parametrize("name", ["www.example.shop.svc.cluster.local.", "none.shop.svc.cluster.local."])
def test_what_everybody_is_given_is_void_once_an_earlier_domain_may_have_the_name(tmp_path: Path, name: str) -> None:
    (tmp_path / "resolv.conf").write_text("search shop.svc.cluster.local svc.cluster.local cluster.local\n")
    served = server(tmp_path, "resolv.conf")
    found = ask(served, name).depends_on
    for candidate in (name, name.replace(".shop.", "."), name.replace(".shop.svc.", ".")):
        missing = ask(server(tmp_path), candidate, client="10.9.9.9").depends_on
        assert missing
        assert missing <= found


FAULTS = [("missing", "cannot be read"), ("empty", "no search line")]


@pytest.mark.parametrize(("file", "message"), FAULTS)
def test_a_list_that_cannot_be_had_is_a_fault(tmp_path: Path, file: str, message: str) -> None:
    (tmp_path / "empty").write_text("nameserver 192.0.2.1\n")
    with pytest.raises(ConfigurationErrors, match=message):
        server(tmp_path, file)


@pytest.mark.parametrize(("pods", "warned"), [("verified", False), ("insecure", True), ("disabled", True)])
def test_pods_that_nobody_watches_are_told_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, pods: str, warned: bool
) -> None:
    with caplog.at_level(logging.WARNING):
        server(tmp_path, pods=pods).started()
    assert ("pods verified" in caplog.text) is warned
