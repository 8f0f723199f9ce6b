"""``kubedns compare``: every name of a cluster asked of two servers, and what they answer differently."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence

import click

from kubedns.cli.addresses import read_address
from kubedns.cli.cluster_options import ClusterFlags, cluster_options
from kubedns.cli.compare_output import Comparison, comparison_json, comparison_text
from kubedns.cli.comparing import Respondent, compare
from kubedns.cli.comparison import questions
from kubedns.cli.loaded import listed_clusters, loaded_server
from kubedns.cli.status import Status
from kubedns.records.listing import records
from kubedns.upstream.exchange import UpstreamAddress

_PORT = 53
IN_CLUSTER = "KUBERNETES_SERVICE_HOST"
"""The environment variable by which a process knows that a cluster is around it."""


def _servers(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> tuple[UpstreamAddress, ...]:
    """The two servers."""
    if len(values) != 2:
        raise click.UsageError("give two servers: --server OLD --server NEW", ctx)
    typed = [read_address(value, _PORT) for value in values]
    return tuple(UpstreamAddress(each.host, each.port) for each in typed)


@click.command("compare")
@click.option(
    "--server", "servers", callback=_servers, multiple=True, metavar="ADDRESS[:PORT]",
    help="A server; give two, first the old one, then the new one.",
)  # fmt: skip
@cluster_options
@click.option("--with-ttl", is_flag=True, help="TTLs must be the same too; those of caches never are.")
@click.option(
    "--timeout", type=click.FloatRange(0, min_open=True), default=2.0, show_default=True,
    help="Seconds to wait for a response; each question is asked up to three times.",
)  # fmt: skip
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(
    *, servers: tuple[UpstreamAddress, ...], flags: ClusterFlags, with_ttl: bool, timeout: float, output: str
) -> int:
    """Ask two servers for every name of a cluster, and print what they answer differently.

    The names are those of --manifests, --kubeconfig or --conf, else of the cluster that this runs in. Compared are
    response code, flags (aa, ra, ad), and the answer and authority sections as sets of records, without the serials of
    SOAs. What differs is asked once more before it counts. Exit status 1: there are differences; 3: a server does not
    respond.
    """
    old, new = servers

    async def find_out() -> Comparison:
        clusters = listed_clusters(await loaded_server(flags, around=IN_CLUSTER in os.environ))
        asked = list(questions(rrset for cluster in clusters for rrset in records(cluster)))
        found = await compare(asked, Respondent(old, timeout), Respondent(new, timeout), with_ttl)
        return Comparison((str(old), str(new)), len(asked), found, with_ttl)

    comparison = asyncio.run(find_out())
    if output == "json":
        click.echo(json.dumps(comparison_json(comparison), indent=2))
    else:
        click.echo("\n".join(comparison_text(comparison)))
    return Status.NOT_FOUND if comparison.differences else Status.DONE
