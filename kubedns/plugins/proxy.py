"""proxy: the word for ``forward`` of CoreDNS before 1.5; read as that, with a warning.

Syntax::

    proxy FROM TO... {
        except NAMES...
        policy random|least_conn|round_robin|first
        max_fails NUMBER
        fail_timeout DURATION
        health_check PATH:PORT [DURATION]
        protocol dns [force_tcp]
        spray
    }

``policy first`` is ``sequential``, ``least_conn`` is ``random``; upstreams are probed by DNS, not over HTTP.

Example::

    .:1053 {
        proxy . 192.0.2.1
    }
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from enum import Enum

from kubedns.corefile.blocks import Directive
from kubedns.corefile.options import PluginOptions, arguments, ignored, option
from kubedns.corefile.shapes import Shape, Zones, unfit
from kubedns.corefile.values import Choice, Count
from kubedns.dns.names import Name
from kubedns.plugins import forward
from kubedns.plugins.forward_reading import Route, RouteWords
from kubedns.plugins.plugin import Context
from kubedns.upstream.policy import Policy

_log = logging.getLogger("plugin/proxy")


class OldPolicy(Enum):
    """What policies were called."""

    RANDOM = "random"
    LEAST_CONN = "least_conn"
    ROUND_ROBIN = "round_robin"
    FIRST = "first"


_POLICIES = {
    OldPolicy.RANDOM: Policy.RANDOM,
    OldPolicy.LEAST_CONN: Policy.RANDOM,
    OldPolicy.ROUND_ROBIN: Policy.ROUND_ROBIN,
    OldPolicy.FIRST: Policy.SEQUENTIAL,
}


class ProtocolWords(Shape[bool]):
    """``dns [force_tcp]``."""

    syntax = "dns [force_tcp]"

    def read(self, line: Directive) -> bool:
        """Whether everything is asked over TCP."""
        words = self.words(line, 1, 2)
        for word, known in zip(words, ("dns", "force_tcp"), strict=False):
            if word.text != known:
                raise unfit(word, "a protocol that is not spoken to upstreams", f"write `protocol {self.syntax}`")
        return len(words) > 1


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """proxy FROM TO... { ... }: what `forward` was called."""

    route: Route = arguments(RouteWords(), help="names at or below FROM are asked of TO")
    excepted: tuple[Name, ...] = option(Zones(1), default=(), word="except", help="names that are not forwarded")
    policy: OldPolicy = option(Choice(OldPolicy), default=OldPolicy.RANDOM, help="which upstream is asked first")
    max_fails: int = option(Count(), default=2, help="failures in a row after which an upstream is down; 0: never")
    protocol: bool = option(ProtocolWords(), default=False, help="force_tcp: ask everything over TCP")
    fail_timeout: bool = ignored("upstreams that failed are probed until they answer")
    health_check: bool = ignored("upstreams are probed by DNS")
    spray: bool = ignored("while all upstreams are down, they are asked all the same")


def make(options: Options, context: Context) -> forward.Forward:
    """The plugin."""
    _log.warning("%s: proxy is read as forward, which took its place", options.route.place)
    asked = forward.Options(
        route=options.route,
        excepted=options.excepted,
        policy=_POLICIES[options.policy],
        max_fails=options.max_fails,
        force_tcp=options.protocol,
    )
    return forward.make(asked, context)
