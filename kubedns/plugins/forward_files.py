"""Upstreams that a file in the form of resolv.conf names: the file is read again when it changes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from kubedns.plugins.forward_reading import Route, upstreams_of
from kubedns.upstream.exchange import UpstreamAddress
from kubedns.upstream.resolvconf import name_servers
from kubedns.zones.files import WatchedFile, as_it_is

_LOOK_SECONDS = 5.0
_log = logging.getLogger("plugin/forward")


class UpstreamFiles:
    """Follows the files of ``route``. ``changed`` gets all of its upstreams whenever they are others than before.

    A file that is not there any more, or names no server, changes nothing: what it said before stays in force.
    """

    def __init__(self, route: Route, changed: Callable[[Sequence[UpstreamAddress]], None]) -> None:
        self._route = route
        self._changed = changed
        self._named = dict(route.named)
        self._in_force = route.upstreams
        self._files = [WatchedFile(path, as_it_is, partial(self._take, path)) for path in self._named]

    def start(self) -> None:
        """Look at the files from now on."""
        for file in self._files:
            file.look()
            file.follow(_LOOK_SECONDS)

    def close(self) -> None:
        """Look at them no more."""
        for file in self._files:
            file.close()

    def look(self) -> None:
        """Look at them now."""
        for file in self._files:
            file.look()

    def _take(self, path: Path, octets: bytes | None) -> None:
        found = name_servers((octets or b"").decode(errors="replace"))
        if not found:
            why = "it is not there" if octets is None else "it has no nameserver line"
            _log.error("%s: %s; the upstreams before stay in force", path, why)
            return
        self._named[path] = found
        upstreams = upstreams_of(self._route.places, self._named)
        if upstreams != self._in_force:
            self._in_force = upstreams
            _log.info("%s: asked from now on: %s", path, ", ".join(map(str, upstreams)))
            self._changed(upstreams)
