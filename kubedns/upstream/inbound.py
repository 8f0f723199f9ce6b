"""Taking a zone from its primary: its serial is asked for, then all of it, over one TCP connection (RFC 5936)."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable

from kubedns.dns.answer import Rcode, rcode_name
from kubedns.dns.names import Name
from kubedns.dns.question import Question
from kubedns.dns.rdata import SOA, RecordType
from kubedns.dns.reply import Reply, UnreadableReplyError, query_octets, question_octets, read_reply
from kubedns.dns.rrset import RRset
from kubedns.upstream.exchange import UpstreamAddress, UpstreamError

MAX_ZONE_OCTETS = 64 << 20
"""Of the messages that a zone comes in; beyond that it is not taken."""
_MESSAGE_SECONDS = 10.0
"""For a connection, and for each message of it."""
_ZONE_SECONDS = 600.0
"""For a zone, however steadily its messages come."""
_LENGTH_OCTETS = 2


async def fetch(
    primary: UpstreamAddress, origin: Name, is_wanted: Callable[[int], bool] = lambda serial: True
) -> list[RRset] | None:
    """The RRsets of the zone as ``primary`` has it, its SOA first and once; None: its serial is not wanted.

    An RRset that came in parts stands there in parts. Names out of the zone are left out, as glue that nobody asks for.

    Raises:
        UpstreamError: it cannot be had whole.
    """
    try:
        async with asyncio.timeout(_ZONE_SECONDS):
            async with asyncio.timeout(_MESSAGE_SECONDS):
                reader, writer = await asyncio.open_connection(primary.host, primary.port)
            try:
                return await _Session(reader, writer, origin).fetch(is_wanted)
            finally:
                writer.transport.abort()
    except TimeoutError as error:
        raise UpstreamError(f"{primary}: it takes too long") from error
    except asyncio.IncompleteReadError as error:
        raise UpstreamError(f"{primary}: the connection was closed before the zone's end") from error
    except (OSError, UnreadableReplyError, UpstreamError) as error:
        raise UpstreamError(f"{primary}: {error}") from error


class _Session:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, origin: Name) -> None:
        self._reader = reader
        self._writer = writer
        self._origin = origin

    async def fetch(self, is_wanted: Callable[[int], bool]) -> list[RRset] | None:
        async for reply in self._ask(RecordType.SOA):
            if not is_wanted(self._soa(reply).serial):
                return None
            break
        found: list[RRset] = []
        ends = 0
        async for reply in self._ask(RecordType.AXFR):
            if not found:
                self._soa(reply)
            for rrset in reply.answer:
                if rrset.type == RecordType.SOA and rrset.owner == self._origin:
                    # Both of them may stand in one message, where they count as one RRset.
                    ends += len(rrset.rdatas)
                    if len(set(rrset.rdatas)) > 1 or (found and rrset.rdatas[0] != found[0].rdatas[0]):
                        raise UpstreamError("the zone changed while it was given")
                    if not found:
                        found.append(RRset(rrset.owner, rrset.ttl, rrset.rdatas[:1]))
                elif rrset.owner.is_at_or_below(self._origin):
                    found.append(rrset)
            if ends > 1:
                return found
        raise AssertionError("replies end in an error or at the second SOA")

    def _soa(self, reply: Reply) -> SOA:
        """The SOA that a reply begins with."""
        first = reply.answer[0] if reply.answer else None
        soa = None if first is None or first.owner != self._origin else first.rdatas[0]
        if not isinstance(soa, SOA):
            raise UpstreamError(f"it has no zone {self._origin}")
        return soa

    async def _ask(self, rdtype: int) -> AsyncIterator[Reply]:
        """The messages of the response, one after the other; whoever has enough takes no more."""
        question = question_octets(Question(self._origin, rdtype))
        ident = secrets.randbits(16)
        query = query_octets(ident, question)
        self._writer.write(len(query).to_bytes(_LENGTH_OCTETS) + query)
        left = MAX_ZONE_OCTETS
        while left > 0:
            async with asyncio.timeout(_MESSAGE_SECONDS):
                length = int.from_bytes(await self._reader.readexactly(_LENGTH_OCTETS))
                octets = await self._reader.readexactly(length)
            left -= length
            reply = read_reply(octets)
            if reply.id != ident or reply.question not in (question, b""):
                raise UpstreamError("what it says is not to what was asked")
            if reply.rcode != Rcode.NOERROR:
                raise UpstreamError(f"it says {rcode_name(reply.rcode)}")
            yield reply
            await asyncio.sleep(0)  # messages may come faster than they are read, and others want their turn
        raise UpstreamError(f"the zone is longer than {MAX_ZONE_OCTETS >> 20} MiB")
