"""What README.md and the Makefile tell people to type is there."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import click
import pytest

from kubedns.cli.main import kubedns, main
from tests.house.tree import ROOT

README = (ROOT / "README.md").read_text()
MAKEFILE = (ROOT / "Makefile").read_text()
TARGETS = set(re.findall(r"^([a-z]+):", MAKEFILE, re.MULTILINE))
SPAN = re.compile(r"^```\w*\n(.*?)^```|`([^`\n]+)`", re.MULTILINE | re.DOTALL)


def commands(text: str, program: str) -> Iterator[list[str]]:
    """The words after ``program`` on each line of code that begins with it; in a session only what is typed counts."""
    for block, span in SPAN.findall(text):
        lines = (block or span).splitlines()
        typed = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
        for line in typed or lines:
            words = shlex.split(re.split(r"\s#|[|<>&]", line)[0]) if line.startswith(program) else []
            if words[:1] == [program]:
                yield words[1:]


OURS = list(commands(README, "kubedns"))


def test_the_readme_shows_commands() -> None:
    assert OURS
    assert list(commands(README, "make"))


@pytest.mark.parametrize("words", OURS, ids=" ".join)
def test_a_command_of_the_readme_exists_with_its_options(words: list[str]) -> None:
    context = click.Context(kubedns)
    command = kubedns.get_command(context, words[0]) if words and not words[0].startswith("-") else kubedns
    assert command is not None, words[0]
    known = {
        spelling for parameter in command.get_params(context) for spelling in parameter.opts + parameter.secondary_opts
    }
    used = {word.split("=")[0] for word in words if re.match(r"-+[a-z]", word)}
    assert used <= known


@pytest.mark.parametrize("words", list(commands(README, "make")), ids=" ".join)
def test_a_target_of_the_readme_exists(words: list[str]) -> None:
    assert set(words) <= TARGETS


def sessions() -> dict[str, str]:
    """What the README shows after each ``$ kubedns explain ...``."""
    blocks = [block for block, _ in SPAN.findall(README) if block.startswith("$ kubedns explain ")]
    return dict(block.removeprefix("$ ").split("\n", 1) for block in blocks)


def test_a_session_of_the_readme_is_real(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    assert sessions()
    for command, shown in sessions().items():
        assert main(shlex.split(command)[1:]) == 0
        assert capsys.readouterr().out == shown


def test_the_makefile_has_what_people_expect_and_says_so() -> None:
    assert {"help", "run", "test", "lint", "bench", "fuzz", "soak"} <= TARGETS
    assert set(re.findall(r"^([a-z]+):.*##", MAKEFILE, re.MULTILINE)) == TARGETS
