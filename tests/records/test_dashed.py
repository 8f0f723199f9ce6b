from __future__ import annotations

import pytest

from kubedns.records.dashed import dashed, parse_dashed
from tests.support.clusters import packed


@pytest.mark.parametrize(
    ("address", "label"),
    [
        ("10.244.1.10", "10-244-1-10"),
        ("fd00:10:244::ab", "fd00-10-244--ab"),
        ("fd00:10:244::", "fd00-10-244--0"),
        ("::1", "--1"),
        ("::", "--0"),
        ("::ffff:1.2.3.4", "--ffff-102-304"),
    ],
)
def test_dashed_reads_back(address: str, label: str) -> None:
    assert dashed(packed(address)) == label
    assert parse_dashed(label) == packed(address)


@pytest.mark.parametrize("label", ["", "-", "1-2-3", "1-2-3-4-5", "256-1-1-1", "01-1-1-1", "1.2.3.4", "web", "1--2--3"])
def test_no_address(label: str) -> None:
    assert parse_dashed(label) is None
