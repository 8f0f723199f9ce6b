"""A server at work: its sockets, pages and sources, and how another one takes them over without a lost query."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kubedns.cluster.sources.source import Source
from kubedns.observe.pages import Page
from kubedns.server.admin import Admin
from kubedns.server.listening import Listener
from kubedns.server.server import Server

if TYPE_CHECKING:
    from kubedns.observe.http import PageServer

_HEAD_START_SECONDS = 0.5
"""How long no query is read at a start, as nearly all sources are there by then; what comes meanwhile is not lost."""
_log = logging.getLogger(__name__)


class Running:
    """``server`` at work, from :meth:`open` to :meth:`close`; ``admin`` tells of whichever is at work, if wanted."""

    def __init__(self, server: Server, admin: Admin | None = None) -> None:
        self.server = server
        self._admin = admin
        self.listeners: list[Listener] = []
        self._following: dict[Source, asyncio.Task[None]] = {}
        self._loading: asyncio.Task[None] | None = None
        self._pages: PageServer | None = None

    async def open(self) -> None:
        """Take all sockets, so that a taken port is known at once and early queries wait instead of being lost.

        Raises:
            ListenError: an address cannot be listened on.
        """
        self.server.exposition.run_on(asyncio.get_running_loop())
        self.listeners = self.server.listeners()
        await self._show(self.server.pages())
        if self._admin is not None:
            await self._admin.open(lambda: self.server)

    async def start(self) -> None:
        """Read the sources and answer queries; names that need a source that takes long to be read wait for it."""
        self._loading = asyncio.get_running_loop().create_task(self._load())
        done, _ = await asyncio.wait({self._loading}, timeout=_HEAD_START_SECONDS)
        for task in done:
            task.result()
        for listener in self.listeners:
            await listener.start()
        self.server.started()

    async def _load(self) -> None:
        for fault in await self.server.load():
            _log.error("%s", fault)
        self._follow(self.server)

    async def change_to(self, server: Server) -> None:
        """Let ``server`` take over: sockets of addresses that stay are kept, with the connections on them.

        Raises:
            ListenError: a new address cannot be listened on; then all is as before.
        """
        for fault in await server.load(self.server.sources):
            _log.error("%s", fault)
        opened = server.listeners({listener.address for listener in self.listeners})
        server.exposition.run_on(asyncio.get_running_loop())
        try:
            await self._show(server.pages())
        except BaseException:
            for listener in opened:
                listener.close()
            raise
        kept = [listener for listener in self.listeners if listener.address in server.resolvers]
        gone = [listener for listener in self.listeners if listener.address not in server.resolvers]
        for listener in kept:
            server.take_over(listener)
        server.lasting.cache.clear()
        old, self.server, self.listeners = self.server, server, [*kept, *opened]
        for listener in opened:
            await listener.start()
        self._follow(server)
        server.started()
        await asyncio.gather(*(listener.stop() for listener in gone))
        old.close()

    async def stop(self) -> None:
        """Answer what has come, and take no more."""
        await asyncio.gather(*(listener.stop() for listener in self.listeners))

    async def close(self) -> None:
        """Give everything up."""
        if self._admin is not None:
            await self._admin.close()
        for listener in self.listeners:
            listener.close()
        for task in (self._loading, *self._following.values()):
            if task is not None:
                task.cancel()
        self.server.close()
        if self._pages is not None:
            await self._pages.stop()

    def _follow(self, server: Server) -> None:
        """Follow the sources of ``server``, and no others."""
        for source in self._following.keys() - set(server.sources):
            self._following.pop(source).cancel()
        for source in server.sources:
            if source not in self._following:
                self._following[source] = asyncio.get_running_loop().create_task(source.run())

    async def _show(self, pages: Sequence[Page]) -> None:
        """Serve ``pages``; where there were never any, the HTTP library is not even imported."""
        if self._pages is None:
            if not pages:
                return
            from kubedns.observe.http import PageServer

            is_shared = any(address.is_shared for address in self.server.resolvers)
            self._pages = PageServer(is_shared=is_shared)
        await self._pages.show(pages)
