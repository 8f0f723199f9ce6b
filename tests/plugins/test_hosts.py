"""hosts: what a name has, what goes on, and what changes with the file."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from kubedns.corefile.parser import parse_corefile
from kubedns.dns.answer import Answer, Rcode
from kubedns.errors import ConfigurationErrors
from kubedns.plugins.hosts import HostsPlugin
from kubedns.server.build import Settings, build_server
from kubedns.server.files import DiskFiles
from kubedns.server.server import Server
from tests.plugins.asking import query_for

FILE = "10.0.0.1 a.test both.test\n10.0.0.2 a.test\n2001:db8::1 six.test\n10.0.0.9 out.example\n"
INLINE = "192.0.2.1 inline.test both.test\n"
CASES = [
    ("a.test.", "A", "NOERROR", ["a.test. 3600 IN A 10.0.0.1", "a.test. 3600 IN A 10.0.0.2"]),
    ("A.test.", "A", "NOERROR", ["A.test. 3600 IN A 10.0.0.1", "A.test. 3600 IN A 10.0.0.2"]),
    ("a.test.", "AAAA", "NOERROR", []),
    ("a.test.", "TXT", "NOERROR", []),
    ("six.test.", "AAAA", "NOERROR", ["six.test. 3600 IN AAAA 2001:db8::1"]),
    ("inline.test.", "A", "NOERROR", ["inline.test. 3600 IN A 192.0.2.1"]),
    ("both.test.", "A", "NOERROR", ["both.test. 3600 IN A 192.0.2.1"]),
    ("none.test.", "A", "SERVFAIL", []),
    ("out.example.", "A", "REFUSED", []),
    ("1.0.0.10.in-addr.arpa.", "PTR", "NOERROR",
     ["1.0.0.10.in-addr.arpa. 3600 IN PTR a.test.", "1.0.0.10.in-addr.arpa. 3600 IN PTR both.test."]),
    ("7.0.0.10.in-addr.arpa.", "PTR", "REFUSED", []),
]  # fmt: skip


def server(folder: Path, body: str = INLINE) -> Server:
    text = f".:1053 {{\nhosts hosts test {{\n{body}\n}}\n}}"
    blocks = parse_corefile(text, str(folder / "Corefile"), DiskFiles(), {}).blocks
    return build_server(blocks, Settings())


def ask(served: Server, name: str, rdtype: str = "A") -> Answer:
    return asyncio.run(next(iter(served.resolvers.values())).answer(query_for(name, rdtype)))


def lines(answer: Answer) -> list[str]:
    return [line for rrset in answer.answer for line in rrset.lines()]


@pytest.mark.parametrize(("name", "rdtype", "rcode", "records"), CASES)
def test_what_a_name_has(tmp_path: Path, name: str, rdtype: str, rcode: str, records: list[str]) -> None:
    (tmp_path / "hosts").write_text(FILE)
    answer = ask(server(tmp_path), name, rdtype)
    assert (answer.rcode.name, lines(answer)) == (rcode, records)


OPTIONS = [
    ("fallthrough", "none.test.", "A", Rcode.REFUSED),
    ("fallthrough x.test", "none.test.", "A", Rcode.SERVFAIL),
    ("fallthrough x.test", "none.x.test.", "A", Rcode.REFUSED),
    ("no_reverse", "1.0.0.10.in-addr.arpa.", "PTR", Rcode.REFUSED),
]


@pytest.mark.parametrize(("option", "name", "rdtype", "rcode"), OPTIONS)
def test_what_goes_on(tmp_path: Path, option: str, name: str, rdtype: str, rcode: Rcode) -> None:
    (tmp_path / "hosts").write_text(FILE)
    assert ask(server(tmp_path, option), name, rdtype).rcode is rcode


def test_answers_are_void_as_soon_as_a_change_is_seen(tmp_path: Path) -> None:
    served = server(tmp_path, "ttl 7\nfallthrough\nreload 10ms")
    assert lines(ask(served, "a.test.")) == []
    missing = ask(served, "a.test.")
    (plugin,) = served.plugins
    assert isinstance(plugin, HostsPlugin)

    async def follow() -> None:
        generation = served.lasting.cache.generation
        plugin.start(served.plugins)
        other = tmp_path / "new"
        other.write_text("10.0.0.5 a.test")
        os.replace(other, tmp_path / "hosts")
        async with asyncio.timeout(60):
            while served.lasting.cache.generation == generation:
                await asyncio.sleep(0.01)
        plugin.close()

    asyncio.run(follow())
    found = ask(served, "a.test.")
    assert lines(found) == ["a.test. 7 IN A 10.0.0.5"]
    assert found.depends_on == missing.depends_on != frozenset()


FAULTS = [
    (
        "falthrough",
        "Corefile:3: hosts falthrough: `falthrough` is no address, and no option; did you mean `fallthrough`?",
    ),
    ("10.0.0.1", "Corefile:3: hosts 10.0.0.1: 10.0.0.1 has no name; write an address, then its names"),
    ("ttl -1", "Corefile:3: hosts ttl: `-1` is no whole number; SECONDS: 0 to 65535"),
]


@pytest.mark.parametrize(("body", "expected"), FAULTS)
def test_faults_are_told_with_line_and_remedy(tmp_path: Path, body: str, expected: str) -> None:
    with pytest.raises(ConfigurationErrors) as error:
        server(tmp_path, body)
    assert str(error.value).removeprefix(f"{tmp_path}/") == expected
