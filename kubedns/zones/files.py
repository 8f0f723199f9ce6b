"""Files that static zones are read from: looked at now and then, read again when they have changed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from pathlib import Path

from kubedns.dns.answer import Key
from kubedns.dns.names import Name
from kubedns.zones.masterfile import BadMasterFileError, parse_zone
from kubedns.zones.zone import Zone

_log = logging.getLogger(__name__)


class WatchedFile:
    """The file at ``path``. ``take`` gets its octets whenever it has changed, and None where it is not there.

    It is looked at by time and size, through links, so that a mounted ConfigMap's changes are seen. What cannot be read
    is told once; ``take`` does not hear of it, so that what was read before stays in force.
    """

    def __init__(self, path: Path, take: Callable[[bytes | None], None]) -> None:
        self.path = path
        self._take = take
        self._stamp: tuple[int, int] | None = None
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
            stamp = self._stamp_now()
            if stamp == self._stamp and self._has_looked:
                return
            octets = None if stamp is None else self.path.read_bytes()
        except OSError as error:
            if not self._is_told:
                _log.error("%s: cannot be read: %s; what was read before stays in force", self.path, error.strerror)
            self._is_told = True
            return
        self._stamp, self._has_looked, self._is_told = stamp, True, False
        self._take(octets)

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
            self.look()

    def _stamp_now(self) -> tuple[int, int] | None:
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return None
        return found.st_mtime_ns, found.st_size


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
        self._file = WatchedFile(path, self._take)
        self.look = self._file.look
        self.follow = self._file.follow
        self.close = self._file.close

    def _take(self, octets: bytes | None) -> None:
        path = self._file.path
        try:
            if octets is None:
                raise BadMasterFileError(0, "there is no such file")
            zone = parse_zone(octets.decode(), self._origin)
        except (BadMasterFileError, UnicodeDecodeError) as error:
            line = getattr(error, "line", 0)
            self.fault = f"{path}:{line}: {error}" if line else f"{path}: {error}"
            stays = "the zone before stays in force" if self.zone else f"{self._origin} is SERVFAIL until it is right"
            _log.error("%s; %s", self.fault, stays)
            return
        if self.zone is not None:
            _log.info("%s: zone %s with serial %d is in force", path, self._origin, zone.serial)
        self.zone, self.fault = zone, ""
        self._changed([self.key])
