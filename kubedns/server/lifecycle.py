"""A server's life: sockets are taken, the cluster is read, queries are answered, SIGTERM ends it in good order."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack

from kubedns.server.build import Server

_log = logging.getLogger(__name__)


async def serve(server: Server, announce: Callable[[Sequence[str]], None]) -> None:
    """Serve until SIGTERM or SIGINT; ``announce`` hears the addresses once queries are answered.

    Sockets are taken first, so that a taken port is known at once and early queries wait in their buffers instead of
    being lost.

    Raises:
        ListenError: an address cannot be listened on.
    """
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    async with AsyncExitStack() as stack:
        listeners = server.listeners()
        for listener in listeners:
            stack.callback(listener.close)
        for fault in await server.load():
            _log.error("%s", fault)
        for source in server.sources:
            task = asyncio.create_task(source.run())
            stack.callback(task.cancel)
        for listener in listeners:
            await listener.start()
        announce([str(listener) for listener in listeners])
        await stopped.wait()
        _log.info("stopping")
        await asyncio.gather(*(listener.stop() for listener in listeners))
