"""reload: a changed Corefile takes effect while queries go on being answered.

Syntax::

    reload [INTERVAL] [JITTER]

Every INTERVAL (30s, at least 2s), give or take JITTER (15s, at most half of the interval), the Corefile and the files
that it imports are read. Where they have changed, the new configuration is built beside the old one and takes over its
sockets; no query is lost. One with faults changes nothing: all of them are logged, and ``coredns_reload_failed_total``
grows. SIGUSR1 and SIGHUP ask for it at once, with this word and without.

Example::

    .:1053 {
        reload 10s 5s
        any
    }
"""

from __future__ import annotations

from dataclasses import dataclass

from kubedns.corefile.options import PluginOptions, arguments
from kubedns.corefile.shapes import Group
from kubedns.corefile.values import Duration
from kubedns.plugins.plugin import Context


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds between two looks, and by how many of them one may be off."""

    interval: float = 30.0
    jitter: float = 15.0

    def wait(self, random: float) -> float:
        """Seconds until the next look; ``random`` is in [0, 1)."""
        jitter = min(self.jitter, self.interval / 2)
        return self.interval + jitter * (2 * random - 1)


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """reload [INTERVAL] [JITTER]: take a changed Corefile over."""

    pace: Pace = arguments(
        Group(Pace, {}, {"INTERVAL": Duration(at_least=2), "JITTER": Duration(at_least=1)}),
        default=Pace(),
        help="how often the files are looked at",
    )


class Reload:
    """Says how often the files are looked at; server/ does the rest."""

    word = "reload"

    def __init__(self, pace: Pace) -> None:
        self.pace = pace


def make(options: Options, context: Context) -> Reload:
    """The plugin."""
    return Reload(options.pace)
