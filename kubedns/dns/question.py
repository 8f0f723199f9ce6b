"""What is asked: the question alone, and the query around it."""

from __future__ import annotations

from enum import Enum

import msgspec

from kubedns.dns.edns import Edns, Option, OptionCode
from kubedns.dns.names import Name
from kubedns.dns.rdata import type_name
from kubedns.dns.rrset import CLASS_IN
from kubedns.dns.trace import NO_TRACE, Trace


class Question(msgspec.Struct, frozen=True, gc=False):
    """Name, type and class asked for; the class is IN nearly always."""

    name: Name
    type: int
    rdclass: int = CLASS_IN

    def __str__(self) -> str:
        return f"{self.name} {type_name(self.type)}"


class Transport(Enum):
    """How a query came; the value is what logs and metrics call it."""

    UDP = "udp"
    TCP = "tcp"


class Client(msgspec.Struct, frozen=True, gc=False):
    """Who asks: the packed address (4 or 16 octets), its text, the port, and the transport.

    ``local``: the text of the address of ours that was asked; empty: not known.
    """

    address: bytes
    text: str
    port: int
    transport: Transport
    local: str = ""


class Query(msgspec.Struct, frozen=True, gc=False):
    """A well-formed query. ``flags`` are the header's 16 bits as they came; ``octets`` counts the whole message.

    ``serial``: the zone's that the client has already, where it asks for what has changed since (RFC 1995 §3).
    ``options`` are what goes along to upstreams, which is nothing of the client's own.
    """

    id: int
    flags: int
    question: Question
    edns: Edns | None
    octets: int
    client: Client
    trace: Trace = NO_TRACE
    serial: int | None = None
    options: tuple[Option, ...] = ()

    @property
    def checking_disabled(self) -> bool:
        """CD, copied into the response (RFC 4035 §3.2.2)."""
        return bool(self.flags & 0x0010)

    @property
    def dnssec_ok(self) -> bool:
        """DO: the client wants DNSSEC records; never so without EDNS (RFC 3225 §3)."""
        return self.edns is not None and self.edns.dnssec_ok

    @property
    def asks_server_name(self) -> bool:
        """Whether the client wants to be told who answers (RFC 5001 §2.1)."""
        return self.edns is not None and any(code == OptionCode.NSID for code, _ in self.edns.options)
