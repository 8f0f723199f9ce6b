"""The real thing: files are written, and what the store says is waited for."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from pathlib import Path

import pytest

from kubedns.cluster.lister import ANY_SYNC, Key
from kubedns.cluster.objects import Kind
from kubedns.cluster.sources import manifests
from kubedns.cluster.sources.files import Files, find_files
from kubedns.cluster.sources.manifests import ManifestOptions, ManifestSource
from kubedns.cluster.store import Store
from kubedns.errors import ManifestError

LIMIT_SECONDS = 20.0


def service(name: str, ip: str = "10.0.0.1") -> str:
    return f"apiVersion: v1\nkind: Service\nmetadata: {{name: {name}}}\nspec: {{clusterIP: {ip}}}\n"


class Watched:
    """A source at work, with everything that it told."""

    def __init__(self, *paths: Path, now: Callable[[], float] = time.monotonic) -> None:
        self.store = Store([Kind.SERVICE])
        self.told: list[Collection[Key]] = []
        self.reports: list[list[str]] = []
        self.names_seen: list[set[str]] = []
        self.store.subscribe(self._note)
        self.source = ManifestSource(ManifestOptions(tuple(map(str, paths))), self.store, self._report, now)

    def names(self) -> set[str]:
        return {each.name for each in self.store.services()}

    def addresses(self) -> set[str]:
        return {".".join(map(str, address)) for each in self.store.services() for address in each.cluster_ips}

    async def until(self, is_so: Callable[[], bool]) -> None:
        deadline = time.monotonic() + LIMIT_SECONDS
        while not is_so():
            assert time.monotonic() < deadline, (self.names(), self.addresses(), self.reports)
            await asyncio.sleep(0.01)

    def _note(self, keys: Collection[Key]) -> None:
        self.told.append(set(keys))
        self.names_seen.append(self.names())

    def _report(self, faults: Sequence[ManifestError]) -> None:
        self.reports.append([str(fault) for fault in faults])


def watch(watched: Watched, steps: Callable[[Watched], Awaitable[None]]) -> Sequence[ManifestError]:
    """Load, then take ``steps`` while changes are followed; the faults of loading."""

    async def go() -> Sequence[ManifestError]:
        faults = await watched.source.load()
        running = asyncio.create_task(watched.source.run())
        try:
            await steps(watched)
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
        return faults

    return asyncio.run(go())


def test_load_reads_everything_once_and_gives_the_faults(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(service("a"))
    (tmp_path / "b.yaml").write_text(service("b", "x") + "---\napiVersion: v1\nkind: Secret\n")
    (tmp_path / "c.yaml").write_text(service("a", "10.0.0.9"))
    watched = Watched(tmp_path)
    faults = [str(fault) for fault in asyncio.run(watched.source.load())]
    assert faults == [
        f"{tmp_path}/b.yaml:4: spec.clusterIP: 'x' is no address; write an IPv4 or IPv6 address",
        f"{tmp_path}/a.yaml: Service default/a stands in {tmp_path}/c.yaml too; that counts",
    ]
    assert watched.addresses() == {"10.0.0.9"}
    assert watched.source.skipped == 1
    assert watched.store.has_synced
    assert any(ANY_SYNC in keys for keys in watched.told)
    assert watched.reports == []


def write(path: Path, text: str) -> None:
    path.write_text(text)


def save_as_editors_do(path: Path, text: str) -> None:
    """Beside it first, then over it."""
    beside = path.with_name(f".{path.name}.swp")
    beside.write_text(text)
    beside.rename(path)


def remove_and_write(path: Path, text: str) -> None:
    path.unlink()
    path.write_text(text)


@pytest.mark.parametrize("save", [write, save_as_editors_do, remove_and_write])
@pytest.mark.parametrize("is_file", [False, True])
def test_edits(tmp_path: Path, save: Callable[[Path, str], None], is_file: bool) -> None:
    path = tmp_path / "web.yaml"
    path.write_text(service("web") + "---\n" + service("api", "10.0.0.7"))

    async def steps(watched: Watched) -> None:
        for turn in range(2, 5):
            save(path, service("web", f"10.0.0.{turn}") + "---\n" + service("api", "10.0.0.7"))
            await watched.until(lambda turn=turn: f"10.0.0.{turn}" in watched.addresses())  # type: ignore[misc]

    watched = Watched(path if is_file else tmp_path)
    watch(watched, steps)
    # What stays is there at every moment, and nobody is told of it.
    assert all("api" in names for names in watched.names_seen[1:])
    assert ("service", "default", "api") not in set().union(*watched.told[2:])
    assert watched.reports == []


def test_files_come_move_and_go(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(service("a"))

    async def steps(watched: Watched) -> None:
        (tmp_path / "sub").mkdir()
        (tmp_path / "sub" / "b.yml").write_text(service("b"))
        await watched.until(lambda: watched.names() == {"a", "b"})
        (tmp_path / "a.yaml").rename(tmp_path / "a.txt")
        await watched.until(lambda: watched.names() == {"b"})
        (tmp_path / "a.txt").rename(tmp_path / "sub" / "a.json.yaml")
        await watched.until(lambda: watched.names() == {"a", "b"})
        (tmp_path / "sub").rename(tmp_path / "..sub")
        await watched.until(lambda: watched.names() == set())

    watch(Watched(tmp_path), steps)


def test_a_file_that_is_given_goes_and_comes(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(service("a"))

    async def steps(watched: Watched) -> None:
        path.unlink()
        await watched.until(lambda: watched.names() == set())
        path.write_text(service("b"))
        await watched.until(lambda: watched.names() == {"b"} and len(watched.reports) == 2)

    watched = Watched(path)
    watch(watched, steps)
    assert watched.reports == [[f"{path}: no such file or folder"], []]


def test_a_folder_that_comes_later_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "later" / "k8s"

    async def steps(watched: Watched) -> None:
        folder.mkdir(parents=True)
        (folder / "a.yaml").write_text(service("a"))
        await watched.until(lambda: watched.names() == {"a"})

    faults = watch(Watched(folder), steps)
    assert [str(fault) for fault in faults] == [f"{folder}: no such file or folder"]


def test_mounted_config_maps_are_swapped(tmp_path: Path) -> None:
    """A kubelet keeps each version in a folder of its own and moves one link."""

    def version(number: int) -> None:
        folder = tmp_path / f"..version-{number}"
        folder.mkdir()
        (folder / "web.yaml").write_text(service("web", f"10.0.0.{number}"))
        (tmp_path / "..data_tmp").symlink_to(folder.name)
        os.rename(tmp_path / "..data_tmp", tmp_path / "..data")

    version(1)
    (tmp_path / "web.yaml").symlink_to("..data/web.yaml")

    async def steps(watched: Watched) -> None:
        assert watched.addresses() == {"10.0.0.1"}
        version(2)
        await watched.until(lambda: watched.addresses() == {"10.0.0.2"})

    watched = Watched(tmp_path)
    watch(watched, steps)
    assert all(names == {"web"} for names in watched.names_seen[1:])


def test_broken_files_are_told_once_and_stay_as_they_were(tmp_path: Path) -> None:
    path, other = tmp_path / "a.yaml", tmp_path / "b.yaml"
    path.write_text(service("a"))
    other.write_text(service("b"))

    async def steps(watched: Watched) -> None:
        path.write_text("kind: [")
        await watched.until(lambda: len(watched.reports) == 1)
        other.write_text(service("b", "10.0.0.2"))
        await watched.until(lambda: "10.0.0.2" in watched.addresses())
        path.write_text(service("a", "10.0.0.3"))
        await watched.until(lambda: "10.0.0.3" in watched.addresses())

    watched = Watched(tmp_path)
    watch(watched, steps)
    broken = (
        f"{path}:1: no YAML: did not find expected node content; mend the syntax; what was here before stays in force"
    )
    assert watched.reports == [[broken], []]
    assert all("a" in names for names in watched.names_seen[1:])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(service("a"))

    async def steps(watched: Watched) -> None:
        path.chmod(0)
        await watched.until(lambda: len(watched.reports) == 1)
        assert watched.names() == {"a"}
        path.chmod(0o644)
        await watched.until(lambda: len(watched.reports) == 2)

    watch(Watched(tmp_path), steps)


def test_age_is_the_time_since_the_last_look(tmp_path: Path) -> None:
    seconds = 100.0
    watched = Watched(tmp_path, now=lambda: seconds)
    asyncio.run(watched.source.load())
    seconds = 107.0
    assert watched.source.age_seconds == 7.0

    async def steps(watched: Watched) -> None:
        await watched.until(lambda: watched.source.age_seconds == 0)

    watch(watched, steps)


def test_queries_could_be_answered_while_a_large_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "big.yaml").write_text("---\n".join(service(f"s-{number}") for number in range(2000)))
    turns = 0

    async def go(watched: Watched) -> None:
        nonlocal turns
        loading = asyncio.create_task(watched.source.load())
        while not loading.done():
            turns += 1
            await asyncio.sleep(0)
        await loading

    watched = Watched(tmp_path)
    asyncio.run(go(watched))
    assert len(watched.names()) == 2000
    assert turns > 10


def test_a_save_that_is_seen_halfway_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is empty at the first look and whole at the next."""
    path = tmp_path / "a.yaml"
    path.write_text(service("a"))

    sizes = []

    def finish_and_find(roots: Sequence[Path]) -> Files:
        if 0 in sizes:
            path.write_text(service("a", "10.0.0.2"))
        found = find_files(roots)
        sizes.append(found.stamps[path][1])
        return found

    async def steps(watched: Watched) -> None:
        monkeypatch.setattr(manifests, "find_files", finish_and_find)
        path.write_text("")
        await watched.until(lambda: watched.addresses() == {"10.0.0.2"})

    watched = Watched(tmp_path)
    watch(watched, steps)
    assert all(names == {"a"} for names in watched.names_seen[1:])
