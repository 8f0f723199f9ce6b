"""Made-up addresses and names: the same for the same manifests, and as little moved by an edit as can be."""

from __future__ import annotations

import hashlib
import ipaddress
from collections.abc import Iterable

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
"""What Kubernetes makes generated names of: no vowels, so no words."""


class NoRoomError(ValueError):
    """A network in which every address is taken."""


class AddressPool:
    """Gives addresses of ``network``, each once; ``taken`` are never given. The first and last are left out."""

    def __init__(self, network: Network, taken: Iterable[bytes]) -> None:
        self._network = network
        self._taken = set(taken)
        self._size = max(network.num_addresses - 2, 1)

    def address_for(self, owner: str) -> bytes:
        """The address of ``owner``: where its name leads, or the next free place behind."""
        start = _number(owner) % self._size
        for step in range(self._size):
            address = self._network[1 + (start + step) % self._size].packed
            if address not in self._taken:
                self._taken.add(address)
                return address
        raise NoRoomError(f"every address of {self._network} is taken; choose a larger network")


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
