"""Made-up addresses and names: the same for the same manifests, and as little moved by an edit as can be."""

from __future__ import annotations

import hashlib
import ipaddress
from collections.abc import Iterable, Sequence

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
"""What Kubernetes makes generated names of: no vowels, so no words."""


class AddressPool:
    """Gives addresses of ``network``, each once; ``taken`` are never given. The first and last are left out."""

    def __init__(self, network: Network, taken: Iterable[bytes]) -> None:
        self.network = network
        self._taken = set(taken)
        self._octets = network.max_prefixlen // 8
        # Of one or two addresses (/32, /31) all are used (RFC 3021).
        spared = 1 if network.num_addresses > 2 else 0
        self._first = int(network.network_address) + spared
        self._size = network.num_addresses - 2 * spared
        self._tries = self._size

    def address_for(self, owner: str) -> bytes | None:
        """The address of ``owner``: where its name leads, or the next free place behind. None: all are taken."""
        start = _number(owner) % self._size
        for step in range(self._tries):
            address = (self._first + (start + step) % self._size).to_bytes(self._octets)
            if address not in self._taken:
                self._taken.add(address)
                return address
        self._tries = 0
        return None


class AddressBook:
    """Gives each owner an address of every family asked for. ``full``: the networks that had none left."""

    def __init__(self, networks: Sequence[Network], taken: Iterable[bytes]) -> None:
        self._pools: dict[int, AddressPool] = {network.version: AddressPool(network, taken) for network in networks}
        self.full: tuple[Network, ...] = ()

    def addresses_for(self, owner: str, families: Sequence[str]) -> tuple[bytes, ...]:
        """An address of each of ``families`` (IPv4, IPv6) that there is a network of; of the first network if none."""
        wanted = [4 if family == "IPv4" else 6 for family in families]
        return self._give(owner, [version for version in wanted if version in self._pools] or list(self._pools)[:1])

    def every_address_for(self, owner: str) -> tuple[bytes, ...]:
        """An address of every family."""
        return self._give(owner, self._pools)

    def _give(self, owner: str, versions: Iterable[int]) -> tuple[bytes, ...]:
        given = []
        for version in versions:
            pool = self._pools[version]
            address = pool.address_for(owner)
            if address is not None:
                given.append(address)
            elif pool.network not in self.full:
                self.full += (pool.network,)
        return tuple(given)


def suffix_for(owner: str, letters: int) -> str:
    """Letters for a generated name, always the same for ``owner``."""
    number = _number(owner)
    chosen = []
    for _ in range(letters):
        number, place = divmod(number, len(_LETTERS))
        chosen.append(_LETTERS[place])
    return "".join(chosen)


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:12])
