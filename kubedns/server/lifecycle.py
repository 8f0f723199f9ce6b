"""A server's life: sockets are taken, the cluster is read, queries are answered, SIGTERM ends it in good order."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress

from kubedns.observe.pages import Page
from kubedns.server.server import Server

_log = logging.getLogger(__name__)
_COLLECT_AFTER = 200_000
"""Objects made before the collector looks for cycles; answers are made and dropped by the thousand and form none."""


async def serve(server: Server, announce: Callable[[Sequence[str]], None]) -> None:
    """Serve until SIGTERM or SIGINT; a second one ends the wait of a lame duck. ``announce`` hears the listeners.

    Sockets are taken first, so that a taken port is known at once and early queries wait in their buffers instead of
    being lost.

    Raises:
        ListenError: an address cannot be listened on.
    """
    loop = asyncio.get_running_loop()
    server.exposition.run_on(loop)
    signals: asyncio.Queue[int] = asyncio.Queue()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, signals.put_nowait, number)
    listeners = server.listeners()
    async with AsyncExitStack() as stack:
        stack.callback(server.close)
        for listener in listeners:
            stack.callback(listener.close)
        await stack.enter_async_context(_served(server.pages()))
        for fault in await server.load():
            _log.error("%s", fault)
        gc.freeze()
        gc.set_threshold(_COLLECT_AFTER, 20, 20)
        for source in server.sources:
            stack.callback(loop.create_task(source.run()).cancel)
        for listener in listeners:
            await listener.start()
        server.started()
        announce([str(listener) for listener in listeners])
        await signals.get()
        _log.info("stopping")
        server.stopping()
        # Whoever sends queries here has yet to hear that this server is not ready any more.
        with suppress(TimeoutError):
            await asyncio.wait_for(signals.get(), server.lameduck_seconds)
        await asyncio.gather(*(listener.stop() for listener in listeners))


@asynccontextmanager
async def _served(pages: Sequence[Page]) -> AsyncIterator[None]:
    """Serve ``pages``; where there are none, the HTTP library is not even imported."""
    if not pages:
        yield
        return
    from kubedns.observe.http import PageServer

    server = PageServer(pages)
    try:
        await server.start()
        yield
    finally:
        await server.stop()
