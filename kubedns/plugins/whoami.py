"""whoami: tells clients who they seem to be.

Syntax: ``whoami``

A query for A or AAAA, whatever the name, gets an empty answer, and in the additional section the client's address and
an SRV record at ``_udp.NAME`` or ``_tcp.NAME`` with its port. All else goes on.

Example::

    .:1053 {
        whoami
    }
"""

from __future__ import annotations

from dataclasses import dataclass

from kubedns.corefile.options import PluginOptions
from kubedns.dns.answer import Answer
from kubedns.dns.names import MAX_NAME_OCTETS, ROOT
from kubedns.dns.question import Query
from kubedns.dns.rdata import SRV, RecordType, address_rdata
from kubedns.dns.rrset import RRset
from kubedns.plugins.plugin import Context, Next


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """whoami: tell clients their address."""


class Whoami:
    """Answers with the client's address and port."""

    word = "whoami"

    async def answer(self, query: Query, next_plugin: Next) -> Answer:
        """The client's address and port, for this client only."""
        name, client = query.question.name, query.client
        if query.question.type not in (RecordType.A, RecordType.AAAA):
            return await next_plugin(query)
        records = [RRset(name, 0, (address_rdata(client.address),))]
        owner = name.child(b"_" + client.transport.value.encode())
        if owner.octets() <= MAX_NAME_OCTETS:
            records.append(RRset(owner, 0, (SRV(0, 0, client.port, ROOT),)))
        return Answer(additional=tuple(records), varies_by_client=True, plugin=self.word)


def make(options: Options, context: Context) -> Whoami:
    """The plugin."""
    return Whoami()
