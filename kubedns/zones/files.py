"""Files that static zones are read from: looked at now and then, read again when they have changed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Generic, TypeVar

from kubedns.dns.answer import Key
from kubedns.dns.names import Name
from kubedns.zones.masterfile import BadMasterFileError, parse_zone
from kubedns.zones.zone import Zone

_log = logging.getLogger(__name__)
T = TypeVar("T")
Stamp = tuple[int, int]
"""When a file was written, in nanoseconds, and its octets."""


class WatchedFile(Generic[T]):
    """The file at ``path``. ``take`` gets what ``read`` makes of its octets whenever it has changed.

    ``read`` gets None where the file is not there. It is pure, for while the file is followed it runs in a thread, and
    what takes its time to be read holds up no answer; ``take`` is called by the loop. The file is looked at by time and
    size, through links, so that a mounted ConfigMap's changes are seen. What cannot be read is told once; ``take`` does
    not hear of it, so that what was read before stays in force.
    """

    def __init__(self, path: Path, read: Callable[[bytes | None], T], take: Callable[[T], None]) -> None:
        self.path = path
        self._read = read
        self._take = take
        self._stamp: Stamp | None = None
        self._has_looked = False
        self._is_told = False
        self._looking: asyncio.Task[None] | None = None

    @property
    def modified_seconds(self) -> float:
        """When what was read was written, in Unix time; 0: never."""
        return 0.0 if self._stamp is None else self._stamp[0] / 1e9

    def look(self) -> None:
        """Read the file, if it is not as it was when it was last looked at."""
        try:
            self._note(self._seen())
        except OSError as error:
            self._tell(error)

    async def look_aside(self) -> None:
        """The same, while the loop goes on."""
        try:
            self._note(await asyncio.to_thread(self._seen))
        except OSError as error:
            self._tell(error)

    def follow(self, interval: float) -> None:
        """Look again every ``interval`` seconds, until :meth:`close`."""
        self._looking = asyncio.get_running_loop().create_task(self._follow(interval))

    def close(self) -> None:
        """Look no more."""
        if self._looking is not None:
            self._looking.cancel()

    async def _follow(self, interval: float) -> None:
        while True:
            await asyncio.sleep(interval)
            await self.look_aside()

    def _seen(self) -> tuple[Stamp | None, T] | None:
        """The file as it is now, with its time and size; None: it has not changed. May run in a thread."""
        stamp = self._stamp_now()
        if stamp == self._stamp and self._has_looked:
            return None
        return stamp, self._read(None if stamp is None else self.path.read_bytes())

    def _note(self, seen: tuple[Stamp | None, T] | None) -> None:
        if seen is None:
            return
        self._stamp, found = seen
        self._has_looked, self._is_told = True, False
        self._take(found)

    def _tell(self, error: OSError) -> None:
        if not self._is_told:
            _log.error("%s: cannot be read: %s; what was read before stays in force", self.path, error.strerror)
        self._is_told = True

    def _stamp_now(self) -> Stamp | None:
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return None
        return found.st_mtime_ns, found.st_size


def as_it_is(octets: bytes | None) -> bytes | None:
    """What a file holds, for those who take it so."""
    return octets


class ZoneFile:
    """The zone ``origin`` in the master file at ``path``; the last good one stays in force.

    ``zone``: None until there is one. ``fault``: what is wrong with the file as it is, empty if nothing. ``key``: what
    answers from it depend on; ``changed`` is told of it when another zone is there.
    """

    def __init__(self, path: Path, origin: Name, changed: Callable[[Iterable[Key]], None]) -> None:
        self.zone: Zone | None = None
        self.fault = ""
        self.key: Key = ("zone", str(path), origin.key)
        self._origin = origin
        self._changed = changed
        self._file = WatchedFile(path, self._read, self._take)
        self.look = self._file.look
        self.look_aside = self._file.look_aside
        self.follow = self._file.follow
        self.close = self._file.close

    def _read(self, octets: bytes | None) -> Zone | str:
        """The zone, or what is wrong with the file, with its place."""
        path = self._file.path
        if octets is None:
            return f"{path}: there is no such file"
        try:
            return parse_zone(octets.decode(), self._origin)
        except (BadMasterFileError, UnicodeDecodeError) as error:
            line = getattr(error, "line", 0)
            return f"{path}:{line}: {error}" if line else f"{path}: {error}"

    def _take(self, found: Zone | str) -> None:
        if isinstance(found, str):
            self.fault = found
            stays = "the zone before stays in force" if self.zone else f"{self._origin} is SERVFAIL until it is right"
            _log.error("%s; %s", self.fault, stays)
            return
        if self.zone is not None:
            _log.info("%s: zone %s with serial %d is in force", self._file.path, self._origin, found.serial)
        self.zone, self.fault = found, ""
        self._changed([self.key])
