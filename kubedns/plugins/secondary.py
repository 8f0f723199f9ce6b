"""secondary: zones taken from their primaries, and kept up to date.

Syntax::

    secondary [ZONES...] {
        transfer from ADDRESS[:PORT]...
        fallthrough [ZONES...]
    }

Each zone is taken by AXFR from the first primary that has a newer one, and again when a primary says that it has
changed (NOTIFY) or the SOA's refresh time is over. While no primary can be reached, or what it sends is no zone, the
last good one stays in force; after the SOA's expire time its names are SERVFAIL, as they are before the first transfer.
The port of an ADDRESS is 53 unless given, ZONES are those of the server block. With ``fallthrough`` missing names go on
to the next plugin.

Example::

    example.org:1053 {
        secondary {
            transfer from 192.0.2.1 192.0.2.2:5353
        }
    }
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from kubedns.corefile.blocks import Directive
from kubedns.corefile.options import PluginOptions, arguments, repeated
from kubedns.corefile.shapes import Shape, Zones, convert_all, unfit
from kubedns.dns.answer import Answer, Rcode, servfail
from kubedns.dns.edns import ErrorCode
from kubedns.dns.names import Name
from kubedns.dns.question import Query
from kubedns.observe.rows import SECONDARY_FAILURES
from kubedns.plugins.fallthrough import FallthroughLine, falling_through, fallthrough_option
from kubedns.plugins.given_zones import GivenZones
from kubedns.plugins.peers import Peer
from kubedns.plugins.plugin import Context, Next, Plugin
from kubedns.plugins.secondary_copy import Copy
from kubedns.upstream.exchange import UpstreamAddress
from kubedns.zones.zone import Zone

_ABSENT = servfail(ErrorCode.NOT_READY, "the zone has not been transferred yet")
_EXPIRED = servfail(ErrorCode.INVALID_DATA, "the zone has expired: no primary could be asked for too long")


class Primaries(Shape[tuple[UpstreamAddress, ...]]):
    """``from ADDRESS[:PORT]...``."""

    syntax = f"from {Peer.syntax}..."

    def read(self, line: Directive) -> tuple[UpstreamAddress, ...]:
        """The primaries."""
        first, *rest = self.words(line, 2)
        if first.text != "from":
            remedy = "use the plugin `transfer`" if first.text == "to" else f"write `transfer {self.syntax}`"
            raise unfit(first, "not known here", remedy)
        return tuple(convert_all(rest, Peer().convert))


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """secondary [ZONES...] { ... }: zones taken from their primaries."""

    transfer: tuple[tuple[UpstreamAddress, ...], ...] = repeated(
        Primaries(), needed=True, help="whom the zones are taken from"
    )
    zones: tuple[Name, ...] = arguments(Zones(), default=(), help="the zones; else the server block's")
    fallthrough: FallthroughLine = fallthrough_option()


class Secondary(GivenZones):
    """Answers from ``copies``, by the longest zone that a name is in."""

    word = "secondary"

    def __init__(self, copies: Iterable[Copy], fallthrough: Sequence[Name]) -> None:
        self.copies = sorted(copies, key=lambda copy: -len(copy.origin.key))
        self._fallthrough = fallthrough

    def start(self, plugins: Sequence[Plugin]) -> None:
        """Keep the copies."""
        for copy in self.copies:
            copy.start()

    def close(self) -> None:
        """Keep them no longer."""
        for copy in self.copies:
            copy.close()

    def notified(self, zone: Name, client: bytes) -> bool:
        """Look for a zone that one of its primaries says has changed."""
        copy = self._copy(zone)
        return copy is not None and copy.notified(client)

    def apexes(self) -> Iterable[Name]:
        """Its zones, with or without a copy of them."""
        return [copy.origin for copy in self.copies]

    def zone_at(self, apex: Name) -> Zone | None:
        """The copy of one of its zones, while it may be given."""
        copy = self._copy(apex)
        return None if copy is None or copy.is_expired else copy.zone

    async def answer(self, query: Query, next_plugin: Next) -> Answer:
        """What the zone says; other zones' names go on, and so does a missing one that may."""
        name = query.question.name
        copy = next((each for each in self.copies if name.is_at_or_below(each.origin)), None)
        if copy is None:
            return await next_plugin(query)
        if copy.zone is None or copy.is_expired:
            return _ABSENT if copy.zone is None else _EXPIRED
        if query.trace.active:
            query.trace.step(self.word, f"zone {copy.origin}, serial {copy.zone.serial}")
        answer = copy.zone.answer(query.question)
        if answer.rcode == Rcode.NXDOMAIN and name.is_within(self._fallthrough):
            return (await next_plugin(query)).also_on(frozenset({copy.key}))
        return msgspec.structs.replace(answer, depends_on=frozenset({copy.key}), plugin=self.word)

    def _copy(self, zone: Name) -> Copy | None:
        return next((copy for copy in self.copies if copy.origin == zone), None)


def make(options: Options, context: Context) -> Secondary:
    """The plugin; it begins with the zones that the configuration before had from the same primaries."""
    zones = options.zones or context.zones
    primaries = tuple(dict.fromkeys(address for line in options.transfer for address in line))
    known = {
        (copy.origin, copy.primaries): copy
        for plugin in context.before
        if isinstance(plugin, Secondary)
        for copy in plugin.copies
    }
    copies = [
        Copy(zone, primaries, context.changed, context.metrics.cell(SECONDARY_FAILURES, str(zone))) for zone in zones
    ]
    for copy in copies:
        before = known.get((copy.origin, copy.primaries))
        if before is not None:
            copy.begin_with(before)
    fallthrough = falling_through(options.fallthrough, zones)
    return Secondary(copies, fallthrough)
