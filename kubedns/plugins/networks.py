"""Networks: which addresses a plugin's option means, compared as numbers."""

from __future__ import annotations

import ipaddress

import msgspec

AnyNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network


class Network(msgspec.Struct, frozen=True, gc=False):
    """A CIDR: addresses of ``octets`` (4 or 16) whose bits under ``mask`` are ``prefix``."""

    octets: int
    mask: int
    prefix: int

    def holds(self, address: bytes) -> bool:
        """Whether the packed ``address`` is inside."""
        return len(address) == self.octets and int.from_bytes(address) & self.mask == self.prefix


def network_of(parsed: AnyNetwork) -> Network:
    """The same network in a form that is quick to ask."""
    return Network(parsed.max_prefixlen // 8, int(parsed.netmask), int(parsed.network_address))
