"""A primary that does what a script says with those who want its zone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import dns.flags
import dns.message
import dns.rdatatype
import dns.rrset

from kubedns.transport.framing import framed
from kubedns.upstream.exchange import UpstreamAddress

Lines = Sequence[str]


def soa(serial: int, refresh: int = 7200, retry: int = 1800, expire: int = 86400) -> str:
    return f"a.test. 60 IN SOA ns.a.test. host.a.test. {serial} {refresh} {retry} {expire} 5"


class Primary:
    """Answers a SOA query with ``soa``, an AXFR with ``messages`` of ``lines`` each; then closes if it ``ends``.

    ``rcode``: of every message. ``shift`` is added to each ID. ``asked``: the types that were asked for.
    """

    def __init__(self, soa_line: str, *messages: Lines, ends: bool = False, rcode: int = 0, shift: int = 0) -> None:
        self.soa = soa_line
        self.messages = list(messages)
        self.ends = ends
        self.rcode = rcode
        self.shift = shift
        self.raw = b""
        self.asked: list[str] = []
        self.address = UpstreamAddress("127.0.0.1", 0)

    @asynccontextmanager
    async def served(self) -> AsyncIterator[UpstreamAddress]:
        server = await asyncio.start_server(self._serve, self.address.host, self.address.port)
        self.address = UpstreamAddress("127.0.0.1", server.sockets[0].getsockname()[1])
        try:
            yield self.address
        finally:
            server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                octets = await reader.readexactly(int.from_bytes(await reader.readexactly(2)))
                query = dns.message.from_wire(octets)
                rdtype = dns.rdatatype.to_text(query.question[0].rdtype)
                self.asked.append(rdtype)
                if self.raw:
                    writer.write(self.raw)
                    continue
                for lines in [[self.soa]] if rdtype == "SOA" else self.messages:
                    writer.write(framed(self._message(query, lines)))
                if self.ends and rdtype == "AXFR":
                    break
        except asyncio.IncompleteReadError:
            pass
        finally:
            writer.close()

    def _message(self, query: dns.message.Message, lines: Lines) -> bytes:
        made = dns.message.make_response(query)
        made.id = (query.id + self.shift) & 0xFFFF
        made.flags |= dns.flags.AA
        made.set_rcode(dns.rcode.Rcode(self.rcode))
        for line in lines:
            name, ttl, rdclass, rdtype, rdata = line.split(None, 4)
            made.answer.append(dns.rrset.from_text(name, int(ttl), rdclass, rdtype, rdata))
        return made.to_wire(max_size=65535)
