"""A server: a resolver for each listening address, the sources that feed them, and listeners when they are wanted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack

from kubedns.cluster.sources.source import Source
from kubedns.dns.names import Name
from kubedns.errors import ListenError, ManifestError, NotServedError
from kubedns.observe.pages import Page
from kubedns.plugins.health import Health
from kubedns.plugins.kubernetes import Kubernetes
from kubedns.plugins.plugin import Closing, Plugin, Serving, Starting, Stopping
from kubedns.records.cluster_zone import ClusterZone
from kubedns.resolver.resolver import Resolver
from kubedns.server.exposition import Exposition
from kubedns.transport.sockets import ListenAddress
from kubedns.transport.tcp import TcpListener
from kubedns.transport.udp import UdpListener

Listener = UdpListener | TcpListener
MakeListeners = Callable[[ListenAddress, Resolver], tuple[Listener, ...]]


class Server:
    """What a configuration describes.

    ``resolvers`` by listening address; ``plugins`` of all server blocks; ``exposition``: what they all count.
    """

    def __init__(
        self,
        resolvers: Mapping[ListenAddress, Resolver],
        plugins: Sequence[Plugin],
        sources: Sequence[Source],
        exposition: Exposition,
        make_listeners: MakeListeners,
    ) -> None:
        self.resolvers = resolvers
        self.plugins = plugins
        self.sources = sources
        self.exposition = exposition
        self._make_listeners = make_listeners

    async def load(self) -> list[ManifestError]:
        """Read every source once; what could not be used."""
        return [fault for source in self.sources for fault in await source.load()]

    def listeners(self) -> list[Listener]:
        """Bound sockets for every address, UDP and TCP; none is left behind if one cannot be had.

        Raises:
            ListenError: an address cannot be listened on.
        """
        found: list[Listener] = []
        with ExitStack() as stack:
            for address, resolver in self.resolvers.items():
                try:
                    made = self._make_listeners(address, resolver)
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

    def resolver_for(self, name: Name) -> Resolver:
        """The resolver that serves ``name``.

        Raises:
            NotServedError: none does.
        """
        for resolver in self.resolvers.values():
            if resolver.route(name) is not None:
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
    def cluster_zones(self) -> tuple[ClusterZone, ...]:
        """The cluster zones of all server blocks."""
        return tuple(plugin.zone for plugin in self.plugins if isinstance(plugin, Kubernetes))


def _speaks_ipv6() -> bool:
    """Whether the machine has IPv6 at all."""
    try:
        with open("/proc/net/if_inet6", encoding="ascii") as addresses:
            return bool(addresses.read())
    except OSError:
        return False
