"""erratic: a server that misbehaves on purpose, for trying how clients bear it.

Syntax::

    erratic {
        drop [AMOUNT]
        truncate [AMOUNT]
        delay [AMOUNT [DURATION]]
    }

It answers every name of the server block: A with 192.0.2.53, AAAA with 2001:db8::53, other types with SERVFAIL. Every
AMOUNT-th query (2) gets no response with ``drop``, an empty one with TC set over UDP with ``truncate``, and one that is
DURATION (100ms) late with ``delay``; an AMOUNT of 0 is never. Without a block every second query is dropped.

Example::

    example.org:1053 {
        erratic {
            delay 3 50ms
        }
    }
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

import msgspec

from kubedns.corefile.blocks import Directive
from kubedns.corefile.options import PluginOptions, option
from kubedns.corefile.shapes import Shape
from kubedns.corefile.values import Count, Duration
from kubedns.dns.answer import Answer, servfail
from kubedns.dns.edns import ErrorCode
from kubedns.dns.question import Query
from kubedns.dns.rdata import RecordType, address_rdata
from kubedns.dns.rrset import RRset
from kubedns.plugins.plugin import Context, Next

_ADDRESSES = {
    RecordType.A: bytes((192, 0, 2, 53)),
    RecordType.AAAA: bytes.fromhex("20010db8000000000000000000000053"),
}
_NOTHING_FITS = 12
"""Octets of a response without records."""


@dataclass(frozen=True, slots=True)
class Every:
    """Each ``amount``-th query, 0: none; ``seconds``: by how much it is late."""

    amount: int = 0
    seconds: float = 0.1

    def hits(self, count: int) -> bool:
        """Whether the query with this number, from 1, is one of them."""
        return self.amount > 0 and count % self.amount == 0


class EveryWords(Shape[Every]):
    """``[AMOUNT]``."""

    syntax = "[AMOUNT]"

    def read(self, line: Directive) -> Every:
        """Which queries."""
        words = self.words(line, 0, 1)
        return Every(Count().convert(words[0]) if words else 2)


class DelayWords(Shape[Every]):
    """``[AMOUNT [DURATION]]``."""

    syntax = "[AMOUNT [DURATION]]"

    def read(self, line: Directive) -> Every:
        """Which queries, and by how much."""
        words = self.words(line, 0, 2)
        every = Every(Count().convert(words[0]) if words else 2)
        return replace(every, seconds=Duration().convert(words[1])) if len(words) > 1 else every


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """erratic { ... }: misbehave on purpose. None: as without the line."""

    drop: Every | None = option(EveryWords(), default=None, help="which queries get no response")
    truncate: Every | None = option(EveryWords(), default=None, help="which responses over UDP are truncated")
    delay: Every | None = option(DelayWords(), default=None, help="which responses are late")


class Erratic:
    """Counts queries and misbehaves."""

    word = "erratic"

    def __init__(self, drop: Every, truncate: Every, delay: Every) -> None:
        self._drop = drop
        self._truncate = truncate
        self._delay = delay
        self._count = 0

    async def answer(self, query: Query, next_plugin: Next) -> Answer:
        """An address, or what the count says; never kept."""
        self._count += 1
        count = self._count
        if self._delay.hits(count):
            await asyncio.sleep(self._delay.seconds)
        address = _ADDRESSES.get(query.question.type)
        if address is None:
            answer = servfail(ErrorCode.OTHER, "erratic has A and AAAA alone")
        else:
            rrset = RRset(query.question.name, 0, (address_rdata(address),))
            answer = Answer(answer=(rrset,), lifetime_seconds=0)
        truncated = {"max_udp_octets": _NOTHING_FITS} if self._truncate.hits(count) else {}
        return msgspec.structs.replace(answer, plugin=self.word, silent=self._drop.hits(count), **truncated)


def make(options: Options, context: Context) -> Erratic:
    """The plugin."""
    is_bare = options.drop is options.truncate is options.delay is None
    return Erratic(options.drop or Every(2 if is_bare else 0), options.truncate or Every(), options.delay or Every())
