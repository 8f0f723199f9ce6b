"""Serves pages, on a thread and a loop of its own, so that a busy server still answers its probes."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any

from aiohttp import web

from kubedns.errors import ListenError
from kubedns.observe.pages import HttpAddress, Page

_LAST_WAIT_SECONDS = 0.5
"""How long a page that is being given is waited for when its address is closed."""


class PageServer:
    """Serves pages; pages of one address share its socket, and of two for one path the first is served.

    ``is_shared``: other processes may listen on the same addresses (SO_REUSEPORT).
    """

    def __init__(self, *, is_shared: bool = False) -> None:
        self._is_shared = is_shared
        self._sites: dict[HttpAddress, dict[str, Page]] = {}
        self._runners: dict[HttpAddress, web.AppRunner] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="pages", daemon=True)

    async def show(self, pages: Iterable[Page]) -> None:
        """Serve ``pages`` and no others; an address that stays keeps its socket.

        Raises:
            ListenError: an address cannot be listened on; then all is as before.
        """
        if not self._thread.is_alive():
            self._thread.start()
        sites: dict[HttpAddress, dict[str, Page]] = {}
        for page in pages:
            sites.setdefault(page.address, {}).setdefault(page.path, page)
        opened: list[HttpAddress] = []
        try:
            for address in sites.keys() - self._sites.keys():
                await self._call(self._open(address))
                opened.append(address)
        except ListenError:
            for address in opened:
                await self._call(self._close(address))
            raise
        gone = self._sites.keys() - sites.keys()
        self._sites = sites
        for address in gone:
            await self._call(self._close(address))

    async def stop(self) -> None:
        """Close everything."""
        if not self._thread.is_alive():
            return
        for address in list(self._runners):
            await self._call(self._close(address))
        self._loop.call_soon_threadsafe(self._loop.stop)
        await asyncio.to_thread(self._thread.join)
        self._loop.close()

    async def _call(self, coroutine: Coroutine[Any, Any, None]) -> None:
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coroutine, self._loop))

    async def _open(self, address: HttpAddress) -> None:
        application = web.Application()
        application.router.add_get("/{path:.*}", self._handler(address))
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=_LAST_WAIT_SECONDS)
        await runner.setup()
        try:
            await web.TCPSite(runner, address.host or None, address.port, reuse_port=self._is_shared or None).start()
        except OSError as error:
            await runner.cleanup()
            reason = error.strerror or str(error)
            raise ListenError(f"cannot listen on {address} (HTTP): {reason}", remedy="use another port") from error
        self._runners[address] = runner

    async def _close(self, address: HttpAddress) -> None:
        runner = self._runners.pop(address, None)
        if runner is not None:
            await runner.cleanup()

    def _handler(self, address: HttpAddress) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def handle(request: web.Request) -> web.Response:
            page = self._sites.get(address, {}).get(request.path)
            if page is None:
                raise web.HTTPNotFound
            reply = page.respond()
            headers = {"Content-Type": reply.content_type}
            return web.Response(status=reply.status, body=reply.text.encode(), headers=headers)

        return handle
