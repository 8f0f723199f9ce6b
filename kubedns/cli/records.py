"""``kubedns records``: every name there is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator

import click

from kubedns.cli.addresses import TypedAddress
from kubedns.cli.admin_client import admin_option, lines, telling
from kubedns.cli.cluster_options import ClusterFlags, cluster_options
from kubedns.cli.loaded import listed_clusters, loaded_server
from kubedns.cli.record_rows import Row, listed, read, zone_of
from kubedns.cli.records_output import json_array, master_file, table

_FORMS: dict[str, Callable[[Iterable[Row]], Iterator[str]]] = {
    "zone": master_file,
    "table": table,
    "json": json_array,
}


@click.command("records")
@cluster_options
@admin_option
@click.option("--only", metavar="ZONE", help="Only this zone, as cluster.local or in-addr.arpa.")
@click.option("-o", "--output", type=click.Choice(list(_FORMS)), default="zone", show_default=True)
def command(*, flags: ClusterFlags, admin: TypedAddress | None, only: str | None, output: str) -> None:
    """List every name of the cluster with its records, zone by zone.

    As a master file the zones stand one after another; with --only it is one zone for other servers and tools. BIND
    loads it where the manifests have a Service kube-system/kube-dns, for that is the address of the zone's name server.
    """
    if admin is None:
        clusters = listed_clusters(asyncio.run(loaded_server(flags)))
        _print(listed(clusters, None if only is None else zone_of(clusters, only)), output)
        return
    flags.refuse_beside("--admin")
    with telling(admin, "/records", {} if only is None else {"only": only}) as response:
        _print(read(lines(response)), output)


def _print(rows: Iterable[Row], output: str) -> None:
    for line in _FORMS[output](rows):
        click.echo(line)
