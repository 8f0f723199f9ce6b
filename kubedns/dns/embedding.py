"""IPv4 addresses inside IPv6 ones, as translators between the two understand them (RFC 6052 §2.2)."""

from __future__ import annotations

import ipaddress

import msgspec

LENGTHS = (32, 40, 48, 56, 64, 96)
"""How many bits a prefix may have."""
_RESERVED = 8
"""The octet that is always 0, bits 64 to 71."""


class Prefix(msgspec.Struct, frozen=True):
    """The network that stands for all of IPv4. ``octets``: its leading ones, as many as the length says."""

    octets: bytes

    def embed(self, address: bytes) -> bytes:
        """The IPv6 address of an IPv4 one."""
        joined = self.octets + address
        if len(self.octets) <= _RESERVED:
            joined = joined[:_RESERVED] + b"\0" + joined[_RESERVED:]
        return joined.ljust(16, b"\0")

    def extract(self, address: bytes) -> bytes | None:
        """The IPv4 address inside an IPv6 one; None: there is none."""
        length = len(self.octets)
        rest = address[:_RESERVED] + address[_RESERVED + 1 :] if length <= _RESERVED else address
        found = rest[length : length + 4]
        return found if self.embed(found) == address else None


def prefix_of(network: ipaddress.IPv6Network) -> Prefix:
    """The prefix that ``network`` is; its length is one of LENGTHS."""
    return Prefix(network.network_address.packed[: network.prefixlen // 8])
