"""Serving as CoreDNS would, by its own flags."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from kubedns.cli.coredns_flags import CorednsFlags
from kubedns.cli.coredns_output import version_lines, zone_lines
from kubedns.cli.corefiles import read_corefile, reloader_for
from kubedns.errors import ConfigurationError
from kubedns.observe.logs import set_up
from kubedns.observe.rows import LOG_DROPPED
from kubedns.server.build import Settings, build_server
from kubedns.server.lifecycle import serve

DEFAULT_COREFILE = "Corefile"
DEFAULT_PORT = 53


def serve_as_coredns(flags: CorednsFlags) -> None:
    """Serve by ``flags`` until SIGTERM or Ctrl-C.

    Raises:
        KubednsError: no Corefile, a bad one, or an address that cannot be listened on.
    """
    if flags.conf is None and not Path(DEFAULT_COREFILE).exists():
        raise ConfigurationError("there is no Corefile here", remedy="name one with -conf FILE")
    sink = set_up(time.monotonic, sys.stdout, logging.INFO)
    port = DEFAULT_PORT if flags.port is None else flags.port
    file, settings = flags.conf or DEFAULT_COREFILE, Settings(default_port=port)
    reloader = reloader_for(file, settings)
    blocks = read_corefile(file)
    server = build_server(blocks, settings)
    server.lasting.metrics.cell(LOG_DROPPED).read = lambda: sink.dropped

    def announce(_listeners: Sequence[str]) -> None:
        if not flags.quiet:
            click.echo("\n".join([*zone_lines(blocks, port), version_lines()]))

    with _pid_in(flags.pidfile):
        asyncio.run(serve(server, announce, reloader))


@contextmanager
def _pid_in(file: str | None) -> Iterator[None]:
    """The process's number stands in ``file`` as long as the block lasts."""
    if file is None:
        yield
        return
    path = Path(file)
    path.write_text(f"{os.getpid()}\n")
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
