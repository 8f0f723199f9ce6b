"""Files that static zones are read from: looked at now and then, read again when they have changed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Generic, TypeVar

from kubedns.dns.answer import Key
from kubedns.dns.names import Name
from kubedns.errors import ConfigurationError, Location
from kubedns.zones.masterfile import BadMasterFileError, read_zone
from kubedns.zones.transfer import is_newer
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


@dataclass(frozen=True, slots=True)
class _Read:
    """A zone read from a file, and whether its records are others than those before."""

    zone: Zone
    is_other: bool


class ZoneFile:
    """The zone ``origin`` in the master file at ``path``; the last good one stays in force.

    ``zone``: None until there is one. ``fault``: what is wrong with the file as it is, None if nothing. ``key``: what
    answers from it depend on; ``changed`` is told of it when another zone is there. ``zones_before``: those of files
    that were read before, by their keys.
    """

    def __init__(
        self,
        path: Path,
        origin: Name,
        changed: Callable[[Iterable[Key]], None],
        zones_before: Mapping[Key, Zone] = MappingProxyType({}),
    ) -> None:
        self.fault: ConfigurationError | None = None
        self.key: Key = ("zone", str(path), origin.key)
        self.zone: Zone | None = zones_before.get(self.key)
        self._origin = origin
        self._changed = changed
        self._file = WatchedFile(path, self._read, self._take)
        self.look = self._file.look
        self.look_aside = self._file.look_aside
        self.follow = self._file.follow
        self.close = self._file.close

    def _read(self, octets: bytes | None) -> _Read | ConfigurationError:
        """The zone, or what is wrong with the file, with its place."""
        path, before = self._file.path, self.zone
        if octets is None:
            return ConfigurationError("there is no such file", location=Location(str(path)))
        try:
            zone = read_zone(octets, self._origin)
        except BadMasterFileError as error:
            return ConfigurationError(str(error), location=Location(str(path), error.line), remedy=error.remedy)
        return _Read(zone, before is None or not zone.has_same_records(before))

    def _take(self, found: _Read | ConfigurationError) -> None:
        if isinstance(found, ConfigurationError):
            self.fault = found
            stays = "the zone before stays in force" if self.zone else f"{self._origin} is SERVFAIL until it is right"
            _log.error("%s; %s", self.fault, stays)
            return
        before, self.zone, self.fault = self.zone, found.zone, None
        if not found.is_other:
            return
        if before is not None:
            self._tell(before.serial, found.zone.serial)
        self._changed([self.key])

    def _tell(self, before: int, serial: int) -> None:
        """Say that another zone is in force, and whether those who ask for its serial only will hear of it."""
        path = self._file.path
        if is_newer(serial, before):
            _log.info("%s: zone %s with serial %d is in force", path, self._origin, serial)
        else:
            _log.warning(
                "%s: zone %s is in force with other records, but its serial %d is not above %d: servers that take the "
                "zone from here do not see that it has changed; count it up",
                path, self._origin, serial, before,
            )  # fmt: skip
