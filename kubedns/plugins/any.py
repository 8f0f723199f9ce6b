"""any: a query of type ANY gets one small answer, whatever the name has (RFC 8482 §4.2).

Syntax: ``any``

Example::

    .:1053 {
        any
    }
"""

from __future__ import annotations

from dataclasses import dataclass

from kubedns.corefile.options import PluginOptions
from kubedns.dns.answer import Answer
from kubedns.dns.question import Query
from kubedns.dns.rdata import ANY_REFUSED, RecordType
from kubedns.dns.rrset import RRset
from kubedns.plugins.plugin import Context, Next

TTL_SECONDS = 8482


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """any: answer ANY with one HINFO record."""


class Any:
    """Answers ANY itself; all else goes on."""

    word = "any"

    async def answer(self, query: Query, next_plugin: Next) -> Answer:
        """One HINFO record for ANY."""
        if query.question.type != RecordType.ANY:
            return await next_plugin(query)
        query.trace.rule("RFC 8482 4.2", "ANY is answered with one synthesised HINFO record")
        return Answer(answer=(RRset(query.question.name, TTL_SECONDS, (ANY_REFUSED,)),), plugin=self.word)


def make(options: Options, context: Context) -> Any:
    """The plugin."""
    return Any()
