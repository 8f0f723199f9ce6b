"""Addresses: which objects own one, and which addresses there are under a prefix."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

Owner = TypeVar("Owner")


class Owners(Generic[Owner]):
    """Address → its owners, nearly always one. An owner is found again by identity."""

    __slots__ = ("_by_address",)

    def __init__(self) -> None:
        self._by_address: dict[bytes, Owner | list[Owner]] = {}

    def __contains__(self, address: bytes) -> bool:
        return address in self._by_address

    def __len__(self) -> int:
        return len(self._by_address)

    def at(self, address: bytes) -> tuple[Owner, ...]:
        """The owners of ``address``, in the order in which they came."""
        found = self._by_address.get(address)
        if found is None:
            return ()
        return tuple(found) if isinstance(found, list) else (found,)

    def add(self, address: bytes, owner: Owner) -> bool:
        """Note one more owner; whether it is the first."""
        found = self._by_address.get(address)
        if found is None:
            self._by_address[address] = owner
            return True
        if isinstance(found, list):
            found.append(owner)
        else:
            self._by_address[address] = [found, owner]
        return False

    def remove(self, address: bytes, owner: Owner) -> bool:
        """Forget an owner; whether it was the last."""
        rest = [each for each in self.at(address) if each is not owner]
        if not rest:
            self._by_address.pop(address, None)
            return True
        self._by_address[address] = rest[0] if len(rest) == 1 else rest
        return False


class Blocks:
    """How many addresses there are in each block of 256, so that few places are searched for a prefix."""

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self._counts)

    def add(self, address: bytes) -> None:
        """Count one more address."""
        block = address[:-1]
        self._counts[block] = self._counts.get(block, 0) + 1

    def remove(self, address: bytes) -> None:
        """Count one address less."""
        block = address[:-1]
        count = self._counts[block] - 1
        if count:
            self._counts[block] = count
        else:
            del self._counts[block]

    def candidates(self, prefix: bytes, bits: int, octets: int) -> Iterator[bytes]:
        """Addresses of ``octets`` under the first ``bits`` of ``prefix`` whose block has any."""
        wanted = int.from_bytes(prefix) >> (8 * len(prefix) - bits)
        shift = max(8 * octets - 8 - bits, 0)
        for block in self._blocks(prefix, bits, octets):
            if bits > 8 * octets - 8 or int.from_bytes(block) >> shift == wanted:
                for last in range(256):
                    address = block + bytes((last,))
                    if int.from_bytes(address) >> (8 * octets - bits) == wanted:
                        yield address

    def _blocks(self, prefix: bytes, bits: int, octets: int) -> Iterator[bytes]:
        if bits >= 8 * octets - 8:
            block = prefix[: octets - 1]
            if block in self._counts:
                yield block
            return
        for block in self._counts:
            if len(block) == octets - 1:
                yield block
