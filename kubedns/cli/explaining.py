"""What a server answers to a name as typed in a pod, and why: asked of the server itself, and shown."""

from __future__ import annotations

import io
import json
from dataclasses import replace

from rich.console import Console

from kubedns.cli.explain_json import explanation_json
from kubedns.cli.explain_text import explanation_text
from kubedns.cli.explanation import Asked, Explanation, Followed, explained
from kubedns.cli.search_list import candidates, pod_search_list
from kubedns.cli.status import Status
from kubedns.dns.answer import Answer
from kubedns.dns.names import Name, parse_name
from kubedns.dns.question import Client, Question, Transport
from kubedns.errors import NotServedError
from kubedns.resolver.resolver import Resolver
from kubedns.resolver.trace import RecordingTrace
from kubedns.server.server import Server

_CLIENT = Client(bytes([127, 0, 0, 1]), "127.0.0.1", 0, Transport.UDP)
_CLUSTER_DOMAIN = parse_name("cluster.local.")


async def explain(server: Server, asked: Asked) -> Explanation:
    """How ``server`` answers. Where ``asked`` has no search list, it is that of a pod of the namespace."""
    search = asked.search or pod_search_list(asked.namespace, _cluster_domain(server))

    async def look_up(candidate: Name, trace: RecordingTrace) -> Answer:
        return await _resolver(server, candidate).lookup(Question(candidate, asked.type), _CLIENT, trace)

    found = await explained(replace(asked, search=search), candidates(asked.typed, search, asked.ndots), look_up)
    return replace(found, followed=_followed(server))


def shown(explanation: Explanation, output: str, colored: bool) -> str:
    """The explanation as ``text``, or as ``json``."""
    if output == "json":
        return json.dumps(explanation_json(explanation), indent=2)
    written = io.StringIO()
    console = Console(
        file=written,
        force_terminal=colored,
        no_color=not colored,
        color_system="standard" if colored else None,
        highlight=False,
    )
    console.print(explanation_text(explanation), soft_wrap=True, end="")
    return written.getvalue()


def status_of(explanation: Explanation) -> Status:
    """What a command that shows the explanation ends with."""
    return Status.DONE if explanation.found else Status.NOT_FOUND


def _followed(server: Server) -> tuple[Followed, ...]:
    return tuple(
        Followed(str(described.api), cluster.source.age_seconds if cluster.store.has_synced else None)
        for described, cluster in server.clusters.items()
        if not described.manifests
    )


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
