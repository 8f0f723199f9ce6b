"""k8s_external: names of the cluster's Services for clients outside of it.

Syntax::

    k8s_external [ZONES...] {
        apex APEX
        ttl TTL
        headless
        fallthrough [ZONES...]
    }

``SERVICE.NAMESPACE.ZONE`` has the addresses of a Service's load balancer and its externalIPs, and SRV records for its
ports; with ``headless`` those of a headless Service's endpoints too. ZONES default to those of the server block, which
needs a ``kubernetes`` line: that is where the Services are known from. The zone's name server is ``ns1.APEX.ZONE``;
APEX is ``dns`` unless given.

Example::

    cluster.local:1053 corp.example:1053 {
        kubernetes cluster.local {
            manifests .
        }
        k8s_external corp.example {
            ttl 30
            fallthrough
        }
    }
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from kubedns.corefile.options import PluginOptions, arguments, flag, option
from kubedns.corefile.shapes import Zones
from kubedns.corefile.values import Seconds, Text
from kubedns.dns.answer import Answer, Rcode, servfail
from kubedns.dns.edns import ErrorCode
from kubedns.dns.names import Name
from kubedns.dns.question import Query
from kubedns.dns.rrset import RRset
from kubedns.plugins.fallthrough import FallthroughLine, falling_through, fallthrough_option
from kubedns.plugins.kubernetes import Kubernetes
from kubedns.plugins.plugin import Context, Listed, Next, Plugin
from kubedns.records.external import ExternalOptions, ExternalZones
from kubedns.records.external_listing import external_records


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """k8s_external [ZONES...] { ... }: names of Services for clients outside of the cluster."""

    zones: tuple[Name, ...] = arguments(Zones(), default=(), help="zones of these names; else the server block's")
    apex: str = option(Text(syntax="APEX"), default="dns", help="the label that the name server is named below")
    ttl: int = option(Seconds(at_most=3600), default=5, help="TTL of every record")
    headless: bool = flag(help="headless Services and their endpoints have names too")
    fallthrough: FallthroughLine = fallthrough_option()


class K8sExternal:
    """Answers for external zones. ``block``: the plugins of the server block, one of which knows the Services.

    ``listed``: what is waited for as long as nothing is known.
    """

    word = "k8s_external"

    def __init__(
        self, options: ExternalOptions, fallthrough: Sequence[Name], block: Sequence[Plugin], listed: Listed
    ) -> None:
        self._options = options
        self._fallthrough = fallthrough
        self._block = block
        self._listed = listed
        self._known: ExternalZones | None = None

    async def answer(self, query: Query, next_plugin: Next) -> Answer:
        """What Services have outside; other zones' names go on, and so does a missing one that may."""
        name = query.question.name
        if not name.is_within(self._options.zones):
            return await next_plugin(query)
        zones = self._zones()
        if zones is None:
            return servfail(ErrorCode.OTHER, "k8s_external: the server block has no kubernetes line")
        if not zones.lister.has_synced:
            await self._listed()
        answer = zones.answer(query.question, query.trace)
        if answer.rcode == Rcode.NXDOMAIN and name.is_within(self._fallthrough):
            return (await next_plugin(query)).also_on(answer.depends_on)
        return msgspec.structs.replace(answer, plugin=self.word)

    def apexes(self) -> Iterable[Name]:
        """Its zones."""
        return self._options.zones

    def soa(self, zone: Name) -> RRset | None:
        """The SOA of one of its zones, once the cluster has been listed."""
        zones = self._zones()
        found = None if zones is None or not zones.lister.has_synced else zones.begins_at(zone)
        return None if zones is None or found is None else found.soa(zones.serial)

    def zone_records(self, zone: Name) -> Iterator[RRset]:
        """Every RRset of one of its zones, as the cluster is now."""
        zones = self._zones()
        frozen = None if zones is None else zones.frozen()
        found = None if frozen is None else frozen.begins_at(zone)
        return iter(()) if frozen is None or found is None else external_records(frozen, found)

    def _zones(self) -> ExternalZones | None:
        """The zones over the objects of the block's cluster, made when they are first asked for."""
        if self._known is None:
            for plugin in self._block:
                if isinstance(plugin, Kubernetes):
                    cluster = plugin.zone
                    self._known = ExternalZones(self._options, cluster.options, cluster.lister, cluster.first_serial)
        return self._known


def make(options: Options, context: Context) -> K8sExternal:
    """The plugin."""
    zones = options.zones or context.zones
    external = ExternalOptions(zones=zones, apex=options.apex.lower(), ttl=options.ttl, headless=options.headless)
    fallthrough = falling_through(options.fallthrough, zones)
    return K8sExternal(external, fallthrough, context.block, context.listed)
