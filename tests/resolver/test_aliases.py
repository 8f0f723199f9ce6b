"""An alias and what it leads to, as one answer."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kubedns.dns.answer import Answer
from kubedns.resolver.aliases import joined


@pytest.mark.parametrize(("alias", "target"), [(False, False), (True, False), (False, True), (True, True)])
def test_whoever_counts_either_hears_when_the_whole_is_served_again(alias: bool, target: bool) -> None:
    heard: list[tuple[str, int]] = []

    def counter(name: str, is_there: bool) -> Callable[[int], None] | None:
        return (lambda count: heard.append((name, count))) if is_there else None

    whole = joined(
        Answer(served_again=counter("alias", alias), lifetime_seconds=5.0),
        Answer(served_again=counter("target", target), lifetime_seconds=1.0),
    )
    if whole.served_again is not None:
        whole.served_again(3)
    expected = [("alias", 3)] * alias + [("target", 3)] * target
    assert heard == expected
    assert whole.lifetime_seconds == 1.0
