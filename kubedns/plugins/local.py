"""local: names that must never leave the machine are answered here (RFC 6761, RFC 6303).

Syntax: ``local``

It answers ``localhost.`` and names below it with the loopback addresses, ``1.0.0.127.in-addr.arpa.`` with
``localhost.``, and the rest of ``127.in-addr.arpa.``, ``0.in-addr.arpa.`` and ``255.in-addr.arpa.`` as empty zones.
``localhost.DOMAIN``, which a search list makes of localhost, gets the loopback addresses too, and is counted: somewhere
a resolver asks for what it should know.

Example::

    .:1053 {
        local
        forward . 192.0.2.1
    }
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from kubedns.corefile.options import PluginOptions
from kubedns.dns.answer import Answer
from kubedns.dns.names import Name, parse_name
from kubedns.dns.question import Query, Question
from kubedns.observe.rows import LOCALHOST_REQUESTS
from kubedns.plugins.plugin import Context, Next
from kubedns.zones.masterfile import parse_zone
from kubedns.zones.zone import Zone

_LOCALHOST = parse_name("localhost.")
_START = """
$TTL 86400
@ SOA localhost. root.localhost. 1 0 0 0 86400
@ NS localhost.
"""
_RECORDS = {
    "localhost.": "@ A 127.0.0.1\n@ AAAA ::1\n* A 127.0.0.1\n* AAAA ::1\n",
    "127.in-addr.arpa.": "1.0.0 PTR localhost.\n",
    "0.in-addr.arpa.": "",
    "255.in-addr.arpa.": "",
}


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """local: answer names that must not leave the machine."""


class Local:
    """Answers from ``zones``; ``searched`` is told how often localhost was asked for with a domain behind it."""

    word = "local"

    def __init__(self, zones: dict[Name, Zone], searched: Callable[[int], None]) -> None:
        self._zones = zones
        self._searched = searched

    async def answer(self, query: Query, next_plugin: Next) -> Answer:
        """The loopback addresses and empty zones; other names go on."""
        name = query.question.name
        for origin, zone in self._zones.items():
            if name.is_at_or_below(origin):
                return msgspec.structs.replace(zone.answer(query.question), plugin=self.word)
        if len(name.key) > 1 and name.key[0] == _LOCALHOST.key[0]:
            self._searched(1)
            found = self._zones[_LOCALHOST].answer(Question(_LOCALHOST, query.question.type))
            answer = tuple(msgspec.structs.replace(rrset, owner=name) for rrset in found.answer)
            return Answer(answer=answer, plugin=self.word, served_again=self._searched)
        return await next_plugin(query)


def make(options: Options, context: Context) -> Local:
    """The plugin."""
    zones = {parse_name(origin): parse_zone(_START + text, parse_name(origin)) for origin, text in _RECORDS.items()}
    return Local(zones, context.metrics.cell(LOCALHOST_REQUESTS).add)
