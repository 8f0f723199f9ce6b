"""The file beside a source: what is answered from it, when it is written, and what it costs when it fails: nothing."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest

from kubedns.cluster.access import ApiAccess
from kubedns.cluster.objects import Kind
from kubedns.cluster.snapshot import SnapshotPlace, read_snapshot, written
from kubedns.cluster.sources.api import ApiOptions, ApiSource
from kubedns.cluster.sources.snapshots import Snapshots
from kubedns.cluster.store import Store, key_of
from kubedns.observe.metrics import Metrics
from kubedns.observe.rows import SNAPSHOT_STALE, SNAPSHOT_WRITES
from tests.cluster.sources.test_api import QUICK, until
from tests.support.api_server import FakeApiServer, endpoint_slice
from tests.support.api_server import service as body
from tests.support.clusters import service

SOURCE = "services of here"
WEB, OTHER = service("shop/web", "10.96.0.1"), service("shop/other", "10.96.0.2")


class Clock:
    """The time of day, as a test has it."""

    def __init__(self) -> None:
        self.now = 1e9

    def __call__(self) -> float:
        return self.now


class Kept:
    """A store of Services with its file."""

    def __init__(self, path: Path, clock: Clock, max_age: float = 3600) -> None:
        self.path = path
        self.metrics = Metrics()
        self.store = Store([Kind.SERVICE])
        place = SnapshotPlace(str(path), max_age)
        self.snapshots = Snapshots(place, SOURCE, self.store, self.metrics, clock, look_seconds=0.001)

    def counted(self) -> tuple[float, float]:
        """How often it was written, and how often it could not be."""
        ok, failed = (self.metrics.cell(SNAPSHOT_WRITES, str(self.path), result).value for result in ("ok", "failed"))
        return ok, failed

    @property
    def stale(self) -> float:
        read = self.metrics.cell(SNAPSHOT_STALE, str(self.path)).read
        assert read is not None
        return read()


def keeping(kept: Kept, act: Callable[[Kept], Awaitable[None]], heard_ago: Callable[[], float] = lambda: 0.0) -> None:
    async def run() -> None:
        task = asyncio.create_task(kept.snapshots.keep(heard_ago))
        await act(kept)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    asyncio.run(run())


def names(path: Path) -> set[str]:
    return {item.name for item in read_snapshot(path.read_bytes(), SOURCE).objects}


async def some_looks() -> None:
    for _ in range(50):
        await asyncio.sleep(0.001)


def test_what_is_known_is_written_when_it_has_changed_and_at_the_end(tmp_path: Path) -> None:
    clock = Clock()

    async def act(kept: Kept) -> None:
        await some_looks()
        assert not kept.path.exists()
        kept.store.replace(Kind.SERVICE, [WEB])
        await until(kept.path.exists)
        assert names(kept.path) == {"web"}
        kept.store.upsert(OTHER)
        await some_looks()
        assert kept.counted() == (1, 0)
        clock.now += 31
        await until(lambda: kept.counted() == (2, 0))
        assert names(kept.path) == {"web", "other"}
        kept.store.delete(key_of(OTHER))

    kept = Kept(tmp_path / "s", clock)
    keeping(kept, act)
    assert names(kept.path) == {"web"}
    assert kept.path.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["s"]


def test_where_nothing_changes_it_does_not_grow_old_unless_the_source_is_silent(tmp_path: Path) -> None:
    clock, heard = Clock(), [1e9]

    async def act(kept: Kept) -> None:
        kept.store.replace(Kind.SERVICE, [WEB])
        await until(kept.path.exists)
        clock.now = heard[0] = 1e9 + 1000
        await until(lambda: kept.counted() == (2, 0))
        assert read_snapshot(kept.path.read_bytes(), SOURCE).taken == 1e9 + 1000
        clock.now += 5000
        await some_looks()

    kept = Kept(tmp_path / "s", clock)
    keeping(kept, act, lambda: clock.now - heard[0])
    assert kept.counted() == (2, 0)
    assert read_snapshot(kept.path.read_bytes(), SOURCE).taken == 1e9 + 1000


def test_a_start_answers_from_it_until_all_is_listed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    (tmp_path / "s").write_bytes(b"".join(written([WEB, OTHER], SOURCE, 1e9 - 60)))
    before = (tmp_path / "s").read_bytes()

    async def act(kept: Kept) -> None:
        await kept.snapshots.recall()
        assert kept.store.has_synced
        assert kept.store.is_stale
        assert kept.stale == 1
        assert kept.snapshots.age_seconds == 60
        found = kept.store.service("shop", "web")
        assert found is not None
        assert found.origin == f"snapshot, {WEB.origin}"
        clock.now += 31
        await some_looks()
        assert kept.path.read_bytes() == before
        kept.store.replace(Kind.SERVICE, [WEB])
        assert not kept.store.is_stale
        assert kept.stale == 0
        assert list(kept.store.services()) == [WEB]
        await until(lambda: kept.path.read_bytes() != before)

    with caplog.at_level(logging.WARNING):
        keeping(Kept(tmp_path / "s", clock), act)
    assert [message.partition(": ")[2] for message in caplog.messages] == [
        "2 objects of 60 s ago are answered from until the API server has been listed"
    ]


REFUSED = {
    "too old": (b"".join(written([WEB], SOURCE, 1e9 - 3601)), "it was taken 3601 s ago, more than 3600 s"),
    "from a clock that was wrong": (b"".join(written([WEB], SOURCE, 1e9 + 3601)), "it was taken -3601 s ago"),
    "of another source": (b"".join(written([WEB], "others", 1e9)), "it is of others"),
    "cut": (b"".join(written([WEB], SOURCE, 1e9))[:-9], "it is damaged"),
    "empty": (b"", "it is damaged"),
    "a folder": (None, "Is a directory"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_answered_from_costs_a_line(case: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    octets, why = REFUSED[case]
    path = tmp_path / "s"
    path.mkdir() if octets is None else path.write_bytes(octets)
    kept = Kept(path, Clock())
    asyncio.run(kept.snapshots.recall())
    assert not kept.store.has_synced
    assert not kept.store.version
    (line,) = caplog.messages
    assert why in line
    assert line.startswith(f"snapshot {path} is not used: ")


def test_the_first_start_has_none_and_says_nothing_of_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    kept = Kept(tmp_path / "s", Clock())
    asyncio.run(kept.snapshots.recall())
    assert not kept.store.has_synced
    assert not caplog.messages


def test_a_file_that_cannot_be_written_costs_one_line_until_it_can(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock()
    kept = Kept(tmp_path / "later" / "s", clock)

    async def act(kept: Kept) -> None:
        kept.store.replace(Kind.SERVICE, [WEB])
        for times in (1, 2, 3):
            await until(lambda times=times: kept.counted() == (0, times))  # type: ignore[misc]
            clock.now += 31
        kept.path.parent.mkdir()
        clock.now += 31
        await until(lambda: kept.counted()[0] == 1)

    keeping(kept, act)
    assert names(kept.path) == {"web"}
    (line,) = caplog.messages
    assert line.startswith(f"snapshot {kept.path} cannot be written: ")


def test_a_list_counts_more_than_a_snapshot_whatever_the_versions(tmp_path: Path) -> None:
    """As after a cluster was restored from a backup: its versions start anew from lower ones."""

    async def follow(server: FakeApiServer, act: Callable[[Store], bool]) -> None:
        place = SnapshotPlace(str(tmp_path / "s"))
        options = ApiOptions(ApiAccess(endpoint=server.url), startup_seconds=0.01, snapshot=place)
        store = Store(options.required)
        source = ApiSource(options, store, Metrics(), QUICK)
        await source.load()
        following = asyncio.create_task(source.run())
        try:
            await until(lambda: act(store))
        finally:
            following.cancel()
            with suppress(asyncio.CancelledError):
                await following

    async def run() -> None:
        server = FakeApiServer()
        server.version = 9000
        for each in ("gone", "stays"):
            server.put(body(each, "10.96.0.1"))
        server.put(endpoint_slice("stays-1", "stays", "10.0.0.1"))
        async with server.open():
            port = server.port
            await follow(server, lambda store: store.has_synced)
        assert (tmp_path / "s").exists()
        restored = FakeApiServer()
        restored.put(body("stays", "10.96.0.2"))
        restored.put(endpoint_slice("stays-1", "stays", "10.0.0.2"))
        async with restored.open(port):
            await follow(restored, lambda store: not store.is_stale and _addresses(store) == {"stays": b"\x0a\x60\0\2"})

    asyncio.run(run())


def _addresses(store: Store) -> dict[str, bytes]:
    return {each.name: each.cluster_ips[0] for each in store.services("shop")}


SERVICES, INTERRUPTED = 5000, 5
WRITER = f"""
import asyncio, itertools, sys
from kubedns.cluster.objects import Kind, Service
from kubedns.cluster.snapshot import SnapshotPlace
from kubedns.cluster.sources.snapshots import Snapshots
from kubedns.cluster.store import Store
from kubedns.observe.metrics import Metrics

async def run():
    seconds, store = itertools.count(step=100.0), Store([Kind.SERVICE])
    place, now = SnapshotPlace(sys.argv[1]), lambda: next(seconds)
    snapshots = Snapshots(place, {SOURCE!r}, store, Metrics(), now, look_seconds=0)
    store.replace(Kind.SERVICE, [Service("shop", f"s{{number}}", (), ()) for number in range({SERVICES})])
    writing = asyncio.create_task(snapshots.keep(lambda: 0.0))
    for turn in itertools.count():
        store.upsert(Service("shop", "s0", (turn.to_bytes(4),), ()))
        await asyncio.sleep(0.001)

asyncio.run(run())
"""


def test_who_is_killed_while_it_is_written_leaves_a_whole_one(tmp_path: Path) -> None:
    path, beside = tmp_path / "kept", tmp_path / "kept.new"
    interrupted = 0
    while interrupted < INTERRUPTED:
        beside.unlink(missing_ok=True)
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)])
        deadline = time.monotonic() + 60
        try:
            while not (path.exists() and beside.exists()):
                assert writer.poll() is None
                assert time.monotonic() < deadline
        finally:
            writer.kill()
            writer.wait()
        interrupted += beside.exists()
        assert len(read_snapshot(path.read_bytes(), SOURCE).objects) == SERVICES
