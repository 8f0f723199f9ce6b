"""minimal: positive answers go without authority and additional sections.

Syntax: ``minimal``

Denials keep their SOA, without which they could not be kept by anyone (RFC 2308 §3).

Example::

    cluster.local:1053 {
        minimal
    }
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from kubedns.corefile.options import PluginOptions
from kubedns.dns.answer import Answer, Rcode
from kubedns.dns.question import Query
from kubedns.plugins.plugin import Context, Next


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """minimal: leave out of positive answers what was not asked for."""


class Minimal:
    """Takes the extras off positive answers."""

    word = "minimal"

    async def answer(self, query: Query, next_plugin: Next) -> Answer:
        """The rest of the chain's answer, smaller where it is positive."""
        answer = await next_plugin(query)
        if answer.rcode != Rcode.NOERROR or answer.is_denial or not answer.answer:
            return answer
        return msgspec.structs.replace(answer, authority=(), additional=())


def make(options: Options, context: Context) -> Minimal:
    """The plugin."""
    return Minimal()
