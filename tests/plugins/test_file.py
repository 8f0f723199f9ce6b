"""file, auto and root: which zone answers, what changes with the files, what stays while they are broken."""

from __future__ import annotations

import asyncio
import logging
import threading
from pathlib import Path

import pytest

from kubedns.corefile.parser import parse_corefile
from kubedns.dns.answer import Answer
from kubedns.dns.names import Name
from kubedns.errors import ConfigurationErrors
from kubedns.plugins.auto import Auto
from kubedns.plugins.file import File
from kubedns.server.build import Settings, build_server
from kubedns.server.files import DiskFiles
from kubedns.server.server import Server
from kubedns.zones.masterfile import read_zone
from kubedns.zones.zone import Zone
from tests.plugins.asking import query_for

ZONE = """
$TTL 60
@ SOA ns host {serial} 2 3 4 5
@ NS ns
ns A 192.0.2.1
www A 192.0.2.{serial}
out CNAME www.other.test.
"""


def built(folder: Path, body: str, label: str = ".:1053", before: Server | None = None) -> Server:
    text = f"{label} {{\n{body}\n}}"
    return build_server(parse_corefile(text, str(folder / "Corefile"), DiskFiles(), {}).blocks, Settings(), before)


def ask(server: Server, name: str, rdtype: str = "A") -> Answer:
    return asyncio.run(next(iter(server.resolvers.values())).answer(query_for(name, rdtype)))


def shown(answer: Answer) -> list[str]:
    return [answer.rcode.name, *(line for rrset in answer.answer for line in rrset.lines())]


def write(path: Path, serial: int = 1) -> None:
    path.parent.mkdir(exist_ok=True)
    made = path.with_suffix(".new-file")
    made.write_text(ZONE.format(serial=serial))
    made.replace(path)


def look(server: Server) -> None:
    for plugin in server.plugins:
        if isinstance(plugin, Auto):
            plugin.look()
        if isinstance(plugin, File):
            for file in plugin._files.values():
                file.look()


ANSWERS = [
    ("file a a.test b.test", "www.a.test.", ["NOERROR", "www.a.test. 60 IN A 192.0.2.1"]),
    ("file a a.test b.test", "www.b.test.", ["NOERROR", "www.b.test. 60 IN A 192.0.2.1"]),
    ("file a a.test", "no.a.test.", ["NXDOMAIN"]),
    ("file a a.test", "www.c.test.", ["REFUSED"]),
    ("file a a.test {\nfallthrough\n}\nfile b test", "no.a.test.", ["NXDOMAIN"]),
    ("file a a.test {\nfallthrough\n}", "no.a.test.", ["REFUSED"]),
    ("file a a.test {\nfallthrough other.test\n}", "no.a.test.", ["NXDOMAIN"]),
    ("file a a.test\nfile b www.a.test", "www.www.a.test.", ["NXDOMAIN"]),
    ("file a a.test\nfile b other.test", "out.a.test.",
     ["NOERROR", "out.a.test. 60 IN CNAME www.other.test.", "www.other.test. 60 IN A 192.0.2.2"]),
    ("file a a.test", "out.a.test.", ["NOERROR", "out.a.test. 60 IN CNAME www.other.test."]),
    ("root below\nfile c c.test", "www.c.test.", ["NOERROR", "www.c.test. 60 IN A 192.0.2.3"]),
    ("file missing a.test", "www.a.test.", ["SERVFAIL"]),
    ("auto test {\ndirectory below db[.](.*) {1}\n}", "www.d.test.", ["NOERROR", "www.d.test. 60 IN A 192.0.2.4"]),
    ("root below\nauto test", "www.d.test.", ["NOERROR", "www.d.test. 60 IN A 192.0.2.4"]),
    ("root below\nauto other.test", "www.d.test.", ["REFUSED"]),
    ("auto {\ndirectory below ([a-z]) {1}.letter.test\n}", "www.c.letter.test.",
     ["NOERROR", "www.c.letter.test. 60 IN A 192.0.2.3"]),
]  # fmt: skip


@pytest.mark.parametrize(("body", "name", "expected"), ANSWERS)
def test_which_zone_answers(tmp_path: Path, body: str, name: str, expected: list[str]) -> None:
    write(tmp_path / "a", 1)
    write(tmp_path / "b", 2)
    write(tmp_path / "below" / "c", 3)
    write(tmp_path / "below" / "db.d.test", 4)
    assert shown(ask(built(tmp_path, body), name)) == expected


@pytest.mark.parametrize("body", ["file db.a.test a.test", "auto a.test"])
def test_a_changed_file_is_taken_up_and_a_broken_one_is_not(
    tmp_path: Path, body: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "db.a.test"
    write(path, 1)
    server = built(tmp_path, body)
    before = ask(server, "www.a.test.")
    assert before.depends_on
    generation = server.lasting.cache.generation
    write(path, 2)
    look(server)
    assert shown(ask(server, "www.a.test."))[1:] == ["www.a.test. 60 IN A 192.0.2.2"]
    assert server.lasting.cache.generation > generation
    path.write_text("@ nonsense\n")
    look(server)
    assert shown(ask(server, "www.a.test."))[1:] == ["www.a.test. 60 IN A 192.0.2.2"]
    assert f"{path}:1: " in caplog.text
    assert "the zone before stays in force" in caplog.text
    write(path, 3)
    look(server)
    assert shown(ask(server, "www.a.test."))[1:] == ["www.a.test. 60 IN A 192.0.2.3"]


def test_a_missing_file_is_taken_up_when_it_appears(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    server = built(tmp_path, "file later a.test")
    assert "there is no such file" in caplog.text
    assert shown(ask(server, "www.a.test.")) == ["SERVFAIL"]
    write(tmp_path / "later", 1)
    look(server)
    assert shown(ask(server, "www.a.test."))[0] == "NOERROR"
    (tmp_path / "later").unlink()
    look(server)
    assert shown(ask(server, "www.a.test."))[0] == "NOERROR"


def test_zones_of_a_folder_come_and_go(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        server = built(tmp_path, "auto test\nwhoami")
        other = ask(server, "www.a.test.")
        assert other.rcode.name == "NOERROR"
        assert other.depends_on
        write(tmp_path / "db.a.test", 1)
        look(server)
        assert len(ask(server, "www.a.test.").answer) == 1
        (tmp_path / "db.a.test").unlink()
        look(server)
        assert not ask(server, "www.a.test.").answer
    assert "gone, and zone a.test. with it" in caplog.text


def test_a_broken_file_of_a_folder_is_told_with_its_line_and_harms_no_other(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path / "db.a.test")
    (tmp_path / "db.b.test").write_text("$TTL 60\n@ nonsense\n")
    server = built(tmp_path, "auto")
    assert shown(ask(server, "www.a.test."))[0] == "NOERROR"
    assert shown(ask(server, "www.b.test."))[0] == "SERVFAIL"
    assert f"{tmp_path / 'db.b.test'}:2: " in caplog.text
    assert "b.test. is SERVFAIL until it is right" in caplog.text


def test_what_is_wrong_with_files_of_a_folder_is_told_once_with_what_to_do(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("db.a.test", "old-db.a.test", "db.a..test", "db.other.example", "notes"):
        write(tmp_path / name)
    server = built(tmp_path, "auto test {\ndirectory . (?:old-)?db[.](.*) {1}\n}")
    look(server)
    told = sorted(record.getMessage().removeprefix(f"{tmp_path}/") for record in caplog.records)
    assert told == [
        "db.a..test: its name makes no zone, `a..test`: empty label in 'a..test'; name the file after its zone",
        "db.other.example: other.example. is not served, being outside of test.; name it after `auto`",
        f"old-db.a.test: a.test. is read from {tmp_path}/db.a.test, so this file is not; leave one of them out",
    ]
    (tmp_path / "old-db.a.test").unlink()
    look(server)
    write(tmp_path / "old-db.a.test")
    look(server)
    assert len(caplog.records) == 4
    assert shown(ask(server, "www.a.test."))[0] == "NOERROR"


def test_zones_outlive_their_folder_while_it_cannot_be_looked_at(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path / "zones" / "db.a.test")
    server = built(tmp_path, "auto {\ndirectory zones\n}")
    (tmp_path / "zones").rename(tmp_path / "away")
    for _ in range(2):
        look(server)
        assert shown(ask(server, "www.a.test."))[0] == "NOERROR"
    assert [record.getMessage().removeprefix(f"{tmp_path}/zones") for record in caplog.records] == [
        ": cannot be looked at: No such file or directory; what was there stays in force",
        "/db.a.test: there is no such file; the zone before stays in force",
    ]
    (tmp_path / "away").rename(tmp_path / "zones")
    (tmp_path / "zones" / "db.a.test").unlink()
    look(server)
    assert shown(ask(server, "www.a.test."))[0] == "REFUSED"


def mount(folder: Path, version: str, text: str) -> None:
    """Write a ConfigMap's version as a kubelet does: a folder of its own, and a link that changes at once."""
    (folder / version).mkdir(parents=True)
    (folder / version / "db.a.test").write_text(text)
    (folder / "..data_tmp").symlink_to(version)
    (folder / "..data_tmp").replace(folder / "..data")
    if not (folder / "db.a.test").is_symlink():
        (folder / "db.a.test").symlink_to("..data/db.a.test")


def test_a_broken_version_of_a_mounted_config_map_changes_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    mount(tmp_path / "zones", "..2026_1", ZONE.format(serial=1))
    server = built(tmp_path, "auto {\ndirectory zones\n}")
    mount(tmp_path / "zones", "..2026_2", "$TTL 60\n@ nonsense\n")
    for version in ("..2026_2", "..2026_1"):
        look(server)
        assert shown(ask(server, "www.a.test."))[1:] == ["www.a.test. 60 IN A 192.0.2.1"], version
    assert f"{tmp_path}/zones/db.a.test:2: `@ nonsense`: " in caplog.text
    assert len(caplog.records) == 1
    mount(tmp_path / "zones", "..2026_3", ZONE.format(serial=3))
    look(server)
    assert shown(ask(server, "www.a.test."))[1:] == ["www.a.test. 60 IN A 192.0.2.3"]


@pytest.mark.parametrize("body", ["file db.a.test a.test", "auto"])
@pytest.mark.parametrize("is_missing", [True, False])
def test_the_last_good_zone_stays_when_another_configuration_takes_over(
    body: str, is_missing: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "db.a.test"
    write(path, 2)
    server = built(tmp_path, body)
    if is_missing:
        path.unlink()
    else:
        path.write_text("$TTL 60\n@ nonsense\n")
    if body == "file db.a.test a.test" and not is_missing:
        with pytest.raises(ConfigurationErrors, match="nonsense"):
            built(tmp_path, f"{body}\nerrors", before=server)
        return
    after = built(tmp_path, f"{body}\nerrors", before=server)
    stays = body != "auto" or not is_missing
    assert shown(ask(after, "www.a.test."))[1:] == (["www.a.test. 60 IN A 192.0.2.2"] if stays else [])
    assert ("the zone before stays in force" in caplog.text) == stays
    write(path, 1)
    look(after)
    assert shown(ask(after, "www.a.test."))[1:] == ["www.a.test. 60 IN A 192.0.2.1"]
    assert ("its serial 1 is not above 2" in caplog.text) == stays


SERIALS = [
    (1, 2, True, "zone a.test. with serial 2 is in force"),
    (4294967295, 7, True, "zone a.test. with serial 7 is in force"),
    (5, 5, True, "its serial 5 is not above 5"),
    (9, 5, True, "its serial 5 is not above 9"),
    (5, 5, False, ""),
]


@pytest.mark.parametrize(("before", "after", "is_other", "told"), SERIALS)
def test_a_serial_that_others_cannot_go_by_is_warned_of(
    before: int, after: int, is_other: bool, told: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text = "$TTL 60\n@ SOA ns host {} 2 3 4 5\nwww A 192.0.2.{}\n"
    (tmp_path / "a").write_text(text.format(before, 1))
    server = built(tmp_path, "file a a.test")
    assert shown(ask(server, "www.a.test."))[1:] == ["www.a.test. 60 IN A 192.0.2.1"]
    generation = server.lasting.cache.generation
    (tmp_path / "a").write_text(text.format(after, 2 if is_other else 1) + "; changed\n")
    with caplog.at_level(logging.INFO):
        look(server)
    assert shown(ask(server, "www.a.test."))[1:] == [f"www.a.test. 60 IN A 192.0.2.{2 if is_other else 1}"]
    assert told in caplog.text
    assert bool(caplog.records) == is_other
    assert (server.lasting.cache.generation > generation) == is_other
    assert all((record.levelno == logging.WARNING) == ("not above" in told) for record in caplog.records)


FAULTS = [
    ("file missing a.test {\nreload 0s\n}", "there is no such file"),
    ("file broken a.test", "broken:2: "),
    ("file", "a value is needed"),
    ("auto {\ndirectory nowhere\n}", "no folder nowhere"),
    ("auto {\ndirectory . (\n}", "write `directory"),
    ("auto {\ndirectory . ( {1}\n}", "no regular expression"),
    ("auto {\ndirectory . (.*) {2}\n}", "more groups than the 1"),
]


@pytest.mark.parametrize(("body", "fault"), FAULTS)
def test_what_cannot_be_served_is_a_fault(tmp_path: Path, body: str, fault: str) -> None:
    (tmp_path / "broken").write_text("$TTL 60\n@ nonsense\n")
    with pytest.raises(ConfigurationErrors) as error:
        built(tmp_path, body)
    assert fault in str(error.value)


def test_files_are_looked_at_until_the_end(tmp_path: Path) -> None:
    async def run() -> None:
        write(tmp_path / "a")
        server = built(tmp_path, "file a a.test {\nreload 10ms\n}\nauto {\nreload 10ms\n}")
        resolver = next(iter(server.resolvers.values()))
        server.started()
        write(tmp_path / "a", 9)
        async with asyncio.timeout(60):
            while shown(await resolver.answer(query_for("www.a.test.")))[-1] != "www.a.test. 60 IN A 192.0.2.9":
                await asyncio.sleep(0.01)
        server.close()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(run())


@pytest.mark.parametrize("body", ["file db.a.test a.test {\nreload 10ms\n}", "auto {\nreload 10ms\n}"])
def test_while_a_zone_is_read_anew_answers_come_from_the_one_before(
    body: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, released = threading.Event(), threading.Event()

    def slow(octets: bytes, origin: Name) -> Zone:
        if threading.current_thread() is not threading.main_thread():
            begun.set()
            released.wait(60)
        return read_zone(octets, origin)

    async def run() -> None:
        write(tmp_path / "db.a.test")
        monkeypatch.setattr("kubedns.zones.files.read_zone", slow)
        server = built(tmp_path, body)
        resolver = next(iter(server.resolvers.values()))
        server.started()
        write(tmp_path / "db.a.test", 9)
        write(tmp_path / "db.b.test", 3)
        assert await asyncio.to_thread(begun.wait, 60)
        for name in ("www.a.test.", "www.b.test."):
            answer = shown(await resolver.answer(query_for(name)))
            assert answer == (["REFUSED"] if "b." in name else ["NOERROR", "www.a.test. 60 IN A 192.0.2.1"])
        released.set()
        async with asyncio.timeout(60):
            while shown(await resolver.answer(query_for("www.a.test.")))[-1] != "www.a.test. 60 IN A 192.0.2.9":
                await asyncio.sleep(0.01)
        server.close()
        await asyncio.sleep(0)

    asyncio.run(run())
