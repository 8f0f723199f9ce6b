"""What falls through to an upstream is kept by ``cache``, until what it fell through may have it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kubedns.corefile.parser import parse_corefile
from kubedns.plugins.hosts import HostsPlugin
from kubedns.server.build import Settings, build_server
from kubedns.server.files import DiskFiles
from kubedns.server.server import Server
from tests.plugins.asking import query_for
from tests.upstream.fakes import FakeUpstream, reply

COREFILE = """.:1053 {{
    cache
    {line}
    forward . {upstream}
}}
"""
CLUSTER = """apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {clusterIP: 10.96.0.1}
"""
WAYS = [
    ("", "www.test.", "A"),
    ("hosts hosts {\n fallthrough\n }", "www.test.", "A"),
    ("file zone test {\n fallthrough\n }", "www.test.", "A"),
    (
        "kubernetes cluster.local in-addr.arpa {\n manifests cluster.yaml\n fallthrough in-addr.arpa\n }",
        "1.2.0.192.in-addr.arpa.",
        "PTR",
    ),
    ("rewrite name www.test www.other.test", "www.test.", "A"),
    ("dns64", "www.test.", "A"),
    ("minimal", "www.test.", "A"),
]


def built(folder: Path, line: str, upstream: FakeUpstream, before: Server | None = None, above: str = "") -> Server:
    (folder / "zone").write_text("@ 60 SOA ns host 1 2 3 4 5\n")
    (folder / "cluster.yaml").write_text(CLUSTER)
    text = above + COREFILE.format(line=line, upstream=upstream.address)
    return build_server(parse_corefile(text, str(folder / "Corefile"), DiskFiles(), {}).blocks, Settings(), before)


def upstream() -> FakeUpstream:
    return FakeUpstream(
        lambda query, transport: [
            reply(query, f"{query.question[0].name} 300 IN A 192.0.2.1")
            if query.question[0].rdtype == 1
            else reply(query, f"{query.question[0].name} 300 IN PTR www.test.")
        ]
    )


def aliasing() -> FakeUpstream:
    return FakeUpstream(
        lambda query, transport: [
            reply(query, f"{query.question[0].name} 300 IN CNAME a.test.", "a.test. 300 IN A 192.0.2.1")
        ]
    )


@pytest.mark.parametrize(("line", "name", "rdtype"), WAYS, ids=[row[0].split(" ")[0] for row in WAYS])
def test_an_upstream_is_asked_once_whatever_stands_before_it(line: str, name: str, rdtype: str, tmp_path: Path) -> None:
    async def run() -> list[str]:
        fake = upstream()
        await fake.start()
        server = built(tmp_path, line, fake)
        try:
            await server.load()
            for _ in range(3):
                (resolver, *_) = server.resolvers.values()
                assert (await resolver.answer(query_for(name, rdtype))).answer
        finally:
            server.close()
            await fake.stop()
        return fake.asked

    assert asyncio.run(run()) == ["udp"]


def test_a_name_that_turns_up_in_a_file_is_answered_from_it_at_once(tmp_path: Path) -> None:
    async def run() -> list[str]:
        fake = upstream()
        await fake.start()
        server = built(tmp_path, "hosts hosts {\n fallthrough\n }", fake)
        (hosts,) = (plugin for plugin in server.plugins if isinstance(plugin, HostsPlugin))
        (resolver, *_) = server.resolvers.values()
        found = []
        try:
            for text in ("", "192.0.2.7 www.test\n", "# gone\n"):
                (tmp_path / "hosts").write_text(text)
                hosts._file.look()
                for _ in range(2):
                    (rrset,) = (await resolver.answer(query_for("www.test."))).answer
                    found += [line.rsplit(" ", 1)[1] for line in rrset.lines()]
        finally:
            server.close()
            await fake.stop()
        assert len(fake.asked) == 2
        return found

    assert asyncio.run(run()) == ["192.0.2.1", "192.0.2.1", "192.0.2.7", "192.0.2.7", "192.0.2.1", "192.0.2.1"]


CHANGED = [
    ("other lines above", "", "# a comment\n\n", 1),
    ("another block beside", "", "other.test:1054 {\n whoami\n}\n", 1),
    ("another block beside, and an alias", "", "other.test:1054 {\n whoami\n}\n", 2),
    ("another plugin", "minimal", "", 2),
]


@pytest.mark.parametrize(("change", "line", "above", "asked"), CHANGED, ids=[row[0] for row in CHANGED])
@pytest.mark.parametrize("takes_over", [True, False])
def test_what_is_kept_outlives_a_change_of_something_else(
    takes_over: bool, change: str, line: str, above: str, asked: int, tmp_path: Path
) -> None:
    async def run() -> None:
        fake = aliasing() if "alias" in change else upstream()
        await fake.start()
        old = built(tmp_path, "", fake)
        resolver = next(iter(old.resolvers.values()))
        assert (await resolver.answer(query_for("www.test."))).answer
        new = built(tmp_path, line, fake, old, above)
        if takes_over:
            new.started()
            old.close()
            resolver = next(each for address, each in new.resolvers.items() if address.port == 1053)
        else:
            # Something about it was wrong after all.
            new.close()
        new.exposition.run_on(asyncio.get_running_loop())
        shown = await asyncio.to_thread(new.exposition)
        assert (await resolver.answer(query_for("www.test."))).answer
        assert len(fake.asked) == (asked if takes_over else 1)
        entries = 'coredns_cache_entries{server="dns://:1053",type="success",view="",zones="."}'
        if takes_over:
            assert f"{entries} {1.0 if asked == 1 else 0.0}" in shown
        (new if takes_over else old).close()
        await fake.stop()

    asyncio.run(run())
