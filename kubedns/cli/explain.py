"""``kubedns explain``: how a name as typed in a pod is answered, by the server's own code."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence

import click
from rich.console import Console

from kubedns.cli.asked_name import read_question
from kubedns.cli.cluster_options import ClusterFlags, cluster_options
from kubedns.cli.explain_json import explanation_json
from kubedns.cli.explain_text import explanation_text
from kubedns.cli.explanation import Asked, Explanation, explained
from kubedns.cli.loaded import loaded_server
from kubedns.cli.search_list import POD_NDOTS, candidates, pod_search_list
from kubedns.cli.status import Status
from kubedns.cli.terminal import color_option, wants_color
from kubedns.dns.answer import Answer
from kubedns.dns.names import BadNameError, Name, parse_name
from kubedns.dns.question import Client, Question, Transport
from kubedns.errors import NotServedError
from kubedns.resolver.resolver import Resolver
from kubedns.resolver.trace import RecordingTrace
from kubedns.server.server import Server

_CLIENT = Client(bytes([127, 0, 0, 1]), "127.0.0.1", 0, Transport.UDP)
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_CLUSTER_DOMAIN = parse_name("cluster.local.")


def _namespace(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """A namespace's name is one label (RFC 1123), as the API server demands."""
    if not _LABEL.fullmatch(value):
        raise click.BadParameter(f"{value!r} is no name of a namespace", ctx, param)
    return value


def _domains(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> tuple[Name, ...]:
    try:
        return tuple(map(parse_name, values))
    except BadNameError as error:
        raise click.BadParameter(str(error), ctx, param) from error


@click.command("explain")
@click.argument("name")
@click.argument("type_", metavar="[TYPE]", required=False)
@cluster_options
@click.option(
    "-n", "--namespace", callback=_namespace, default="default", show_default=True, help="Namespace of the pod."
)
@click.option("--search", callback=_domains, multiple=True, help="Search domain; repeatable. [default: a pod's]")
@click.option("--ndots", type=click.IntRange(0, 15), default=POD_NDOTS, show_default=True, help="As in resolv.conf.")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True)
@color_option
def command(
    *,
    name: str,
    type_: str | None,
    flags: ClusterFlags,
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
    typed, number = read_question(name, type_)

    async def find_out() -> Explanation:
        server = await loaded_server(flags)
        domains = search or pod_search_list(namespace, _cluster_domain(server))
        asked = Asked(typed, number, namespace, domains, ndots)

        async def look_up(candidate: Name, trace: RecordingTrace) -> Answer:
            return await _resolver(server, candidate).lookup(Question(candidate, number), _CLIENT, trace)

        return await explained(asked, candidates(typed, domains, ndots), look_up)

    explanation = asyncio.run(find_out())
    if output == "json":
        click.echo(json.dumps(explanation_json(explanation), indent=2))
    else:
        _print(explanation, color)
    return Status.DONE if explanation.found else Status.NOT_FOUND


def _resolver(server: Server, name: Name) -> Resolver:
    """The resolver that serves ``name``; where none does, one that refuses it as it would on the wire."""
    try:
        return server.resolver_for(name)
    except NotServedError:
        return next(iter(server.resolvers.values()))


def _cluster_domain(server: Server) -> Name:
    """The zone that the kubelet would name in a pod's search list."""
    zones = [zone.name for cluster in server.cluster_zones for zone in cluster.zones if not zone.is_reverse]
    return zones[0] if zones else _CLUSTER_DOMAIN


def _print(explanation: Explanation, color: str) -> None:
    colored = wants_color(color)
    console = Console(
        force_terminal=colored, no_color=not colored, color_system="standard" if colored else None, highlight=False
    )
    console.print(explanation_text(explanation), soft_wrap=True)
