from collections.abc import Collection

import pytest

from kubedns.corefile.blocks import ServerBlock
from kubedns.corefile.rules import find_overlaps, find_repeats
from tests.corefile.reading import FILE, parse


def bound(block: ServerBlock) -> Collection[str]:
    return {word.text for line in block.directives if line.word.text == "bind" for word in line.arguments}


LATER = "put both blocks into one, let each `bind` other addresses, or give the first a `view`"

OVERLAPS = [
    ("a {\n}\nb {\n}", []),
    ("a:53 {\n}\na:54 {\n}", []),
    ("a:53 {\n}\nA.:53 {\n}", [f"3: A. on port 53 is already served by the block at Corefile:1; {LATER}"]),
    ("a {\n}\na:1053 {\n}", [f"3: a. on port 1053 is already served by the block at Corefile:1; {LATER}"]),
    ("a {\n}\ntls://a {\n}", []),
    ("a a {\n}", [f"1: a. on port 1053 is already served by the block at Corefile:1; {LATER}"]),
    (
        "10.0.0.0/8 {\n}\n10.in-addr.arpa {\n}",
        [f"3: 10.in-addr.arpa. on port 1053 is already served by the block at Corefile:1; {LATER}"],
    ),
    ("a {\n bind x\n}\na {\n bind y\n}", []),
    (
        "a {\n bind x y\n}\na {\n bind y z\n}",
        [f"4: a. on port 1053 is already served by the block at Corefile:1; {LATER}"],
    ),
    (
        "a {\n bind x\n}\na {\n bind y\n}\na {\n}",
        [f"7: a. on port 1053 is already served by the block at Corefile:1; {LATER}"],
    ),
    ("a {\n}\na {\n bind y\n}", [f"3: a. on port 1053 is already served by the block at Corefile:1; {LATER}"]),
]


@pytest.mark.parametrize(("text", "faults"), OVERLAPS)
def test_a_zone_is_served_once(text: str, faults: list[str]) -> None:
    found = find_overlaps(parse(text).blocks, 1053, bound)
    assert [str(fault).replace(FILE, "Corefile") for fault in found] == [f"Corefile:{fault}" for fault in faults]


REPEATS = [
    (". {\n cache\n log\n log\n}", []),
    (
        ". {\n cache\n log\n cache 30\n cache 5\n}",
        [
            "4: cache may stand once in a server block; it does so at Corefile:2; keep one of them",
            "5: cache may stand once in a server block; it does so at Corefile:2; keep one of them",
        ],
    ),
]


@pytest.mark.parametrize(("text", "faults"), REPEATS)
def test_some_plugins_stand_once(text: str, faults: list[str]) -> None:
    (block,) = parse(text).blocks
    found = find_repeats(block, {"cache"})
    assert [str(fault).replace(FILE, "Corefile") for fault in found] == [f"Corefile:{fault}" for fault in faults]
