"""health: a page that says the process lives.

Syntax::

    health [ADDRESS] {
        lameduck DURATION
    }

ADDRESS is ``:8080`` unless given. ``http://ADDRESS/health`` answers ``OK`` from a thread of its own, whatever the API
server or an upstream does. At SIGTERM queries go on being answered for ``lameduck``, while nothing new is sent here.
Once a second the server asks for the page itself, by the loop that answers queries, and counts how long that takes.

Example::

    .:1053 {
        any
        health 127.0.0.1:8080 {
            lameduck 5s
        }
    }
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from time import perf_counter

from kubedns.corefile.options import PluginOptions, arguments, option
from kubedns.corefile.values import Duration
from kubedns.observe.metrics import Metrics
from kubedns.observe.pages import HttpAddress, Page, Reply
from kubedns.observe.rows import HEALTH_DURATION, HEALTH_FAILURES
from kubedns.plugins.pages import PageAddress
from kubedns.plugins.plugin import Context, Plugin

DEFAULT_ADDRESS = HttpAddress("", 8080)
_PERIOD_SECONDS = 1.0
_PATIENCE_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """health [ADDRESS] { lameduck DURATION }: a page for liveness probes."""

    address: HttpAddress = arguments(PageAddress(), default=DEFAULT_ADDRESS, help="where the page is")
    lameduck: float = option(Duration(), default=0.0, help="how long to go on answering after SIGTERM")


class Health:
    """The page, and how long the server goes on after SIGTERM."""

    word = "health"

    def __init__(self, address: HttpAddress, lameduck_seconds: float, metrics: Metrics) -> None:
        self.lameduck_seconds = lameduck_seconds
        self._address = address
        self._durations = metrics.histogram(HEALTH_DURATION)
        self._failures = metrics.cell(HEALTH_FAILURES)
        self._asking: asyncio.Task[None] | None = None

    def start(self, plugins: Sequence[Plugin]) -> None:
        """Ask for the page now and then."""
        self._asking = asyncio.get_running_loop().create_task(self._ask_now_and_then())

    def close(self) -> None:
        """Ask for it no more."""
        if self._asking is not None:
            self._asking.cancel()

    def pages(self) -> Iterable[Page]:
        """``/health``."""
        yield Page(self._address, "/health", lambda: Reply(200, "OK"))

    async def _ask_now_and_then(self) -> None:
        while True:
            await asyncio.sleep(_PERIOD_SECONDS)
            begun = perf_counter()
            try:
                async with asyncio.timeout(_PATIENCE_SECONDS):
                    await self._ask()
            except (OSError, EOFError):
                self._failures.add()
            else:
                self._durations.add(perf_counter() - begun)

    async def _ask(self) -> None:
        """Ask for the page.

        Raises:
            OSError: it cannot be had.
            EOFError: it ends too early.
        """
        reader, writer = await asyncio.open_connection(self._address.host or "localhost", self._address.port)
        try:
            writer.write(b"GET /health HTTP/1.0\r\n\r\n")
            await reader.readuntil(b"\r\n\r\n")
        finally:
            writer.close()


def make(options: Options, context: Context) -> Health:
    """The plugin."""
    return Health(options.address, options.lameduck, context.metrics)
