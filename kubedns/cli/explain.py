"""``kubedns explain``: how a name as typed in a pod is answered, by the server's own code."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import click

from kubedns.cli.addresses import TypedAddress
from kubedns.cli.admin_client import Parameters, admin_option, told
from kubedns.cli.asked_name import read_domains, read_namespace, read_question
from kubedns.cli.cluster_options import ClusterFlags, cluster_options
from kubedns.cli.explaining import explain, shown, status_of
from kubedns.cli.explanation import Asked, Explanation
from kubedns.cli.loaded import loaded_server
from kubedns.cli.search_list import MAX_NDOTS, POD_NDOTS
from kubedns.cli.terminal import color_option, wants_color
from kubedns.dns.names import Name
from kubedns.dns.rdata import type_name


def _namespace(ctx: click.Context, param: click.Parameter, value: str) -> str:
    return read_namespace(value)


def _domains(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> tuple[Name, ...]:
    return read_domains(values)


@click.command("explain")
@click.argument("name")
@click.argument("type_", metavar="[TYPE]", required=False)
@cluster_options
@admin_option
@click.option(
    "-n", "--namespace", callback=_namespace, default="default", show_default=True, help="Namespace of the pod."
)
@click.option("--search", callback=_domains, multiple=True, help="Search domain; repeatable. [default: a pod's]")
@click.option(
    "--ndots", type=click.IntRange(0, MAX_NDOTS), default=POD_NDOTS, show_default=True, help="As in resolv.conf."
)
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True)
@color_option
def command(
    *,
    name: str,
    type_: str | None,
    flags: ClusterFlags,
    admin: TypedAddress | None,
    namespace: str,
    search: tuple[Name, ...],
    ndots: int,
    output: str,
    color: str,
) -> int:
    """Tell how NAME, as typed in a pod, is answered, and why.

    Every name of the pod's search list that a resolver would ask for is shown, up to the first with an answer: which
    plugin and objects made it, by which rule, how long it is kept, and what almost matched. A final dot makes NAME
    absolute; an address stands for its PTR records. Exit status 1: no answer.
    """
    asked = Asked(*read_question(name, type_), namespace, search, ndots)
    colored = wants_color(color)
    if admin is not None:
        flags.refuse_beside("--admin")
        text, status = told(admin, "/explain", _parameters(asked, output, colored))
    else:
        explanation = asyncio.run(_explained(flags, asked))
        text, status = shown(explanation, output, colored), status_of(explanation)
    click.echo(text, color=colored)
    return status


async def _explained(flags: ClusterFlags, asked: Asked) -> Explanation:
    return await explain(await loaded_server(flags), asked)


def _parameters(asked: Asked, output: str, colored: bool) -> Parameters:
    return {
        "name": asked.typed,
        "type": type_name(asked.type),
        "namespace": asked.namespace,
        "search": [str(domain) for domain in asked.search],
        "ndots": str(asked.ndots),
        "output": output,
        "color": "yes" if colored else "no",
    }
