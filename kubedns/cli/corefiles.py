"""Corefiles as commands read them: from disk or standard input, warnings told on stderr."""

from __future__ import annotations

import os
import sys

import click

from kubedns.corefile.blocks import ServerBlock
from kubedns.corefile.parser import parse_corefile
from kubedns.errors import ConfigurationError, ConfigurationErrors, Location
from kubedns.server.build import Settings
from kubedns.server.files import DiskFiles, load_corefile
from kubedns.server.reloading import Reloader

STDIN = "stdin"
"""What CoreDNS calls the configuration that comes in by standard input."""


def reloader_for(file: str, settings: Settings) -> Reloader | None:
    """What takes changes of the Corefile over; None for one that came by standard input. Make it before reading."""
    return None if file == STDIN else Reloader(file, lambda files: load_corefile(file, os.environ, files), settings)


def read_corefile(file: str) -> tuple[ServerBlock, ...]:
    """The server blocks of a Corefile; ``stdin`` is read to its end.

    Raises:
        ConfigurationErrors: it cannot be read, serves nothing, or has faults; all of them.
    """
    if file == STDIN:
        corefile = parse_corefile(sys.stdin.read(), file, DiskFiles(), os.environ)
    else:
        corefile = load_corefile(file, os.environ)
    for warning in corefile.warnings:
        click.echo(f"kubedns: warning: {warning}", err=True)
    if not corefile.blocks:
        fault = ConfigurationError("no server block, so nothing would be served", location=Location(file))
        raise ConfigurationErrors([fault])
    return corefile.blocks
