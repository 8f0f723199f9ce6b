"""Where output goes: results to stdout, coloured only where a person looks; everything else to stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def color_option(command: Decorated) -> Decorated:
    """``--color``, as ``color``."""
    return click.option(
        "--color",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        show_default=True,
        help="Colour; auto: on a terminal, unless NO_COLOR is set.",
    )(command)


def wants_color(color: str) -> bool:
    """Whether stdout gets colour: as asked for, else by NO_COLOR, FORCE_COLOR and whether it is a terminal."""
    if color != "auto":
        return color == "always"
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or sys.stdout.isatty()
