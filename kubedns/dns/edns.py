"""EDNS(0): what a query's OPT says, and what ours says back (RFC 6891)."""

from __future__ import annotations

import msgspec

VERSION = 0
MIN_UDP_OCTETS = 512
"""A client without EDNS takes this much over UDP, and a smaller size in an OPT means this (RFC 6891 §6.2.5)."""
MAX_UDP_OCTETS = 1232
"""Our own ceiling over UDP: what passes the IPv6 minimum MTU unfragmented."""


Option = tuple[int, bytes]
"""An option: its code and its octets."""


class Edns(msgspec.Struct, frozen=True, gc=False):
    """The OPT of a query. ``options`` are its (code, octets) pairs in the order sent."""

    version: int
    udp_octets: int
    dnssec_ok: bool
    options: tuple[Option, ...]


class OptionCode:
    """Numbers of the options that the code speaks of by name (IANA DNS EDNS0 option codes)."""

    NSID = 3
    CLIENT_SUBNET = 8
    COOKIE = 10
    EXTENDED_ERROR = 15


class ExtendedError(msgspec.Struct, frozen=True, gc=False):
    """Why an answer is an error (RFC 8914): ``code`` of its registry, ``text`` for people."""

    code: int
    text: str


class ErrorCode:
    """Extended error codes that the code speaks of by name (RFC 8914 §4)."""

    OTHER = 0
    STALE_ANSWER = 3
    NOT_READY = 14
    BLOCKED = 15
    FILTERED = 17
    PROHIBITED = 18
    NOT_AUTHORITATIVE = 20
    NO_REACHABLE_AUTHORITY = 22
    INVALID_DATA = 24


def udp_limit(edns: Edns | None, at_most: int = MAX_UDP_OCTETS) -> int:
    """Octets that a reply over UDP may have: 512 without EDNS, else the client's size; never more than ``at_most``."""
    if edns is None:
        return min(MIN_UDP_OCTETS, at_most)
    return min(max(edns.udp_octets, MIN_UDP_OCTETS), at_most)
