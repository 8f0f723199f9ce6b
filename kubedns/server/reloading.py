"""Reloading: a Corefile that has changed, with what it imports → a server that can take over; or every fault in it."""

from __future__ import annotations

import logging
from collections.abc import Callable

from kubedns.corefile.blocks import Corefile, ServerBlock
from kubedns.errors import ConfigurationError, ConfigurationErrors, KubednsError, Location
from kubedns.observe.rows import RELOAD_FAILED, RELOAD_VERSION
from kubedns.server.build import Settings, build_server
from kubedns.server.files import DiskFiles
from kubedns.server.server import Server

_log = logging.getLogger("plugin/reload")


Load = Callable[[DiskFiles], Corefile]
"""Reads the configuration through the files it is handed, which know afterwards whether they are others than before."""


class Reloader:
    """Watches what ``load`` reads; ``file`` is what people call it."""

    def __init__(self, file: str, load: Load, settings: Settings) -> None:
        self._file = file
        self._load = load
        self._settings = settings
        self._digest = ""
        self._blocks: tuple[ServerBlock, ...] = ()
        self._fault: ConfigurationErrors | None = None
        self._read()

    def renewed(self, server: Server, always: bool = False) -> Server | None:
        """The server to take over from ``server``, if the files have changed (or ``always``) and are good.

        What is wrong with them is logged, fault by fault, and counted, once for each change.
        """
        if not self._read() and not always:
            return None
        try:
            if self._fault is not None:
                raise self._fault
            return build_server(self._blocks, self._settings, server)
        except ConfigurationErrors as error:
            self.failed(server, error)
            return None

    def failed(self, server: Server, error: KubednsError) -> None:
        """The new configuration cannot be taken over; ``server`` goes on."""
        server.lasting.metrics.cell(RELOAD_FAILED).add()
        for fault in error.faults if isinstance(error, ConfigurationErrors) else (error,):
            _log.error("%s", fault)
        _log.error("%s cannot be taken over; the configuration before it stays in force", self._file)

    def took_over(self, server: Server) -> None:
        """``server`` is at work."""
        cells = server.lasting.metrics.cells
        cells.pop(RELOAD_VERSION, None)
        server.lasting.metrics.cell(RELOAD_VERSION, "sha512", self._digest).add()
        server.lasting.metrics.cell(RELOAD_FAILED)

    def _read(self) -> bool:
        """Read the files; whether they are others than before."""
        files, before = DiskFiles(), self._digest
        try:
            self._blocks, self._fault = self._load(files).blocks, None
            if not self._blocks:
                message = "no server block, so nothing would be served"
                raise ConfigurationErrors([ConfigurationError(message, location=Location(self._file))])
        except ConfigurationErrors as fault:
            self._fault = fault
        self._digest = files.digest
        return self._digest != before
