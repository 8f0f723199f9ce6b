from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kubedns import __version__
from kubedns.cli.main import kubedns, main

HEAVY = (
    "asyncio", "dns", "dnslib", "kubedns.cluster", "kubedns.corefile", "kubedns.dns", "kubedns.records",
    "kubedns.server", "msgspec", "rich", "socket", "ssl", "watchfiles", "yaml",
)  # fmt: skip
WATCHED_RUN = """
import sys
from kubedns.cli.main import main
status = main(sys.argv[1:])
print("\\n".join(sys.modules), file=sys.stderr)
sys.exit(status)
"""


def fresh(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A run in an interpreter of its own, which tells its modules on stderr."""
    return subprocess.run(
        [sys.executable, "-c", WATCHED_RUN, *arguments], capture_output=True, text=True, timeout=60, check=False,
        env={**os.environ, **environment},
    )  # fmt: skip


@pytest.mark.parametrize(
    "arguments", [["--help"], ["-h"], ["-help"], ["version"], ["completion", "bash"], ["--version"]]
)
def test_quick_answers_import_nothing_heavy(arguments: list[str]) -> None:
    done = fresh(*arguments)
    assert done.returncode == 0, done.stderr
    assert not set(HEAVY) & set(done.stderr.split())


def test_completion_names_commands_and_imports_nothing_heavy() -> None:
    asked = {"_KUBEDNS_COMPLETE": "bash_complete", "COMP_WORDS": "kubedns ex", "COMP_CWORD": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "kubedns"], capture_output=True, text=True, timeout=60, check=False,
        env={**os.environ, **asked},
    )  # fmt: skip
    assert done.stdout == "plain,explain\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_asks_this_program(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    printed = capsys.readouterr().out
    assert f"_KUBEDNS_COMPLETE={shell}_complete" in printed
    assert "kubedns" in printed


def test_every_command_of_the_table_is_there_under_its_name() -> None:
    for row in type(kubedns).table:
        command = row.load()
        assert command.name == row.name
        assert command.help


@pytest.mark.parametrize("command", [[row.name] for row in type(kubedns).table] + [[]], ids=str)
def test_help_shows_none_of_its_markup(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command, "--help"]) == 0
    assert "\\" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "status", "line"),
    [
        (["srve"], 2, "kubedns: No such command 'srve'; see kubedns --help"),
        (["version", "--nope"], 2, "--nope"),
        (["-p", "99999"], 2, "99999 is not in the range"),
        (["-p=x"], 2, "'x'"),
        (["-conf", "Corefile", "version"], 2, "go without a command"),
    ],
)
def test_a_wrong_call_is_one_line(
    arguments: list[str], status: int, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == status
    printed = capsys.readouterr().err
    assert line in printed
    assert printed.count("\n") == 1


def test_the_bare_name_shows_the_help_where_there_is_no_corefile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([]) == 0
    assert "Usage: kubedns" in capsys.readouterr().out


def test_version_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["version", "-o", "json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["version"] == __version__
    assert set(facts) == {"version", "python", "implementation", "platform"}


def test_version_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["version"]) == 0
    assert capsys.readouterr().out.startswith(f"kubedns {__version__} (")


def test_a_reader_that_leaves_ends_the_program_quietly() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as pipe:
        done = subprocess.run(
            [sys.executable, "-m", "kubedns", "version"], stdout=pipe, stderr=subprocess.PIPE, timeout=60, check=False
        )
    assert done.returncode == 141
    assert done.stderr == b""


@pytest.mark.parametrize(
    ("arguments", "status"), [(["serve", "--conf"], 2), (["records", "--conf"], 2), (["-conf"], 1)]
)
@pytest.mark.parametrize("text", ["", "# nothing yet\n(snippet) {\n    any\n}\n"])
def test_a_corefile_that_serves_nothing_is_refused(
    arguments: list[str], status: int, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "Corefile"
    file.write_text(text)
    assert main([*arguments, str(file)]) == status
    assert capsys.readouterr().err == f"kubedns: {file}: no server block, so nothing would be served\n"
