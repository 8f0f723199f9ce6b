"""bufsize: how long responses over UDP may be.

Syntax: ``bufsize [SIZE]``

SIZE is the number of octets, 512 to 4096, 1232 by default, which is also the limit without this word: a response no
longer than that passes every network unfragmented. What a client takes is the limit in any case.

Example::

    .:1053 {
        bufsize 1400
    }
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from kubedns.corefile.options import PluginOptions, arguments
from kubedns.corefile.values import Count
from kubedns.dns.answer import Answer
from kubedns.dns.edns import MAX_UDP_OCTETS, MIN_UDP_OCTETS
from kubedns.dns.question import Query
from kubedns.plugins.plugin import Context, Next


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """bufsize [SIZE]: limit responses over UDP."""

    size: int = arguments(
        Count(at_least=MIN_UDP_OCTETS, at_most=4096, syntax="SIZE"), default=MAX_UDP_OCTETS, help="octets"
    )


class BufferSize:
    """Limits every answer to ``octets`` over UDP."""

    word = "bufsize"

    def __init__(self, octets: int) -> None:
        self._octets = octets

    async def answer(self, query: Query, next_plugin: Next) -> Answer:
        """The rest of the chain's answer with its limit."""
        return msgspec.structs.replace(await next_plugin(query), max_udp_octets=self._octets)


def make(options: Options, context: Context) -> BufferSize:
    """The plugin."""
    return BufferSize(options.size)
