"""A server's life: it starts, changes with its configuration, and at SIGTERM ends in good order."""

from __future__ import annotations

import asyncio
import gc
import logging
import random
import resource
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress

from kubedns.errors import ListenError
from kubedns.plugins.reload import Reload
from kubedns.server.admin import Admin
from kubedns.server.reloading import Reloader
from kubedns.server.running import Running
from kubedns.server.server import Server

_log = logging.getLogger(__name__)
_COLLECT_AFTER = 200_000
"""Objects made before the collector looks for cycles; answers are made and dropped by the thousand and form none."""
_OPEN_FILES = 1 << 16
"""More than connections and questions to upstreams can take together."""
_END = (signal.SIGTERM, signal.SIGINT)
_CHANGE = (signal.SIGUSR1, signal.SIGHUP)


async def serve(
    server: Server,
    announce: Callable[[Sequence[str]], None],
    reloader: Reloader | None = None,
    admin: Admin | None = None,
) -> None:
    """Serve until SIGTERM or SIGINT; a second one ends the wait of a lame duck. ``announce`` hears the listeners.

    ``reloader`` builds the server anew when its files have changed; SIGUSR1 and SIGHUP ask for it. ``admin`` tells of
    the server that is at work.

    Raises:
        ListenError: an address cannot be listened on.
    """
    _allow_open_files()
    loop = asyncio.get_running_loop()
    signals: asyncio.Queue[int] = asyncio.Queue()
    for number in (*_END, *_CHANGE):
        loop.add_signal_handler(number, signals.put_nowait, number)
    running = Running(server, admin)
    try:
        await running.open()
        await running.start()
        gc.freeze()
        gc.set_threshold(_COLLECT_AFTER, 20, 20)
        announce([str(listener) for listener in running.listeners])
        if reloader is not None:
            reloader.took_over(server)
        await _change_until_end(running, reloader, signals)
        _log.info("stopping")
        running.server.stopping()
        # Whoever sends queries here has yet to hear that this server is not ready any more.
        with suppress(TimeoutError):
            await asyncio.wait_for(_end(signals), running.server.lameduck_seconds)
        await running.stop()
    finally:
        await running.close()


def _allow_open_files() -> None:
    """Let the process open as many as the machine allows: the usual 1024 are for programs that use select()."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


async def _change_until_end(running: Running, reloader: Reloader | None, signals: asyncio.Queue[int]) -> None:
    """Take changed configurations over until a signal says to end."""
    while True:
        number: int | None = None
        with suppress(TimeoutError):
            number = await asyncio.wait_for(signals.get(), _next_look(running.server))
        if number in _END:
            return
        if reloader is not None:
            await _change(running, reloader, asked=number is not None)


def _next_look(server: Server) -> float | None:
    """Seconds until the files are looked at; None: not unasked."""
    waits = [plugin.pace.wait(random.random()) for plugin in server.plugins if isinstance(plugin, Reload)]
    return min(waits, default=None)


async def _change(running: Running, reloader: Reloader, asked: bool) -> None:
    renewed = reloader.renewed(running.server, always=asked)
    if renewed is None:
        return
    try:
        await running.change_to(renewed)
    except ListenError as error:
        renewed.close()
        reloader.failed(running.server, error)
        return
    reloader.took_over(renewed)
    _log.info("the changed configuration is in force")


async def _end(signals: asyncio.Queue[int]) -> None:
    while await signals.get() not in _END:
        pass
