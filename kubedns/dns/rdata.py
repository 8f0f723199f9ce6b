"""Rdata: what a record holds, as frozen values (RFC 1035 §3.3, RFC 2782, RFC 3596)."""

from __future__ import annotations

import ipaddress
from typing import ClassVar

import msgspec

from kubedns.dns.names import Name


class RecordType:
    """Numbers of the record types that the code speaks of by name (IANA DNS parameters)."""

    A = 1
    NS = 2
    CNAME = 5
    SOA = 6
    PTR = 12
    HINFO = 13
    TXT = 16
    AAAA = 28
    SRV = 33
    DNAME = 39
    OPT = 41
    RRSIG = 46
    NSEC = 47
    NSEC3 = 50
    TSIG = 250
    IXFR = 251
    AXFR = 252
    ANY = 255


TRANSFERS = (RecordType.AXFR, RecordType.IXFR)
"""Types that ask for a whole zone (RFC 5936, RFC 1995)."""
TYPE_NAMES: dict[int, str] = {
    1: "A", 2: "NS", 5: "CNAME", 6: "SOA", 12: "PTR", 13: "HINFO", 15: "MX", 16: "TXT", 28: "AAAA", 29: "LOC",
    33: "SRV", 35: "NAPTR", 39: "DNAME", 41: "OPT", 43: "DS", 46: "RRSIG", 47: "NSEC", 48: "DNSKEY", 50: "NSEC3",
    52: "TLSA", 64: "SVCB", 65: "HTTPS", 99: "SPF", 250: "TSIG", 251: "IXFR", 252: "AXFR", 253: "MAILB", 254: "MAILA",
    255: "ANY", 256: "URI", 257: "CAA",
}  # fmt: skip
TYPE_NUMBERS: dict[str, int] = {name: number for number, name in TYPE_NAMES.items()}


def type_name(number: int) -> str:
    """``A``, ``SRV``; a type without a name of ours is ``TYPE123`` (RFC 3597 §5)."""
    return TYPE_NAMES.get(number) or f"TYPE{number}"


def type_number(text: str) -> int | None:
    """The number of a type named as in :func:`type_name`, in any case; None where there is none."""
    upper = text.upper()
    if upper in TYPE_NUMBERS:
        return TYPE_NUMBERS[upper]
    digits = upper.removeprefix("TYPE")
    if upper != digits and digits.isascii() and digits.isdigit() and int(digits) < 65536:
        return int(digits)
    return None


class A(msgspec.Struct, frozen=True, gc=False):
    """An IPv4 address, 4 octets."""

    type: ClassVar[int] = RecordType.A
    address: bytes

    def __str__(self) -> str:
        return str(ipaddress.IPv4Address(self.address))


class AAAA(msgspec.Struct, frozen=True, gc=False):
    """An IPv6 address, 16 octets."""

    type: ClassVar[int] = RecordType.AAAA
    address: bytes

    def __str__(self) -> str:
        return str(ipaddress.IPv6Address(self.address))


class CNAME(msgspec.Struct, frozen=True, gc=False):
    """The name that the owner is an alias of."""

    type: ClassVar[int] = RecordType.CNAME
    target: Name

    def __str__(self) -> str:
        return str(self.target)


class NS(msgspec.Struct, frozen=True, gc=False):
    """A name server of the zone."""

    type: ClassVar[int] = RecordType.NS
    target: Name

    def __str__(self) -> str:
        return str(self.target)


class PTR(msgspec.Struct, frozen=True, gc=False):
    """The name of an address."""

    type: ClassVar[int] = RecordType.PTR
    target: Name

    def __str__(self) -> str:
        return str(self.target)


class SRV(msgspec.Struct, frozen=True, gc=False):
    """Where a service listens (RFC 2782); ``priority``, ``weight``, ``port``: 0..65535."""

    type: ClassVar[int] = RecordType.SRV
    priority: int
    weight: int
    port: int
    target: Name

    def __str__(self) -> str:
        return f"{self.priority} {self.weight} {self.port} {self.target}"


class SOA(msgspec.Struct, frozen=True, gc=False):
    """The zone's start of authority; times in seconds. ``minimum`` is the negative TTL (RFC 2308 §4)."""

    type: ClassVar[int] = RecordType.SOA
    mname: Name
    rname: Name
    serial: int
    refresh: int
    retry: int
    expire: int
    minimum: int

    def __str__(self) -> str:
        times = f"{self.serial} {self.refresh} {self.retry} {self.expire} {self.minimum}"
        return f"{self.mname} {self.rname} {times}"


class TXT(msgspec.Struct, frozen=True, gc=False):
    """Text, as strings of at most 255 octets each."""

    type: ClassVar[int] = RecordType.TXT
    strings: tuple[bytes, ...]

    def __str__(self) -> str:
        return " ".join(map(_quoted, self.strings))


def _quoted(octets: bytes) -> str:
    shown = (
        "\\" + chr(octet) if octet in b'"\\' else chr(octet) if 0x20 <= octet < 0x7F else f"\\{octet:03d}"
        for octet in octets
    )
    return '"' + "".join(shown) + '"'


class Opaque(msgspec.Struct, frozen=True, gc=False):
    """Rdata of any other type, as the octets of the wire without compressed names (RFC 3597)."""

    type: int
    octets: bytes

    def __str__(self) -> str:
        return f"\\# {len(self.octets)} {self.octets.hex()}".rstrip()


ANY_REFUSED = Opaque(RecordType.HINFO, b"\x07RFC8482\x00")
"""The one small record that a query of type ANY gets: HINFO, CPU "RFC8482" (RFC 8482 §4.2)."""

Rdata = A | AAAA | CNAME | NS | PTR | SRV | SOA | TXT | Opaque


def address_rdata(address: bytes) -> A | AAAA:
    """A for 4 octets, AAAA for 16."""
    return A(address) if len(address) == 4 else AAAA(address)
