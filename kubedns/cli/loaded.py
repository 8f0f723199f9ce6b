"""A server without sockets, its cluster read once: what ``explain`` and ``records`` look at."""

from __future__ import annotations

import click

from kubedns.cli.cluster_options import ClusterFlags
from kubedns.server.build import build_server
from kubedns.server.server import Server


async def loaded_server(flags: ClusterFlags) -> Server:
    """The server that the flags describe, with what it could read; faults of manifests go to stderr.

    Raises:
        ConfigurationErrors: the configuration has faults.
    """
    server = build_server(flags.blocks(), flags.settings())
    for fault in await server.load():
        click.echo(f"kubedns: {fault}", err=True)
    return server
