"""CoreDNS's command line, flag for flag: single or double dash, values after a blank or ``=``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self, TypeVar

import click

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class CorednsFlags:
    """The flags as given. ``conf``: a path, or ``stdin``; ``port``: for server blocks that name none."""

    conf: str | None = None
    port: int | None = None
    pidfile: str | None = None
    quiet: bool = False
    plugins: bool = False
    version: bool = False

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """From what click read."""
        return cls(**given)

    @property
    def any_given(self) -> bool:
        """Whether there was any."""
        return self != CorednsFlags()


def _port(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """A port; a one-letter flag leaves the ``=`` before its value (``-p=1053``)."""
    return None if value is None else int(click.IntRange(0, 65535)(value.removeprefix("="), param, ctx))


def coredns_flags(command: Decorated) -> Decorated:
    """Give a click command the flags, as the fields of :class:`CorednsFlags`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def _switch(name: str, help_text: str) -> Callable[[Decorated], Decorated]:
    """A flag that may carry its truth value, ``-quiet=false``."""
    return click.option(
        f"-{name}", f"--{name}", name, type=bool, is_flag=False, flag_value="true", default=False, help=help_text,
        metavar=" ",
    )  # fmt: skip


_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option("-conf", "--conf", "conf", metavar="FILE", help="Corefile to serve by; stdin: read it from there."),
    click.option(
        "-dns.port", "--dns.port", "-p", "port", metavar="PORT", callback=_port,
        help="Port of server blocks that name none (53).",
    ),
    click.option("-pidfile", "--pidfile", "pidfile", metavar="FILE", help="File to write the process's number to."),
    _switch("quiet", "Say nothing at the start."),
    _switch("plugins", "List the plugins and end."),
    _switch("version", "Print the version and end."),
)  # fmt: skip
