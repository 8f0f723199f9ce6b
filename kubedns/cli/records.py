"""``kubedns records``: every name there is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator

import click

from kubedns.cli.cluster_options import ClusterFlags, cluster_options
from kubedns.cli.loaded import listed_clusters, loaded_server
from kubedns.cli.records_output import json_array, master_file, table
from kubedns.dns.names import BadNameError, Name, parse_name
from kubedns.dns.rrset import RRset
from kubedns.errors import NotServedError
from kubedns.records.cluster_zone import ClusterZone
from kubedns.records.listing import records

_FORMS: dict[str, Callable[[Iterable[RRset]], Iterator[str]]] = {
    "zone": master_file,
    "table": table,
    "json": json_array,
}


@click.command("records")
@cluster_options
@click.option("--only", metavar="ZONE", help="Only this zone, as cluster.local or in-addr.arpa.")
@click.option("-o", "--output", type=click.Choice(list(_FORMS)), default="zone", show_default=True)
def command(*, flags: ClusterFlags, only: str | None, output: str) -> None:
    """List every name of the cluster with its records, zone by zone.

    As a master file the zones stand one after another; with --only it is one zone for other servers and tools. BIND
    loads it where the manifests have a Service kube-system/kube-dns, for that is the address of the zone's name server.
    """
    clusters = listed_clusters(asyncio.run(loaded_server(flags)))
    zone = None if only is None else _zone(clusters, only)
    for line in _FORMS[output](_listed(clusters, zone)):
        click.echo(line)


def _zone(clusters: Iterable[ClusterZone], text: str) -> Name:
    """The zone that is meant.

    Raises:
        click.BadParameter: it is no name.
        NotServedError: no cluster has it.
    """
    try:
        zone = parse_name(text)
    except BadNameError as error:
        raise click.BadParameter(str(error), param_hint="--only") from error
    zones = [each.name for cluster in clusters for each in cluster.zones]
    if zone not in zones:
        known = ", ".join(str(each).rstrip(".") for each in zones)
        raise NotServedError(f"{text} is none of the cluster's zones", remedy=f"there is {known}")
    return zone


def _listed(clusters: Iterable[ClusterZone], only: Name | None) -> Iterator[RRset]:
    for cluster in clusters:
        for rrset in records(cluster):
            zone = cluster.zone_of(rrset.owner)
            if only is None or (zone is not None and zone.name == only):
                yield rrset
