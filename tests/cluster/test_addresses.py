from __future__ import annotations

import random

import pytest

from kubedns.cluster.addresses import Blocks, Owners
from kubedns.cluster.objects import Service
from tests.support.clusters import packed, service


@pytest.mark.parametrize("octets", [4, 16])
def test_candidates_are_all_that_could_be_there(octets: int) -> None:
    source = random.Random(octets)
    blocks = Blocks()
    there = {source.choice((b"\n", b"\xfd")) * (octets - 2) + source.randbytes(2) for _ in range(300)}
    there |= {source.randbytes(octets) for _ in range(300)}
    for address in there:
        blocks.add(address)
    for address in source.sample(sorted(there), 200):
        there.discard(address)
        blocks.remove(address)
    for bits in range(0, 8 * octets + 1, 4):
        for prefix in (*source.sample(sorted(there), 5), bytes(octets), b"\xff" * octets):
            shift = 8 * octets - bits
            below = {each for each in there if int.from_bytes(each) >> shift == int.from_bytes(prefix) >> shift}
            candidates = list(blocks.candidates(prefix[: -(-bits // 8)], bits, octets))
            assert below == there.intersection(candidates)
            assert len(candidates) == len(set(candidates)) <= 256 * len(blocks)


def test_emptied_blocks_are_gone() -> None:
    blocks = Blocks()
    for text in ("10.0.0.1", "10.0.0.2", "10.0.1.1", "fd00::1"):
        blocks.add(packed(text))
    assert len(blocks) == 3
    for text in ("10.0.0.1", "10.0.0.2", "10.0.1.1", "fd00::1"):
        blocks.remove(packed(text))
    assert len(blocks) == 0
    assert list(blocks.candidates(b"", 0, 4)) == []


def test_owners_come_and_go() -> None:
    owners: Owners[Service] = Owners()
    first, second, third = (service("a/b") for _ in range(3))  # equal, but not the same
    address = packed("10.0.0.1")
    assert [owners.add(address, each) for each in (first, second, third)] == [True, False, False]
    assert [owners.remove(address, each) for each in (second, first)] == [False, False]
    assert owners.at(address)[0] is third
    assert owners.remove(address, third)
    assert (address in owners, owners.at(address), len(owners)) == (False, (), 0)
