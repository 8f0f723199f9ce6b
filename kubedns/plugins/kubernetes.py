"""kubernetes: the names of a cluster, or of a folder of manifests.

Syntax::

    kubernetes [ZONES...] {
        manifests PATH...
        endpoint URL
        tls CERT KEY CACERT
        kubeconfig KUBECONFIG [CONTEXT]
        namespaces NAMESPACE...
        namespace_labels EXPRESSION
        labels EXPRESSION
        pods disabled|insecure|verified
        endpoint_pod_names
        ttl TTL
        noendpoints
        fallthrough [ZONES...]
        ignore empty_service
        startup_timeout DURATION
        snapshot PATH [MAX_AGE]
        mesh NAMESPACE/SERVICE [PORT]
        multicluster ZONES...
    }

ZONES default to those of the server block; reverse zones among them (in-addr.arpa, or a network as in 10.0.0.0/8) are
answered with PTR records. Names are those of the cluster that the process runs in, or that ``kubeconfig`` or
``endpoint`` name; ``manifests`` reads files and folders in place of an API server. ``multicluster``: those of
the zones, as clusterset.local, whose names are of ServiceImports, which other clusters have given to this one.

``snapshot`` keeps what the API server said in the file PATH. The next start answers from it at once, if it is no older
than MAX_AGE (one hour), until the server has been listed; such answers carry the extended error 3, Stale Answer.

Example::

    cluster.local in-addr.arpa ip6.arpa {
        kubernetes {
            manifests .
            pods insecure
            fallthrough in-addr.arpa ip6.arpa
            ttl 30
        }
    }
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import msgspec

from kubedns.cluster.access import ApiAccess
from kubedns.cluster.selectors import BadSelectorError, LabelSelector, parse_selector
from kubedns.cluster.snapshot import SnapshotPlace
from kubedns.corefile.blocks import Directive, Word
from kubedns.corefile.options import PluginOptions, arguments, flag, ignored, option
from kubedns.corefile.shapes import Exactly, Group, Line, Many, OneWord, Shape, Zones, unfit
from kubedns.corefile.values import Choice, Count, Duration, Path, Seconds, Text
from kubedns.dns.answer import Answer, Rcode
from kubedns.dns.names import Name
from kubedns.dns.question import Query
from kubedns.dns.rrset import RRset
from kubedns.plugins.fallthrough import FallthroughLine, falling_through, fallthrough_option
from kubedns.plugins.plugin import ClusterSource, Context, Listed, Next, at_once
from kubedns.records.cluster_zone import ClusterZone
from kubedns.records.endpoint_zone import endpoint_zone_records, endpoint_zone_soa
from kubedns.records.listing import zone_records
from kubedns.records.options import PodsMode, RecordOptions


@dataclass(frozen=True, slots=True)
class Credentials:
    """Files of a client certificate, its key, and the authority that signed the server's."""

    certificate: str
    key: str
    authority: str


@dataclass(frozen=True, slots=True)
class Kubeconfig:
    """A kubeconfig file, and the context in it that is meant (empty: its current one)."""

    path: str
    context: str = ""


@dataclass(frozen=True, slots=True)
class MeshService:
    """The Service of the mesh's proxies, and the port of it that they take requests on (empty: its first)."""

    namespace: str
    name: str
    port: str = ""


class NamespacedName(OneWord[tuple[str, str]]):
    """``NAMESPACE/SERVICE``."""

    syntax = "NAMESPACE/SERVICE"

    def convert(self, word: Word) -> tuple[str, str]:
        """Namespace and name."""
        namespace, slash, name = word.text.partition("/")
        if not (namespace and slash and name) or "/" in name:
            raise unfit(word, "no Service in a namespace", "write it like default/proxies")
        return namespace, name


class Selector(Shape[LabelSelector]):
    """A label selector, quoted or not."""

    syntax = "EXPRESSION"

    def read(self, line: Directive) -> LabelSelector:
        """The selector."""
        try:
            return parse_selector(Line().read(line))
        except BadSelectorError as error:
            raise line.word.fault(str(error)) from error


def _mesh(service: tuple[str, str], port: str = "") -> MeshService:
    return MeshService(*service, port)


KUBECONFIG = Group(Kubeconfig, {"KUBECONFIG": Path()}, {"CONTEXT": Text(syntax="CONTEXT")})
"""The rest of a line ``kubeconfig KUBECONFIG [CONTEXT]``."""

SNAPSHOT = Group(SnapshotPlace, {"PATH": Path()}, {"MAX_AGE": Duration(at_least=1, syntax="MAX_AGE")})
"""The rest of a line ``snapshot PATH [MAX_AGE]``."""

_API_ONLY = "only concerns the way an API server is asked"


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """kubernetes [ZONES...] { ... }: the cluster's zones and how they are answered."""

    zones: tuple[Name, ...] = arguments(Zones(), default=(), help="zones of the cluster; else the server block's")
    manifests: tuple[str, ...] = option(
        Many(Path(), 1), default=(), help="files and folders to read in place of an API server"
    )
    endpoint: str = option(Text(syntax="URL"), default="", help="address of the API server")
    tls: Credentials | None = option(
        Group(Credentials, {"CERT": Path(), "KEY": Path(), "CACERT": Path()}),
        default=None,
        help="how to speak to the API server",
    )
    kubeconfig: Kubeconfig | None = option(KUBECONFIG, default=None, help="file that names API server and credentials")
    namespaces: tuple[str, ...] = option(
        Many(Text(syntax="NAMESPACE"), 1), default=(), help="the only namespaces whose names exist"
    )
    namespace_labels: LabelSelector | None = option(
        Selector(), default=None, help="labels of the namespaces whose names exist"
    )
    labels: LabelSelector | None = option(
        Selector(), default=None, help="labels of the Services, slices and Pods that have names"
    )
    pods: PodsMode = option(
        Choice(PodsMode),
        default=PodsMode.DISABLED,
        help="names of pods: disabled, insecure (any address), verified (existing pods)",
    )
    endpoint_pod_names: bool = flag(help="name endpoints without hostname by their pod instead of their address")
    ttl: int = option(Seconds(at_most=3600), default=5, help="TTL of every record")
    noendpoints: bool = flag(help="serve no endpoints, so neither headless Services")
    fallthrough: FallthroughLine = fallthrough_option()
    ignore: bool = option(Exactly("empty_service"), default=False, help="Services without ready endpoints do not exist")
    startup_timeout: float = option(
        Duration(), default=5.0, help="how long names of the cluster wait at a start for an API server's first lists"
    )
    snapshot: SnapshotPlace | None = option(
        SNAPSHOT, default=None, help="file to keep what the API server said, for the next start"
    )
    mesh: MeshService | None = option(
        Group(_mesh, {"NAMESPACE/SERVICE": NamespacedName()}, {"PORT": Text(syntax="PORT")}),
        default=None,
        help="the mesh's own Service; with it the names that the mesh needs are served",
    )
    multicluster: tuple[Name, ...] = option(
        Zones(1), default=(), help="which of the zones have the names that other clusters have given"
    )
    apiserver_qps: int = option(Count(), default=0, help=_API_ONLY)
    apiserver_burst: int = option(Count(), default=0, help=_API_ONLY)
    apiserver_max_inflight: int = option(Count(), default=0, help=_API_ONLY)
    zonal: bool = ignored("answers do not depend on the asking node's zone here")
    resyncperiod: bool = ignored("CoreDNS no longer reads it")
    upstream: bool = ignored("CoreDNS no longer reads it; aliases are followed by the server block's own plugins")


class Kubernetes:
    """Answers for the names of a cluster. ``fallthrough``: zones whose missing names go on down the chain.

    ``imported``: the names that other clusters have given to it, if they have zones. ``listed``: what is waited for as
    long as nothing is known.
    """

    word = "kubernetes"

    def __init__(
        self,
        zone: ClusterZone,
        fallthrough: Sequence[Name],
        imported: ClusterZone | None = None,
        listed: Listed = at_once,
    ) -> None:
        self.zone = zone
        self.clusters = (zone,) if imported is None else (zone, imported)
        self._fallthrough = fallthrough
        self._listed = listed

    async def answer(self, query: Query, next_plugin: Next) -> Answer:
        """What the cluster says of the name; another zone's name goes on, and so does a missing one that may."""
        name = query.question.name
        cluster = next((each for each in self.clusters if each.zone_of(name) is not None), None)
        if cluster is None:
            return await next_plugin(query)
        if not cluster.lister.has_synced:
            await self._listed()
        answer = cluster.answer(query.question, query.trace, query.client.address)
        if answer.rcode == Rcode.NXDOMAIN and name.is_within(self._fallthrough):
            query.trace.step(self.word, "the name is missing and falls through")
            return (await next_plugin(query)).also_on(answer.depends_on)
        return msgspec.structs.replace(answer, plugin=self.word)

    def apexes(self) -> Iterable[Name]:
        """Its zones, reverse ones too."""
        return [zone.name for cluster in self.clusters for zone in cluster.zones]

    def soa(self, zone: Name) -> RRset | None:
        """The SOA of one of its zones, or of a Service's endpoints, once the cluster has been listed."""
        cluster = self._cluster_of(zone)
        if not cluster.lister.has_synced:
            return None
        found = cluster.begins_at(zone)
        return endpoint_zone_soa(cluster, zone) if found is None else found.soa(cluster.serial)

    def zone_records(self, zone: Name) -> Iterator[RRset]:
        """Every RRset of one of these zones, as the cluster is now."""
        cluster = self._cluster_of(zone).frozen()
        found = cluster.begins_at(zone)
        return endpoint_zone_records(cluster, zone) if found is None else zone_records(cluster, found)

    def is_ready(self) -> bool:
        """Whether the cluster has been listed."""
        return all(cluster.lister.has_synced for cluster in self.clusters)

    def _cluster_of(self, apex: Name) -> ClusterZone:
        """The cluster with that zone; its own where it is none of either."""
        return next((cluster for cluster in self.clusters if cluster.begins_at(apex) is not None), self.zone)


def source_of(options: Options) -> ClusterSource:
    """Which cluster the options speak of."""
    api = access_of(options.kubeconfig, options.endpoint, options.tls)
    all_pods = options.pods is PodsMode.VERIFIED
    # Proxies of the mesh are told of callers in whatever namespace; an API server takes one namespace or all.
    only = options.namespaces[0] if len(options.namespaces) == 1 and options.mesh is None else ""
    return ClusterSource(
        options.manifests,
        api,
        options.labels,
        all_pods,
        startup_seconds=options.startup_timeout,
        snapshot=options.snapshot,
        namespace=only,
    )


def access_of(kubeconfig: Kubeconfig | None, endpoint: str, tls: Credentials | None) -> ApiAccess:
    """Which API server the options speak of."""
    if kubeconfig is not None:
        return ApiAccess(kubeconfig.path, kubeconfig.context)
    files = (tls.certificate, tls.key, tls.authority) if tls else ("", "", "")
    return ApiAccess("", "", endpoint, *files)


def make(options: Options, context: Context) -> Kubernetes:
    """The plugin."""
    source = source_of(options)
    lister = context.lister(source)
    zones = options.zones or context.zones
    records = RecordOptions(
        zones=tuple(zone for zone in zones if zone not in options.multicluster),
        ttl=options.ttl,
        pods=options.pods,
        endpoint_pod_names=options.endpoint_pod_names,
        namespaces=frozenset(options.namespaces),
        namespace_selector=options.namespace_labels,
        serve_endpoints=not options.noendpoints,
        ignore_empty_services=options.ignore,
        mesh=options.mesh is not None,
        proxies=None if options.mesh is None else (options.mesh.namespace, options.mesh.name),
    )
    fallthrough = falling_through(options.fallthrough, zones)
    # Whatever the store has seen before, the serial goes on from where it is.
    zone = ClusterZone(records, lister, context.serial - lister.version)
    if not options.multicluster:
        return Kubernetes(zone, fallthrough, listed=context.listed)
    place = options.snapshot
    beside = None if place is None else replace(place, path=f"{place.path}.imports")
    theirs = replace(source, selector=None, pods=False, imports=True, snapshot=beside, namespace="")
    imported = imported_zone(options.multicluster, options.ttl, not options.noendpoints, theirs, context)
    return Kubernetes(zone, fallthrough, imported, context.listed)


def imported_zone(
    zones: tuple[Name, ...], ttl: int, serve_endpoints: bool, source: ClusterSource, context: Context
) -> ClusterZone:
    """The names in ``zones`` of what other clusters have given, as ``source`` finds it."""
    lister = context.lister(source)
    records = RecordOptions(zones=zones, ttl=ttl, serve_endpoints=serve_endpoints)
    return ClusterZone(records, lister, context.serial - lister.version)
