"""prometheus: the counters, for Prometheus to read.

Syntax::

    prometheus [ADDRESS]

ADDRESS is ``localhost:9153`` unless given. ``http://ADDRESS/metrics`` has the names, labels and buckets of CoreDNS, so
that its dashboards and alerts work, and some of our own (``kubedns_...``). Of two server blocks with the same address
the first has the socket; the counters are those of the whole process.

Example::

    cluster.local:1053 {
        any
        prometheus 127.0.0.1:9153
    }
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from kubedns.corefile.options import PluginOptions, arguments
from kubedns.observe.pages import HttpAddress, Page, Reply
from kubedns.plugins.pages import PageAddress
from kubedns.plugins.plugin import Context

DEFAULT_ADDRESS = HttpAddress("127.0.0.1", 9153)
CONTENT_TYPE = "text/plain; version=0.0.4"


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """prometheus [ADDRESS]: a page of counters."""

    address: HttpAddress = arguments(PageAddress(), default=DEFAULT_ADDRESS, help="where the page is")


class Prometheus:
    """The page. ``exposition`` gives its text, from whatever thread it is called."""

    word = "prometheus"

    def __init__(self, address: HttpAddress, exposition: Callable[[], str]) -> None:
        self._address = address
        self._exposition = exposition

    def pages(self) -> Iterable[Page]:
        """``/metrics``."""
        yield Page(self._address, "/metrics", lambda: Reply(200, self._exposition(), CONTENT_TYPE))


def make(options: Options, context: Context) -> Prometheus:
    """The plugin."""
    return Prometheus(options.address, context.exposition)
