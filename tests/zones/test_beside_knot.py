"""The same zone in Knot DNS and here: thousands of questions, and not one answer that differs."""

from __future__ import annotations

import asyncio
import random
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import dns.flags
import dns.message
import dns.query
import dns.rcode
import pytest

from kubedns.dns.answer import Answer
from kubedns.dns.rdata import TYPE_NUMBERS
from kubedns.server.server import Server
from tests.plugins.asking import query_for
from tests.plugins.test_file import built
from tests.support.process import PATIENCE_SECONDS, free_port
from tests.zones.zones import TEXT

LABELS = ["a", "b", "c", "deep", "www", "mail", "wild", "sub", "ns", "old", "x", "*", "alias", "loop", "new", "other"]
TYPES = ["A", "AAAA", "TXT", "NS", "MX", "SRV", "CNAME", "SOA", "DS", "DNAME"]
QUESTIONS = 4000
KNOT = """
server:
    listen: 127.0.0.1@{port}
    rundir: {folder}
database:
    storage: {folder}
zone:
  - domain: example.org
    file: {folder}/zone
    semantic-checks: soft
"""


@pytest.fixture(scope="module")
def knot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    if shutil.which("knotd") is None:
        pytest.skip("no knotd here")
    folder, port = tmp_path_factory.mktemp("knot"), free_port()
    (folder / "zone").write_text(zone_text())
    (folder / "knot.conf").write_text(KNOT.format(port=port, folder=folder))
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(["knotd", "-c", str(folder / "knot.conf")], stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            assert process.poll() is None, (folder / "log").read_text()
            try:
                asked = dns.query.udp(dns.message.make_query("example.org.", "SOA"), "127.0.0.1", 1, port)
            except (dns.exception.Timeout, OSError):
                asked = None
            if asked is not None and asked.answer:
                break
            assert time.monotonic() < deadline
            time.sleep(0.05)
        yield port
    finally:
        process.terminate()
        process.wait()


def zone_text() -> str:
    """The common zone, without what Knot does not take, and more random names."""
    chosen = random.Random(2)
    text = "\n".join(line for line in TEXT.splitlines() if not line.startswith(("$GENERATE", "loop", "outside")))
    owners = {".".join(chosen.choices(LABELS[:9], k=chosen.randint(2, 4))) for _ in range(60)}
    return (
        text
        + "\n$ORIGIN example.org.\n"
        + "".join(f"{owner}.r A 192.0.2.{at}\n" for at, owner in enumerate(sorted(owners), 20))
    )


def names(chosen: random.Random) -> str:
    labels = chosen.choices(LABELS, k=chosen.randint(0, 4))
    return ".".join([*labels, *chosen.choice(([], ["r"], ["wild"], ["sub"], ["old"])), "example.org."])


def test_not_one_answer_differs(knot: int, tmp_path: Path) -> None:
    (tmp_path / "zone").write_text(zone_text())
    server = built(tmp_path, "file zone example.org", "example.org:1053")
    chosen = random.Random(1)
    differing = []
    for _ in range(QUESTIONS):
        name, rdtype = names(chosen), chosen.choice(TYPES)
        theirs = dns.query.udp(dns.message.make_query(name, rdtype), "127.0.0.1", PATIENCE_SECONDS, knot)
        ours = ask(server, name, rdtype)
        if of_ours(ours) != of_theirs(theirs):
            differing.append((name, rdtype, of_ours(ours), of_theirs(theirs)))
    assert not differing, differing[:3]


def ask(server: Server, name: str, rdtype: str) -> Answer:
    return asyncio.run(next(iter(server.resolvers.values())).answer(query_for(name, rdtype)))


Shown = tuple[str, bool, list[str], list[str]]


def of_theirs(found: dns.message.Message) -> Shown:
    aa = bool(found.flags & dns.flags.AA)
    answer = [f"{each.name} {each.ttl} {each.rdtype} {len(each)}".lower() for each in found.answer]
    authority = [f"{each.name} {each.rdtype}".lower() for each in found.authority if shows(each.rdtype, found.answer)]
    return dns.rcode.to_text(found.rcode()), aa, sorted(answer), sorted(authority)


def of_ours(found: Answer) -> Shown:
    answer = [f"{each.owner} {each.ttl} {each.type} {len(each.rdatas)}".lower() for each in found.answer]
    authority = [f"{each.owner} {each.type}".lower() for each in found.authority]
    return found.rcode.name, found.authoritative, sorted(answer), sorted(authority)


def shows(rdtype: int, answer: Sequence[object]) -> bool:
    """Whether a record of the authority section says something: NS of the zone beside an answer does not."""
    return rdtype != TYPE_NUMBERS["NS"] or not answer
