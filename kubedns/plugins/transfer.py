"""transfer: whole zones for other servers, and word to them when a zone has changed.

Syntax::

    transfer [ZONES...] {
        to ADDRESS[:PORT]|*...
    }

A client at one of the addresses gets all records of a zone that a plugin of the server block has, by AXFR or IXFR over
TCP; ``*`` stands for every client. Each address is told at its port (53) when a zone has changed (NOTIFY, RFC 1996).
Of several ``transfer`` lines the one with the longest zone counts. ZONES default to those of the server block.

Example::

    cluster.local:1053 {
        transfer {
            to 192.0.2.7 [2001:db8::7]:5353
        }
        kubernetes {
            manifests .
        }
    }
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from weakref import WeakSet

import msgspec

from kubedns.corefile.blocks import Word
from kubedns.corefile.options import PluginOptions, arguments, repeated
from kubedns.corefile.shapes import Many, OneWord, Zones
from kubedns.dns.answer import Answer, not_ready, refused, servfail
from kubedns.dns.edns import ErrorCode, ExtendedError
from kubedns.dns.names import Name
from kubedns.dns.question import Query
from kubedns.dns.rdata import TRANSFERS
from kubedns.dns.rrset import RRset, soa_of
from kubedns.plugins.peers import Peer, packed
from kubedns.plugins.plugin import Context, Next, Plugin, Transferable
from kubedns.upstream.exchange import UpstreamAddress
from kubedns.upstream.notifying import Notifier
from kubedns.zones.transfer import transferred

MAX_TRANSFERS = 10
"""Zones under way at a time; each holds a message or two, and the zone as it was when the transfer began."""
ANYBODY = "*"


class PeerOrAnybody(OneWord[UpstreamAddress | None]):
    """``ADDRESS[:PORT]`` or ``*``."""

    syntax = f"{Peer.syntax}|{ANYBODY}"

    def convert(self, word: Word) -> UpstreamAddress | None:
        """The address; None: every client."""
        return None if word.text == ANYBODY else Peer().convert(word)


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """transfer [ZONES...] { to ... }: whole zones for other servers."""

    to: tuple[tuple[UpstreamAddress | None, ...], ...] = repeated(
        Many(PeerOrAnybody(), 1), needed=True, help="who gets the zones"
    )
    zones: tuple[Name, ...] = arguments(Zones(), default=(), help="zones that are given; else the server block's")


@dataclass(frozen=True, slots=True)
class Rule:
    """Zones at or below ``zones`` are given to ``peers``; to every client if ``is_open``."""

    zones: tuple[Name, ...]
    peers: tuple[UpstreamAddress, ...]
    is_open: bool = False

    def allows(self, client: bytes) -> bool:
        """Whether a client at that address is given them."""
        return self.is_open or client in map(packed, self.peers)


_NOBODY = refused(ExtendedError(ErrorCode.PROHIBITED, "the zone is not given to this client"))
_NO_ZONE = refused(ExtendedError(ErrorCode.NOT_AUTHORITATIVE, "no zone begins at this name"))
_TOO_MANY = servfail(ErrorCode.OTHER, "too many zone transfers are under way")
_NOT_READY = not_ready("the zone is not loaded")


class Transfer:
    """Gives zones of the plugins of one server ``block``, as ``rules`` say."""

    word = "transfer"

    def __init__(self, rules: Sequence[Rule], block: Sequence[Plugin]) -> None:
        self._rules = rules
        self._block = block
        self._notifier = Notifier(self._notified)
        # Transfers that nobody reads any more are gone, however they ended.
        self._under_way: WeakSet[Iterator[RRset]] = WeakSet()

    def joined(self, other: Transfer) -> Transfer:
        """The rules of both."""
        return Transfer((*self._rules, *other._rules), self._block)

    def start(self, plugins: Sequence[Plugin]) -> None:
        """Tell the peers of changes, if there are any to be told."""
        if any(rule.peers for rule in self._rules):
            self._notifier.start()

    def close(self) -> None:
        """Tell them no more."""
        self._notifier.close()

    async def answer(self, query: Query, next_plugin: Next) -> Answer:
        """A whole zone, or why not; every other question goes on."""
        if query.question.type not in TRANSFERS:
            return await next_plugin(query)
        return msgspec.structs.replace(self._transfer(query), varies_by_client=True, plugin=self.word)

    def rules_for(self, zone: Name) -> list[Rule]:
        """What holds for ``zone``: the rules of the longest zone that it is in, by labels."""
        fitting = [(len(each.key), rule) for rule in self._rules for each in rule.zones if zone.is_at_or_below(each)]
        longest = max((length for length, _ in fitting), default=0)
        return [rule for length, rule in fitting if length == longest]

    def _sources(self) -> list[Transferable]:
        return [plugin for plugin in self._block if isinstance(plugin, Transferable)]

    def _notified(self) -> Iterator[tuple[Name, int, list[UpstreamAddress]]]:
        """Each zone, its serial, and who is to hear of changes."""
        for source in self._sources():
            for zone in source.apexes():
                soa = source.soa(zone)
                peers = [peer for rule in self.rules_for(zone) for peer in rule.peers]
                if soa is not None and peers:
                    yield zone, soa_of(soa).serial, peers

    def _transfer(self, query: Query) -> Answer:
        name = query.question.name
        if not any(rule.allows(query.client.address) for rule in self.rules_for(name)):
            return _NOBODY
        sources = self._sources()
        for source in sources:
            soa = source.soa(name)
            if soa is not None:
                return self._begun(query, soa, source)
        return _NOT_READY if any(name in source.apexes() for source in sources) else _NO_ZONE

    def _begun(self, query: Query, soa: RRset, source: Transferable) -> Answer:
        if len(self._under_way) >= MAX_TRANSFERS:
            return _TOO_MANY
        answer = transferred(query, soa, lambda: source.zone_records(query.question.name))
        if answer.records is not None:
            self._under_way.add(answer.records)
        return answer


def make(options: Options, context: Context) -> Transfer:
    """The plugin."""
    peers = [peer for line in options.to for peer in line]
    rule = Rule(options.zones or context.zones, tuple(peer for peer in peers if peer is not None), None in peers)
    return Transfer([rule], context.block)
