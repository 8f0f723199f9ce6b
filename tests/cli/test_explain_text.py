from __future__ import annotations

import io

import pytest
from rich.console import Console

from kubedns.cli.explain_text import explanation_text
from tests.cli.explanations import ALL, ANSWERED
from tests.support.golden import assert_golden


@pytest.mark.parametrize("name", ALL)
def test_an_explanation_reads_as_before(name: str) -> None:
    assert_golden(f"explain-{name}.txt", explanation_text(ALL[name]).plain + "\n")


def test_colours_are_in_the_text_for_terminals() -> None:
    output = io.StringIO()
    Console(file=output, force_terminal=True, color_system="standard").print(explanation_text(ANSWERED))
    assert "\x1b[1;32mNOERROR" in output.getvalue()
