"""The image: the interpreter that may take port 53 is the one that is started, and what it is started with exists."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

import pytest

TEXT = (Path(__file__).parent.parent.parent / "Containerfile").read_text()


def started() -> list[str]:
    (line,) = re.findall(r"^ENTRYPOINT (\[.*\])$", TEXT, re.MULTILINE)
    words: list[str] = json.loads(line)
    return words


def test_the_interpreter_that_is_started_is_the_one_with_the_right() -> None:
    assert re.findall(r"setcap cap_net_bind_service=\+ep (\S+);", TEXT) == [started()[0]]


def test_the_program_is_started_without_root() -> None:
    (user,) = re.findall(r"^USER (\d+):\d+$", TEXT, re.MULTILINE)
    assert int(user) > 0


def test_the_module_that_is_started_is_the_program(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    *_, option, module = started()
    assert option == "-m"
    monkeypatch.setattr("sys.argv", [module, "version"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(module, run_name="__main__")
    assert not ended.value.code
    assert "kubedns" in capsys.readouterr().out
