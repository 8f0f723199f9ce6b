"""Server blocks → a server: stores and their sources, plugins, resolvers, listeners. Every fault is found in one go."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kubedns.cluster.objects import Kind
from kubedns.cluster.selectors import LabelSelector
from kubedns.cluster.sources.manifests import ManifestOptions, ManifestSource
from kubedns.cluster.store import Store
from kubedns.cluster.workloads import Networks
from kubedns.corefile.blocks import Directive, Scheme, ServerAddress, ServerBlock
from kubedns.corefile.read_options import read_options
from kubedns.corefile.rules import find_overlaps, find_repeats
from kubedns.corefile.suggestions import unknown_plugin
from kubedns.dns.names import Name, is_reverse
from kubedns.errors import ConfigurationError, ConfigurationErrors, ManifestError
from kubedns.observe.metrics import Metrics, Where
from kubedns.plugins.bind import Options as BindOptions
from kubedns.plugins.kubernetes import Options as KubernetesOptions
from kubedns.plugins.multicluster import Options as MulticlusterOptions
from kubedns.plugins.order import CHAIN, HARMLESS, ONCE_ONLY, PLUGINS, REFUSED
from kubedns.plugins.plugin import Choosing, ClusterSource, Context, Heeding, Joining, Plugin, Readiness
from kubedns.records.zone import MAX_ZONE_OCTETS
from kubedns.resolver.answercache import AnswerCache
from kubedns.resolver.chain import Chain, make_chain
from kubedns.resolver.resolver import Resolver
from kubedns.server.changes import Changes
from kubedns.server.exposition import Exposition
from kubedns.server.interfaces import bound_hosts
from kubedns.server.listening import server_label
from kubedns.server.loading import Loading
from kubedns.server.placing import check_snapshot, check_source, located_source
from kubedns.server.server import Cluster, Lasting, Server
from kubedns.transport.sockets import ListenAddress

_log = logging.getLogger(__name__)
_PORTS = {Scheme.TLS: 853, Scheme.HTTPS: 443}
"""Ports of labels without one, where the scheme has its own."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What is no configuration of answers.

    ``default_port``: of labels without one. ``cache_octets``: memory for finished answers. ``networks``: where laptop
    mode makes up addresses. ``shares_addresses``: whether other processes may listen on the same ones.
    """

    default_port: int = 53
    cache_octets: int = 48 << 20
    networks: Networks = field(default_factory=Networks)
    shares_addresses: bool = False


def build_server(blocks: Sequence[ServerBlock], settings: Settings, before: Server | None = None) -> Server:
    """The server that ``blocks`` describe; nothing is read or bound yet.

    ``before``: the one that it is to take over from; what outlives a configuration is that server's.

    Raises:
        ConfigurationErrors: all faults of the blocks, in the order of their lines.
    """
    routes = tuple(dict.fromkeys(address.zone for block in blocks for address in block.addresses))
    builder = _Builder(settings, routes, before)
    faults = [fault for block in blocks for fault in find_repeats(block, ONCE_ONLY)]
    drafts = [builder.draft(block, faults) for block in blocks]
    hosts = {id(draft.block): draft.hosts for draft in drafts}
    faults += find_overlaps(blocks, settings.default_port, lambda block: hosts[id(block)])
    if faults:
        raise ConfigurationErrors(sorted(faults, key=lambda fault: fault.location.line if fault.location else 0))
    return builder.server(drafts)


@dataclass(slots=True)
class _Draft:
    """A server block with its options read. ``hosts``: the addresses it is bound to; none: all."""

    block: ServerBlock
    hosts: tuple[str, ...] = ()
    plugins: list[Plugin] = field(default_factory=list)


class _Builder:
    def __init__(self, settings: Settings, routes: tuple[Name, ...], before: Server | None) -> None:
        self._settings = settings
        self._routes = routes
        # SOA serials start from the time of day, so that they do not go back when the process starts anew; another
        # configuration may give other records, so its serials are always higher.
        now = int(time.time())  # noqa: TID251
        self._serial = max(now, before.serial + 1) if before else now
        self._lasting = before.lasting if before else _lasting(settings)
        self._before = before.plugins if before else ()
        self._metrics = self._lasting.metrics
        self._cache = self._lasting.cache
        self._changes = self._lasting.changes
        self._known = dict(before.clusters) if before else {}
        self._clusters: dict[ClusterSource, Cluster] = {}
        self._exposition = Exposition(self._metrics, self._cache)
        self._loading = Loading()
        self._plugins: list[Plugin] = []

    def draft(self, block: ServerBlock, faults: list[ConfigurationError]) -> _Draft:
        """Read the options of a block's plugins and make them, in chain order."""
        draft = _Draft(block)
        faults += _scheme_faults(block)
        by_word: dict[str, list[Directive]] = {}
        for directive in block.directives:
            if directive.word.text in PLUGINS:
                by_word.setdefault(directive.word.text, []).append(directive)
            elif (word := directive.word.text) in HARMLESS:
                _log.warning("%s", directive.word.fault(f"{word} has no effect: {HARMLESS[word]}"))
            elif word in REFUSED:
                faults.append(directive.word.fault(f"plugin `{word}` is CoreDNS's and not served here", REFUSED[word]))
            else:
                faults.append(unknown_plugin(directive.word, PLUGINS))
        for row in CHAIN:
            for directive in by_word.get(row.word, ()):
                try:
                    self._add(draft, directive)
                except ConfigurationErrors as error:
                    faults += error.faults
                except ConfigurationError as fault:
                    faults.append(fault)
        return draft

    def _add(self, draft: _Draft, directive: Directive) -> None:
        module = PLUGINS[directive.word.text].module()
        options = read_options(module.Options, directive)
        for warning in options.warnings:
            _log.warning("%s", warning)
        if isinstance(options, BindOptions):
            draft.hosts += bound_hosts(options)
            return
        zones = tuple(dict.fromkeys(address.zone for address in draft.block.addresses))
        folder = Path(draft.block.location.file).parent
        if isinstance(options, KubernetesOptions | MulticlusterOptions):
            check_source(options, directive, folder)
            _check_zones(options.zones or zones, directive)
        context = Context(
            zones=zones,
            lister=lambda source: self._store(source, folder, directive),
            later=_later,
            unready=self._unready,
            exposition=self._exposition,
            changed=self._changes.tell,
            metrics=self._metrics,
            servers=tuple(dict.fromkeys(map(server_label, self._listen_addresses(draft)))),
            block=draft.plugins,
            written=draft.block,
            folder=folder,
            serial=self._serial,
            before=self._before,
            plugins=self._plugins,
            routes=self._routes,
            view=next((each.name for each in draft.plugins if isinstance(each, Choosing)), ""),
            listed=self._loading.over,
        )
        plugin = module.make(options, context)
        above = draft.plugins[-1] if draft.plugins else None
        if isinstance(above, Joining) and above.word == plugin.word:
            plugin = above.joined(plugin)
            draft.plugins.pop()
            self._plugins.pop()
        draft.plugins.append(plugin)
        self._plugins.append(plugin)

    def _listen_addresses(self, draft: _Draft) -> tuple[ListenAddress, ...]:
        """Where a server block listens, each address once; its ``bind`` lines have been read."""
        found = (self._listens_on(draft, address) for address in draft.block.addresses)
        return tuple(dict.fromkeys(listen_address for each in found for listen_address in each))

    def _listens_on(self, draft: _Draft, address: ServerAddress) -> list[ListenAddress]:
        """Where one label of a server block is listened on."""
        port = _PORTS.get(address.scheme, self._settings.default_port) if address.port is None else address.port
        shares = self._settings.shares_addresses
        return [ListenAddress(host, port, address.scheme.value, shares) for host in draft.hosts or ("0.0.0.0", "::")]

    def _unready(self) -> list[str]:
        words = [each.word for each in self._plugins if isinstance(each, Readiness) and not each.is_ready()]
        return list(dict.fromkeys(words))

    def _store(self, source: ClusterSource, folder: Path, directive: Directive) -> Store:
        located = located_source(source, folder)
        check_snapshot(located, self._clusters, directive)
        cluster = self._clusters.get(located) or self._known.get(located)
        if cluster is None:
            cluster = self._cluster(located)
        self._clusters[located] = cluster
        name = " ".join(located.manifests) or str(located.api)
        self._exposition.sources[f"{name} (imports)" if source.imports else name] = cluster.source
        return cluster.store

    def _cluster(self, source: ClusterSource) -> Cluster:
        """A store, and what fills it."""
        selector = source.selector or LabelSelector()
        if source.manifests:
            store = Store([Kind.SERVICE, Kind.ENDPOINT_SLICE, Kind.NAMESPACE, Kind.POD])
            options = ManifestOptions(source.manifests, self._settings.networks, selector, source.imports)
            store.subscribe(self._changes.tell)
            return Cluster(store, ManifestSource(options, store, _report))
        from kubedns.cluster.sources.api import ApiOptions, ApiSource  # whoever reads manifests needs none of it

        api = ApiOptions(
            source.api,
            selector,
            source.pods,
            source.imports,
            source.startup_seconds,
            source.snapshot,
            source.namespace,
        )
        store = Store(api.required)
        store.subscribe(self._changes.tell)
        return Cluster(store, ApiSource(api, store, self._metrics))

    def server(self, drafts: Sequence[_Draft]) -> Server:
        """Put the chains of each listening address together."""
        chains: dict[ListenAddress, list[Chain]] = {}
        for draft in drafts:
            zones: dict[tuple[ListenAddress, ...], list[Name]] = {}
            for address in draft.block.addresses:
                zones.setdefault(tuple(self._listens_on(draft, address)), []).append(address.zone)
            for listen_addresses, names in zones.items():
                chain = make_chain(dict.fromkeys(names), draft.plugins)
                for listen_address in listen_addresses:
                    chains.setdefault(listen_address, []).append(chain)
        for listen_address, found in chains.items():
            label = server_label(listen_address)
            self._exposition.plugins += [
                (label, Where(str(zone), chain.view.name if chain.view else ""), plugin)
                for chain in found
                for zone in chain.zones
                for plugin in chain.plugins
            ]
        for plugin in self._plugins:
            if isinstance(plugin, Heeding):
                self._changes.heard_by(plugin)
        resolvers = {listen_address: Resolver(found, self._metrics) for listen_address, found in chains.items()}
        return Server(resolvers, self._plugins, self._clusters, self._exposition, self._lasting, self._loading)


def _lasting(settings: Settings) -> Lasting:
    cache = AnswerCache(settings.cache_octets)
    return Lasting(Metrics(), cache, Changes(cache))


def _scheme_faults(block: ServerBlock) -> list[ConfigurationError]:
    """What is wrong with how a server block is to be spoken to."""
    has_certificate = any(directive.word.text == "tls" for directive in block.directives)
    faults = []
    for address in block.addresses:
        message, remedy = "", ""
        if address.scheme not in (Scheme.DNS, *_PORTS):
            message, remedy = f"{address.scheme.value}:// is not served", "use dns://, tls:// or https://"
        elif address.scheme is not Scheme.DNS and not has_certificate:
            message, remedy = f"{address.scheme.value}:// needs a certificate", "write `tls CERT KEY` into its block"
        if message:
            faults.append(ConfigurationError(message, location=address.location, remedy=remedy))
    return faults


def _check_zones(zones: Sequence[Name], directive: Directive) -> None:
    """Addresses are told by names of a forward zone, so without one every reverse name would be denied.

    In a long zone some of these names would be longer than any name may be (RFC 1035 §2.3.4).
    """
    if all(map(is_reverse, zones)):
        raise directive.word.fault(
            f"{directive.word.text}: all of its zones are reverse ones",
            "name the cluster's zone too, as in `kubernetes cluster.local`",
        )
    for zone in zones:
        if zone.octets() > MAX_ZONE_OCTETS and not is_reverse(zone):
            raise directive.word.fault(
                f"{directive.word.text}: zone {zone} is too long for names of endpoints",
                f"take one of {MAX_ZONE_OCTETS} octets",
            )


def _later(seconds: float, call: Callable[[], None]) -> None:
    asyncio.get_running_loop().call_later(seconds, call)


def _report(faults: Sequence[ManifestError]) -> None:
    for fault in faults:
        _log.error("%s", fault)
    if not faults:
        _log.info("every manifest can be read again")
