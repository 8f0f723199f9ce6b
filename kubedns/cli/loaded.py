"""A server without sockets, its cluster read once: what ``explain`` and ``records`` look at."""

from __future__ import annotations

import click

from kubedns.cli.cluster_options import ClusterFlags
from kubedns.errors import NotServedError, UnreachableError
from kubedns.records.cluster_zone import ClusterZone
from kubedns.server.build import build_server
from kubedns.server.server import Server


async def loaded_server(flags: ClusterFlags, around: bool = False) -> Server:
    """The server that the flags describe, with what it could read; faults of manifests go to stderr.

    ``around``: where they name no cluster, it is the one that the process runs in.

    Raises:
        ConfigurationErrors: the configuration has faults.
    """
    server = build_server(flags.blocks_to_look_at(around), flags.settings())
    for fault in await server.load():
        click.echo(f"kubedns: {fault}", err=True)
    return server


def listed_clusters(server: Server) -> tuple[ClusterZone, ...]:
    """The cluster zones of a loaded server, all of whose names are known.

    Raises:
        NotServedError: it has none.
        UnreachableError: one could not be listed, so its names are not known.
    """
    clusters = server.cluster_zones
    if not clusters:
        raise NotServedError("no cluster is served", remedy="add a `kubernetes` line to a server block")
    if not all(cluster.lister.has_synced for cluster in clusters):
        raise UnreachableError("the cluster cannot be listed", remedy="until it can, its names are not known")
    return clusters
