"""The project speaks of itself alone: nothing of one machine or of how it came about stands in it."""

from __future__ import annotations

import re

import pytest

from tests.house.tree import ROOT, text_files

# Put together here, so that this file does not hold them itself.
FORBIDDEN = re.compile(
    "|".join(
        (
            "/" + r"work/(main|wt|shared|\.)",
            r"\.\./" + "shared/",
            r"\bissues? " + r"#?2\b",
            "py" + r"pi\.(org|python)",
            "python" + r"hosted\.org",
            "registry" + r"\.npm",
            "static" + r"\.crates",
            "proxy" + r"\.golang",
        )
    ),
    re.IGNORECASE,
)


def test_no_file_speaks_of_elsewhere() -> None:
    found = {str(path.relative_to(ROOT)): FORBIDDEN.search(path.read_text()) for path in text_files()}
    assert {path: match.group() for path, match in found.items() if match} == {}


@pytest.mark.parametrize("text", ["see " + "issue" + " 2", "cd /" + "work/main", "https://" + "py" + "pi.org/simple"])
def test_the_search_finds_what_it_looks_for(text: str) -> None:
    assert FORBIDDEN.search(text)
