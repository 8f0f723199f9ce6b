"""A server: a resolver for each listening address, the sources that feed them, and listeners when they are wanted."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from kubedns.cluster.sources.source import Source
from kubedns.cluster.store import Store
from kubedns.dns.names import Name
from kubedns.errors import ListenError, ManifestError, NotServedError
from kubedns.observe.metrics import Metrics
from kubedns.observe.pages import Page
from kubedns.plugins.health import Health
from kubedns.plugins.kubernetes import Kubernetes
from kubedns.plugins.plugin import Closing, ClusterSource, Plugin, Serving, Starting, Stopping
from kubedns.records.cluster_zone import ClusterZone
from kubedns.resolver.answercache import AnswerCache
from kubedns.resolver.resolver import Resolver
from kubedns.server.changes import Changes
from kubedns.server.exposition import Exposition
from kubedns.server.listening import Listener, listeners_on, manner_of, responder_for
from kubedns.server.loading import Loading
from kubedns.transport.sockets import ListenAddress
from kubedns.transport.udp import UdpListener


@dataclass(frozen=True, slots=True)
class Lasting:
    """What outlives a configuration: counters never go back, and what has been answered is kept."""

    metrics: Metrics
    cache: AnswerCache
    changes: Changes


@dataclass(frozen=True, slots=True)
class Cluster:
    """A store and the source that fills it."""

    store: Store
    source: Source


class Server:
    """What a configuration describes.

    ``resolvers`` by listening address; ``plugins`` of all server blocks; ``clusters`` that they answer from;
    ``exposition``: what they all count; ``lasting``: what the next configuration takes over; ``loading``: what the
    plugins wait for.
    """

    def __init__(
        self,
        resolvers: Mapping[ListenAddress, Resolver],
        plugins: Sequence[Plugin],
        clusters: Mapping[ClusterSource, Cluster],
        exposition: Exposition,
        lasting: Lasting,
        loading: Loading,
    ) -> None:
        self.resolvers = resolvers
        self.plugins = plugins
        self.clusters = clusters
        self.sources = [cluster.source for cluster in clusters.values()]
        self.exposition = exposition
        self.lasting = lasting
        self._loading = loading

    async def load(self, loaded: Collection[Source] = ()) -> list[ManifestError]:
        """Read every source once, but for those that are ``loaded``; what could not be used."""
        with self._loading.going_on():
            return [fault for source in self.sources if source not in loaded for fault in await source.load()]

    def listeners(self, taken: Collection[ListenAddress] = ()) -> list[Listener]:
        """Bound sockets for every address that is not ``taken``, UDP and TCP; if one cannot be had, none is left.

        Raises:
            ListenError: an address cannot be listened on.
        """
        found: list[Listener] = []
        with ExitStack() as stack:
            for address, resolver in self.resolvers.items():
                if address in taken:
                    continue
                try:
                    made = listeners_on(address, resolver, self.lasting.metrics, self.lasting.cache)
                except ListenError:
                    # Every address of a family is none where the machine does not speak it.
                    if address.host == "::" and len(self.resolvers) > 1 and not _speaks_ipv6():
                        continue
                    raise
                for listener in made:
                    stack.callback(listener.close)
                found += made
            stack.pop_all()
        return found

    def take_over(self, listener: Listener) -> None:
        """Have a listener of an address that is served here answer as this server does."""
        address, lasting = listener.address, self.lasting
        resolver = self.resolvers[address]
        responder = responder_for(address, listener.transport, resolver, lasting.metrics, lasting.cache)
        if isinstance(listener, UdpListener):
            listener.answer_by(responder)
        else:
            listener.answer_by(responder, manner_of(address, resolver))

    def resolver_for(self, name: Name) -> Resolver:
        """The resolver that serves ``name``.

        Raises:
            NotServedError: none does.
        """
        for resolver in self.resolvers.values():
            if resolver.serves(name):
                return resolver
        raise NotServedError(f"no server block serves {name}")

    def pages(self) -> list[Page]:
        """The pages of all plugins."""
        return [page for plugin in self.plugins if isinstance(plugin, Serving) for page in plugin.pages()]

    def started(self) -> None:
        """Tell the plugins that queries are answered."""
        for chain in dict.fromkeys(chain for resolver in self.resolvers.values() for chain in resolver.chains):
            for plugin in chain.plugins:
                if isinstance(plugin, Starting):
                    plugin.start(chain.plugins)

    def stopping(self) -> None:
        """Tell the plugins that the server is about to stop."""
        for plugin in self.plugins:
            if isinstance(plugin, Stopping):
                plugin.stopping()

    def close(self) -> None:
        """Have the plugins give up what they hold of the world's."""
        for plugin in self.plugins:
            if isinstance(plugin, Closing):
                plugin.close()

    @property
    def lameduck_seconds(self) -> float:
        """How long queries are answered after SIGTERM: the longest that any server block asks for."""
        return max((plugin.lameduck_seconds for plugin in self.plugins if isinstance(plugin, Health)), default=0.0)

    @property
    def serial(self) -> int:
        """The highest serial of any zone, which the next configuration's must be above."""
        return max((zone.serial for zone in self.cluster_zones), default=0)

    @property
    def cluster_zones(self) -> tuple[ClusterZone, ...]:
        """The cluster zones of all server blocks."""
        plugins = [plugin for plugin in self.plugins if isinstance(plugin, Kubernetes)]
        return tuple(cluster for plugin in plugins for cluster in plugin.clusters)


def _speaks_ipv6() -> bool:
    """Whether the machine has IPv6 at all."""
    try:
        with open("/proc/net/if_inet6", encoding="ascii") as addresses:
            return bool(addresses.read())
    except OSError:
        return False
