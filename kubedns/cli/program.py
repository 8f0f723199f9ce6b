"""A click group whose commands are imported when they are called, and which turns errors into lines and statuses."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module

import click
from click.shell_completion import CompletionItem

from kubedns.cli.status import Status
from kubedns.errors import KubednsError, NotFoundError, UnreachableError


@dataclass(frozen=True, slots=True)
class LazyCommand:
    """A command and its line in the help; ``kubedns.cli.NAME``, with ``_`` for ``-``, has it as ``command``."""

    name: str
    help: str

    def load(self) -> click.Command:
        """The command itself."""
        command = import_module(f"kubedns.cli.{self.name.replace('-', '_')}").command
        assert isinstance(command, click.Command)
        return command


class Program(click.Group):
    """The top of the command line. ``invoke`` gives a :class:`Status` for every error that has one."""

    table: Sequence[LazyCommand] = ()

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of the commands, in the order of the help."""
        return [command.name for command in self.table]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported now."""
        return next((command.load() for command in self.table if command.name == cmd_name), None)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands' lines of the help, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(command.name, command.help) for command in self.table])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Commands and options that begin so, without importing any command."""
        commands = [each for each in self.table if each.name.startswith(incomplete)]
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [CompletionItem(each.name, help=each.help) for each in commands] + options

    def invoke(self, ctx: click.Context) -> object:
        """What the command gives; errors become one line on stderr and a status."""
        try:
            status = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            return _pipe_closed()
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            if ctx.params["debug"]:
                traceback.print_exc()
            return _reported(error, used_coredns_flags=ctx.invoked_subcommand is None)
        return status


def line_and_status(error: Exception) -> tuple[str, Status]:
    """What people are told of an error, and what the program ends with."""
    match error:
        case NotFoundError():
            return str(error), Status.NOT_FOUND
        case UnreachableError():
            return str(error), Status.UNREACHABLE
        case KubednsError():
            return str(error), Status.BAD_CONFIGURATION
        case OSError(filename=str(filename), strerror=str(why)):
            return f"{filename}: {why}", Status.BAD_CONFIGURATION
        case OSError():
            return str(error), Status.BAD_CONFIGURATION
        case _:
            kind = type(error).__name__
            return f"error in the program: {kind}: {error} (kubedns --debug shows where)", Status.PROGRAM_ERROR


def _reported(error: Exception, used_coredns_flags: bool) -> Status:
    text, status = line_and_status(error)
    for line in text.splitlines():
        click.echo(f"kubedns: {line}", err=True)
    # CoreDNS ends with 1 on whatever keeps it from starting, and scripts look for that.
    return Status.NOT_FOUND if used_coredns_flags and status is Status.BAD_CONFIGURATION else status


def _pipe_closed() -> Status:
    """Quiet end: what is still buffered goes nowhere, so that the interpreter has nothing to complain of either."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return Status.PIPE_CLOSED
