"""nsid: responses name the server that gave them, to clients that ask for it (RFC 5001).

Syntax: ``nsid [DATA]``

DATA is what the EDNS option NSID says, this machine's name unless given; several words are joined by blanks.

Example::

    .:1053 {
        nsid dns-1
        forward . 192.0.2.1
    }
"""

from __future__ import annotations

import socket
from dataclasses import dataclass

import msgspec

from kubedns.corefile.options import PluginOptions, arguments
from kubedns.corefile.shapes import Line
from kubedns.dns.answer import Answer
from kubedns.dns.question import Query
from kubedns.plugins.plugin import Context, Next


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """nsid [DATA]: name the server to those who ask."""

    name: str = arguments(Line("[DATA]"), default="", help="what is told; else this machine's name")


class Nsid:
    """Puts ``name`` on every answer; it is written for those who ask."""

    word = "nsid"

    def __init__(self, name: bytes) -> None:
        self._name = name

    async def answer(self, query: Query, next_plugin: Next) -> Answer:
        """The rest of the chain's answer, with the name."""
        answer = await next_plugin(query)
        return msgspec.structs.replace(answer, server_name=self._name) if query.asks_server_name else answer


def make(options: Options, context: Context) -> Nsid:
    """The plugin."""
    return Nsid((options.name or socket.gethostname()).encode())
