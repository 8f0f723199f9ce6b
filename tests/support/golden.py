"""Golden files: what is printed for people and tools, kept as text beside the tests."""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "golden"


def assert_golden(name: str, printed: str) -> None:
    """``printed`` is what tests/golden/NAME holds; with UPDATE_GOLDEN=1 in the environment it becomes that."""
    path = FOLDER / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(printed)
    assert printed == path.read_text(), f"tests/golden/{name} differs; UPDATE_GOLDEN=1 writes it anew"
