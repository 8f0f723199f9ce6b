"""Snapshots: a store ↔ a file, so that the next start answers at once though the API server may be away.

The file is written beside its place and then renamed over it, so that it is whole at every moment; and it is checked
when it is read, for a disk may still lose a part of it.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from kubedns.cluster.objects import Object
from kubedns.cluster.snapshot import SnapshotError, SnapshotPlace, read_snapshot, written
from kubedns.cluster.store import Store
from kubedns.observe.metrics import Metrics
from kubedns.observe.rows import SNAPSHOT_STALE, SNAPSHOT_WRITES

_log = logging.getLogger("plugin/kubernetes")
_LOOK_SECONDS = 1.0
_BETWEEN_SECONDS = 30.0
"""At least so long between two writes that a change asks for."""
_RESTORED_OBJECTS = 500
"""Put in between two looks at whatever else there is to do."""


class Snapshots:
    """Keeps what ``store`` has of ``source`` in the file of ``place``. ``now`` gives Unix time.

    A file that cannot be written or read costs a warm start, and no more.
    """

    def __init__(
        self,
        place: SnapshotPlace,
        source: str,
        store: Store,
        metrics: Metrics,
        now: Callable[[], float] = time.time,  # noqa: TID251 - a file's age counts across restarts
        look_seconds: float = _LOOK_SECONDS,
    ) -> None:
        self._path = Path(place.path)
        self._max_age = place.max_age_seconds
        self._source = source
        self._store = store
        self._metrics = metrics
        self._now = now
        self._look_seconds = look_seconds
        self._taken = 0.0
        self._version = -1
        self._written = float("-inf")
        self._has_failed = False
        metrics.cell(SNAPSHOT_STALE, place.path).read = lambda: float(store.is_stale)

    @property
    def age_seconds(self) -> float:
        """Seconds since what was last read or written was known to be so."""
        return max(0.0, self._now() - self._taken)

    async def recall(self) -> None:
        """Put what the file has into the store, if it may still be answered from."""
        try:
            found = await asyncio.to_thread(lambda: read_snapshot(self._path.read_bytes(), self._source))
            age = self._now() - found.taken
            if abs(age) > self._max_age:
                raise SnapshotError(f"it was taken {age:.0f} s ago, more than {self._max_age:.0f} s")
        except FileNotFoundError:
            return
        except (OSError, SnapshotError) as error:
            _log.error("snapshot %s is not used: %s; the API server is waited for", self._path, error)
            return
        self._taken = found.taken
        for number, item in enumerate(found.objects):
            self._store.upsert(item)
            if not number % _RESTORED_OBJECTS:
                await asyncio.sleep(0)
        self._store.recalled()
        _log.warning(
            "snapshot %s: %d objects of %.0f s ago are answered from until the API server has been listed",
            self._path, len(found.objects), age,
        )  # fmt: skip

    async def keep(self, heard_ago: Callable[[], float]) -> None:
        """Write what has changed, now and then until cancelled, and then once more.

        ``heard_ago``: seconds since the store was last known to be right. Where nothing changes it is written all the
        same, ahead of the age at which nobody would answer from it; while the source is silent it is not, and so ages.
        """
        is_stale = self._store.is_stale
        try:
            while True:
                await asyncio.sleep(self._look_seconds)
                if is_stale and not self._store.is_stale:
                    is_stale = False
                    _log.warning("snapshot %s: nothing is answered from it any more", self._path)
                await self._write_if_due(self._now() - heard_ago())
        except asyncio.CancelledError:
            await self._write_last(self._now() - heard_ago())
            raise

    async def _write_if_due(self, taken: float) -> None:
        if self._now() - self._written < _BETWEEN_SECONDS or not self._can_be_kept():
            return
        if self._version != self._store.version or taken - self._taken > self._max_age / 4:
            await self._write(taken)

    async def _write_last(self, taken: float) -> None:
        if self._can_be_kept() and (self._version != self._store.version or taken > self._taken):
            await self._write(taken)

    def _can_be_kept(self) -> bool:
        """Whether the store has more than a snapshot and the beginning of a list."""
        return self._store.has_synced and not self._store.is_stale

    async def _write(self, taken: float) -> None:
        version, began = self._store.version, self._now()
        objects = [item for found in self._store.objects.values() for item in found.values()]
        try:
            await asyncio.to_thread(self._replace, objects, taken)
        except OSError as error:
            self._failed(error)
        else:
            self._version, self._taken, self._has_failed = version, taken, False
            self._metrics.cell(SNAPSHOT_WRITES, str(self._path), "ok").add()
        self._written = began

    def _replace(self, objects: Sequence[Object], taken: float) -> None:
        beside = self._path.with_name(f"{self._path.name}.new")
        # Names and addresses of a whole cluster are not for everybody on the machine.
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.writelines(written(objects, self._source, taken))
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self._path)

    def _failed(self, error: OSError) -> None:
        self._metrics.cell(SNAPSHOT_WRITES, str(self._path), "failed").add()
        if not self._has_failed:
            _log.error("snapshot %s cannot be written: %s; the next start waits for the API server", self._path, error)
        self._has_failed = True
