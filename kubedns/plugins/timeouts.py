"""timeouts: how long connections may take, over TCP, TLS and HTTPS.

Syntax::

    timeouts {
        read DURATION
        write DURATION
        idle DURATION
    }

``read``: from a message's first octet to its last, and from connecting to the first (3 s). ``write``: until a client
has taken what it was sent (5 s). ``idle``: without a query (10 s). Each is from 1 s to 24 h.

Example::

    .:1053 {
        timeouts {
            idle 1m
        }
        forward . 192.0.2.1
    }
"""

from __future__ import annotations

from dataclasses import dataclass

from kubedns.corefile.options import PluginOptions, option
from kubedns.corefile.values import Duration
from kubedns.plugins.plugin import Context

_RANGE = Duration(at_least=1, at_most=24 * 3600)


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """timeouts { ... }: how long connections may take. None: as without the line."""

    read: float | None = option(_RANGE, default=None, help="from a message's first octet to its last")
    write: float | None = option(_RANGE, default=None, help="until a client has taken what it was sent")
    idle: float | None = option(_RANGE, default=None, help="without a query")


class Timeouts:
    """Is looked up by whoever listens for the server block: ``read``, ``write``, ``idle`` in seconds, if set."""

    word = "timeouts"

    def __init__(self, options: Options) -> None:
        self.read = options.read
        self.write = options.write
        self.idle = options.idle


def make(options: Options, context: Context) -> Timeouts:
    """The plugin."""
    return Timeouts(options)
