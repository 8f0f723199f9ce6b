"""Addresses: which objects own one, and which addresses there are under a prefix."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator
from typing import Generic, TypeVar

from kubedns.cluster.tally import Tally

Owner = TypeVar("Owner")


class Owners(Generic[Owner]):
    """Address → its owners, nearly always one. An owner is found again by identity."""

    __slots__ = ("_by_address",)

    def __init__(self) -> None:
        # Lists are never changed but replaced, so that copies may share them.
        self._by_address: dict[bytes, Owner | list[Owner]] = {}

    def __contains__(self, address: bytes) -> bool:
        return address in self._by_address

    def __len__(self) -> int:
        return len(self._by_address)

    def copy(self) -> Owners[Owner]:
        """One with the same owners."""
        copy: Owners[Owner] = Owners()
        copy._by_address = self._by_address.copy()
        return copy

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
        self._by_address[address] = [*found, owner] if isinstance(found, list) else [found, owner]
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
    """How many addresses there are in each block of 256, and the blocks in order, so that a prefix is found by halving.

    An address costs one count; only the first and the last of a block move anything in the order.
    """

    __slots__ = ("_filled", "_ordered")

    def __init__(self) -> None:
        self._filled: Tally[bytes] = Tally()
        self._ordered: dict[int, list[bytes]] = {4: [], 16: []}

    def __len__(self) -> int:
        return len(self._filled)

    def copy(self) -> Blocks:
        """One with the same addresses."""
        copy = Blocks()
        copy._filled = self._filled.copy()
        copy._ordered = {octets: blocks.copy() for octets, blocks in self._ordered.items()}
        return copy

    def add(self, address: bytes) -> None:
        """Count one more address."""
        block = address[:-1]
        if self._filled.add(block):
            insort(self._ordered[len(address)], block)

    def remove(self, address: bytes) -> None:
        """Count one address less."""
        block = address[:-1]
        if self._filled.remove(block):
            ordered = self._ordered[len(address)]
            del ordered[bisect_left(ordered, block)]

    def candidates(self, prefix: bytes, bits: int, octets: int) -> Iterator[bytes]:
        """Addresses of ``octets`` under the first ``bits`` of ``prefix`` whose block has any."""
        shift = 8 * octets - bits
        wanted = (int.from_bytes(prefix) >> (8 * len(prefix) - bits)) << shift
        first, last = wanted.to_bytes(octets), (wanted | (1 << shift) - 1).to_bytes(octets)
        ordered = self._ordered[octets]
        for block in ordered[bisect_left(ordered, first[:-1]) : bisect_right(ordered, last[:-1])]:
            for octet in range(256):
                if first <= (address := block + bytes((octet,))) <= last:
                    yield address
