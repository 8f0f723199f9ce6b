from __future__ import annotations

import errno
import os

import click
import pytest

from kubedns.cli.program import LazyCommand, Program
from kubedns.cli.status import Status
from kubedns.errors import ConfigurationError, ConfigurationErrors, Location

BAD_LINE = ConfigurationError("unknown word `kubernets`", location=Location("Corefile", 3), remedy="did you mean this?")


@click.group(cls=Program, invoke_without_command=True)
@click.option("--debug", is_flag=True)
@click.pass_context
def program(ctx: click.Context, /, debug: bool) -> None:
    if ctx.invoked_subcommand is None:
        raise BAD_LINE


class OneCommand(LazyCommand):
    error: BaseException = BAD_LINE

    def load(self) -> click.Command:
        def fail() -> None:
            raise OneCommand.error

        return click.Command("fail", callback=fail)


program.table = (OneCommand("fail", "Fail."),)


def status_of(*arguments: str) -> object:
    return program.main(arguments, standalone_mode=False)


@pytest.mark.parametrize(
    ("error", "status", "lines"),
    [
        (BAD_LINE, Status.BAD_CONFIGURATION, ["kubedns: Corefile:3: unknown word `kubernets`; did you mean this?"]),
        (
            ConfigurationErrors([ConfigurationError("one"), ConfigurationError("two")]),
            Status.BAD_CONFIGURATION,
            ["kubedns: one", "kubedns: two"],
        ),
        (FileNotFoundError(errno.ENOENT, "No such file", "x"), Status.BAD_CONFIGURATION, ["kubedns: x: No such file"]),
        (OSError("odd"), Status.BAD_CONFIGURATION, ["kubedns: odd"]),
        (
            ZeroDivisionError("oh"),
            Status.PROGRAM_ERROR,
            ["kubedns: error in the program: ZeroDivisionError: oh (kubedns --debug shows where)"],
        ),
    ],
)
def test_an_error_is_one_line_and_a_status(
    error: Exception,
    status: Status,
    lines: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(OneCommand, "error", error)
    assert status_of("fail") is status
    assert capsys.readouterr().err.splitlines() == lines


def test_debug_shows_the_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of("--debug", "fail") is Status.BAD_CONFIGURATION
    assert "Traceback" in capsys.readouterr().err


def test_without_a_command_a_bad_configuration_is_1_as_with_coredns() -> None:
    assert status_of() is Status.NOT_FOUND


def test_a_closed_pipe_ends_quietly(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(OneCommand, "error", BrokenPipeError())
    stdout = os.dup(1)
    try:
        assert status_of("fail") is Status.PIPE_CLOSED
    finally:
        os.dup2(stdout, 1)
        os.close(stdout)
    assert capfd.readouterr().err == ""
