"""health: a page that says the process lives.

Syntax::

    health [ADDRESS] {
        lameduck DURATION
    }

ADDRESS is ``:8080`` unless given. ``http://ADDRESS/health`` answers ``OK`` from a thread of its own, whatever the API
server or an upstream does. At SIGTERM queries go on being answered for ``lameduck``, while nothing new is sent here.

Example::

    .:1053 {
        any
        health 127.0.0.1:8080 {
            lameduck 5s
        }
    }
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kubedns.corefile.options import PluginOptions, arguments, option
from kubedns.corefile.values import Duration
from kubedns.observe.pages import HttpAddress, Page, Reply
from kubedns.plugins.pages import PageAddress
from kubedns.plugins.plugin import Context

DEFAULT_ADDRESS = HttpAddress("", 8080)


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """health [ADDRESS] { lameduck DURATION }: a page for liveness probes."""

    address: HttpAddress = arguments(PageAddress(), default=DEFAULT_ADDRESS, help="where the page is")
    lameduck: float = option(Duration(), default=0.0, help="how long to go on answering after SIGTERM")


class Health:
    """The page, and how long the server goes on after SIGTERM."""

    word = "health"

    def __init__(self, address: HttpAddress, lameduck_seconds: float) -> None:
        self.lameduck_seconds = lameduck_seconds
        self._address = address

    def pages(self) -> Iterable[Page]:
        """``/health``."""
        yield Page(self._address, "/health", lambda: Reply(200, "OK"))


def make(options: Options, context: Context) -> Health:
    """The plugin."""
    return Health(options.address, options.lameduck)
