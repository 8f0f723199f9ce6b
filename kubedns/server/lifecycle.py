"""A server's life: sockets are taken, the cluster is read, queries are answered, SIGTERM ends it in good order."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack

from kubedns.server.server import Server

_log = logging.getLogger(__name__)
_COLLECT_AFTER = 200_000
"""Objects made before the collector looks for cycles; answers are made and dropped by the thousand and form none."""


async def serve(server: Server, announce: Callable[[Sequence[str]], None]) -> None:
    """Serve until SIGTERM or SIGINT; ``announce`` hears the listeners once queries are answered.

    Sockets are taken first, so that a taken port is known at once and early queries wait in their buffers instead of
    being lost.

    Raises:
        ListenError: an address cannot be listened on.
    """
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    listeners = server.listeners()
    async with AsyncExitStack() as stack:
        for listener in listeners:
            stack.callback(listener.close)
        for fault in await server.load():
            _log.error("%s", fault)
        gc.freeze()
        gc.set_threshold(_COLLECT_AFTER, 20, 20)
        for source in server.sources:
            stack.callback(loop.create_task(source.run()).cancel)
        for listener in listeners:
            await listener.start()
        announce([str(listener) for listener in listeners])
        await stopped.wait()
        _log.info("stopping")
        await asyncio.gather(*(listener.stop() for listener in listeners))
