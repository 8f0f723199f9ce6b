"""An upstream that does what a script says, over UDP and TCP on one port of loopback."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Iterable

import dns.flags
import dns.message
import dns.rcode
import dns.rrset

from kubedns.upstream.exchange import UpstreamAddress
from tests.support.process import free_port

Script = Callable[[dns.message.Message, str], Iterable[bytes]]
"""The datagrams (or messages) to send for a query that came over ``udp`` or ``tcp``."""


def reply(query: dns.message.Message, *records: str, rcode: str = "NOERROR", authority: str = "") -> bytes:
    """A proper reply; records as master-file lines."""
    made = dns.message.make_response(query, recursion_available=True)
    made.set_rcode(dns.rcode.from_text(rcode))
    for line in records:
        name, ttl, rdclass, rdtype, rdata = line.split(None, 4)
        made.answer.append(dns.rrset.from_text(name, int(ttl), rdclass, rdtype, rdata))
    if authority:
        name, ttl, rdclass, rdtype, rdata = authority.split(None, 4)
        made.authority.append(dns.rrset.from_text(name, int(ttl), rdclass, rdtype, rdata))
    return made.to_wire()


def truncated(query: dns.message.Message) -> bytes:
    made = dns.message.make_response(query)
    made.flags |= dns.flags.TC
    return made.to_wire()


def error_without_question(query: dns.message.Message, rcode: int) -> bytes:
    return query.id.to_bytes(2) + bytes((0x80, rcode)) + bytes(8)


class FakeUpstream(asyncio.DatagramProtocol):
    """Listens until the test ends, over TLS where it has ``tls``, and ``keeps`` connections or closes after one reply.

    ``asked`` has the transports of the queries that came, probes left out; ``accepted``: how many connections came.
    """

    def __init__(self, script: Script, keeps: bool = False, tls: ssl.SSLContext | None = None) -> None:
        self.script = script
        self.keeps = keeps
        self.tls = tls
        self.asked: list[str] = []
        self.edns: list[int] = []
        self.accepted = 0
        self.address = UpstreamAddress("127.0.0.1", free_port(), tls is not None)
        self._udp: asyncio.DatagramTransport
        self._tcp: asyncio.Server
        self._open: set[asyncio.StreamWriter] = set()

    async def start(self) -> None:
        loop = asyncio.get_running_loop()
        where = (self.address.host, self.address.port)
        self._udp, _ = await loop.create_datagram_endpoint(lambda: self, local_addr=where)
        self._tcp = await asyncio.start_server(self._connected, *where, ssl=self.tls)

    async def stop(self) -> None:
        self._udp.close()
        self._tcp.close()
        for writer in self._open:
            writer.transport.abort()
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    def cut(self) -> None:
        """Close all connections."""
        for writer in self._open:
            writer.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        pass

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        for datagram in self._answers(data, "udp"):
            self._udp.sendto(datagram, addr)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        self._open.add(writer)
        try:
            while True:
                length = int.from_bytes(await reader.readexactly(2))
                for message in self._answers(await reader.readexactly(length), "tcp"):
                    writer.write(len(message).to_bytes(2) + message)
                if not self.keeps:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self._open.discard(writer)
            writer.close()

    def _answers(self, octets: bytes, transport: str) -> Iterable[bytes]:
        query = dns.message.from_wire(octets)
        if query.question[0].name.to_text() != ".":
            self.asked.append(transport)
            self.edns.append(query.edns)
        return self.script(query, transport)
