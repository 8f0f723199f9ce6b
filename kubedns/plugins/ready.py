"""ready: a page that says whether queries can be answered.

Syntax::

    ready [ADDRESS] {
        monitor until-ready|continuously
    }

ADDRESS is ``:8181`` unless given. ``http://ADDRESS/ready`` answers 200 when every plugin of the server is ready, else
503 with the words of those that are not. What has been ready once stays so, unless it is monitored ``continuously``.
As soon as the server is told to stop it is ready no more.

Example::

    .:1053 {
        any
        ready 127.0.0.1:8181
    }
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from kubedns.corefile.options import PluginOptions, arguments, option
from kubedns.corefile.values import Choice
from kubedns.observe.pages import HttpAddress, Page, Reply
from kubedns.plugins.pages import PageAddress
from kubedns.plugins.plugin import Context

DEFAULT_ADDRESS = HttpAddress("", 8181)


class Monitor(Enum):
    """For how long readiness is looked at."""

    UNTIL_READY = "until-ready"
    CONTINUOUSLY = "continuously"


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """ready [ADDRESS] { monitor until-ready|continuously }: a page for readiness probes."""

    address: HttpAddress = arguments(PageAddress(), default=DEFAULT_ADDRESS, help="where the page is")
    monitor: Monitor = option(Choice(Monitor), default=Monitor.UNTIL_READY, help="whether ready is for good")


class Ready:
    """The page. ``unready`` gives the words of the plugins that are not ready."""

    word = "ready"

    def __init__(self, address: HttpAddress, monitor: Monitor, unready: Callable[[], Sequence[str]]) -> None:
        self._address = address
        self._monitor = monitor
        self._unready = unready
        self._was_ready = False
        self._is_stopping = False

    def stopping(self) -> None:
        """Be ready no more."""
        self._is_stopping = True

    def pages(self) -> Iterable[Page]:
        """``/ready``."""
        yield Page(self._address, "/ready", self._respond)

    def _respond(self) -> Reply:
        if self._is_stopping:
            return Reply(503, "stopping")
        if self._was_ready and self._monitor is Monitor.UNTIL_READY:
            return Reply(200, "OK")
        words = self._unready()
        self._was_ready = not words
        return Reply(503, ",".join(words)) if words else Reply(200, "OK")


def make(options: Options, context: Context) -> Ready:
    """The plugin."""
    return Ready(options.address, options.monitor, context.unready)
