"""forward: names of other zones are asked of upstreams.

Syntax::

    forward FROM TO... {
        except NAMES...
        policy random|round_robin|sequential
        max_fails NUMBER
        health_check DURATION [no_rec] [domain NAME]
        max_concurrent NUMBER
        max_connect_attempts NUMBER
        prefer_udp
        force_tcp
        expire DURATION
        max_idle_conns NUMBER
        tls [[CERT KEY] CA]
        tls_servername NAME
        next RCODE...
        next_on_nodata
        failover RCODE...
        failfast_all_unhealthy_upstreams
    }

TO is an address, an address with a port, ``tls://ADDRESS``, ``tls://ADDRESS%NAME:PORT`` with the name that its
certificate must have, or a file in the form of resolv.conf, read again when it changes; at most 15 upstreams. Each
query has a port and an ID of its own; a reply that is not to it is waited past. TCP and TLS connections are kept for
``expire`` (10 s) after their last use, and several questions share one. SERVFAIL, REFUSED or silence of one upstream
sends the query to the next, within 3.8 s in all; so do the codes of ``failover``; NXDOMAIN is an answer otherwise.
``next`` and ``next_on_nodata`` send the query to the server block's next ``forward``. More than ``max_concurrent``
(4096) questions under way are REFUSED.

Example::

    .:1053 {
        forward . 192.0.2.1 192.0.2.2:5353 {
            except example.com
            policy sequential
            max_concurrent 1000
        }
        forward . tls://192.0.2.3 {
            tls_servername dns.example.net
        }
    }
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import msgspec

from kubedns.corefile.options import PluginOptions, arguments, flag, option
from kubedns.corefile.shapes import Many, Zones
from kubedns.corefile.values import Choice, Count, Duration, Text
from kubedns.dns.answer import Answer, Rcode
from kubedns.dns.edns import ErrorCode, ExtendedError
from kubedns.dns.names import Name
from kubedns.dns.question import Query, Transport
from kubedns.dns.rdata import RecordType
from kubedns.observe.rows import FORWARD_BROKEN, FORWARD_REJECTS
from kubedns.plugins.forward_files import UpstreamFiles
from kubedns.plugins.forward_reading import Probing, ProbingWords, RcodeWord, Route, RouteWords, TlsWords
from kubedns.plugins.forward_tls import named, tls_context
from kubedns.plugins.plugin import Context, Next, Plugin, Transferable
from kubedns.upstream.answers import up_to
from kubedns.upstream.counters import ForwardCounters
from kubedns.upstream.exchange import UpstreamAddress
from kubedns.upstream.forwarder import Attempts, Forwarder
from kubedns.upstream.health import HealthRules
from kubedns.upstream.policy import Order, Policy
from kubedns.upstream.pool import MAX_CONNECTIONS, PoolLimits
from kubedns.upstream.tls import TlsFiles
from kubedns.upstream.upstream import Manner, Upstream

_log = logging.getLogger("plugin/forward")
_ALIASES = (RecordType.CNAME, RecordType.DNAME)
_MAX_UNDER_WAY = 4096
"""Questions that wait at a time if nothing else is said: each may hold a socket, and clients need some as well."""
_BUSY = Answer(
    rcode=Rcode.REFUSED,
    authoritative=False,
    recursion_available=True,
    lifetime_seconds=0,
    extended_error=ExtendedError(ErrorCode.OTHER, "too many questions wait for upstreams"),
    plugin="forward",
)


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """forward FROM TO... { ... }: names of other zones are asked of upstreams."""

    route: Route = arguments(RouteWords(), help="names at or below FROM are asked of TO")
    excepted: tuple[Name, ...] = option(Zones(1), default=(), word="except", help="names that are not forwarded")
    policy: Policy = option(Choice(Policy), default=Policy.RANDOM, help="which upstream is asked first")
    max_fails: int = option(Count(), default=2, help="failures in a row after which an upstream is down; 0: never")
    health_check: Probing = option(ProbingWords(), default=Probing(), help="how an upstream that failed is probed")
    max_concurrent: int = option(Count(), default=0, help="questions under way at once; 0: 4096")
    max_connect_attempts: int = option(Count(), default=0, help="upstreams asked for one query; 0: all")
    prefer_udp: bool = flag(help="ask over UDP what clients ask over TCP")
    force_tcp: bool = flag(help="ask everything over TCP")
    expire: float = option(Duration(at_least=0.001), default=10.0, help="how long a connection is kept unused")
    max_idle_conns: int = option(Count(), default=0, help="connections kept to each upstream; 0: 16")
    tls: TlsFiles = option(TlsWords(), default=TlsFiles(), help="whom tls:// upstreams are checked by, and who we are")
    tls_servername: str = option(Text(syntax="NAME"), default="", help="the name in tls:// upstreams' certificates")
    next_on: tuple[Rcode, ...] = option(
        Many(RcodeWord(), 1), default=(), word="next", help="answers after which the next forward is asked"
    )
    next_on_nodata: bool = flag(help="ask the next forward if there is no record")
    failover: tuple[Rcode, ...] = option(
        Many(RcodeWord(), 1), default=(), help="answers, besides SERVFAIL and REFUSED, that another upstream may better"
    )
    failfast: bool = flag(word="failfast_all_unhealthy_upstreams", help="ask nobody while every upstream is down")


class Forward:
    """Sends what is at or below ``zone`` and not excepted to the forwarder.

    ``new`` makes the upstream at an address that a file names later. ``block``: the server block's plugins;
    ``zones_elsewhere``: the zones whose names are answered, or asked for, elsewhere.
    """

    word = "forward"

    def __init__(
        self,
        options: Options,
        forwarder: Forwarder,
        new: Callable[[UpstreamAddress], Upstream],
        rejected: Callable[[], None],
        block: Sequence[Plugin],
        zones_elsewhere: Callable[[], frozenset[Name]],
    ) -> None:
        self.zone = options.route.zone
        self._options = options
        self._new = new
        self._was_full = False
        self._listeners: list[Callable[[Upstream], None]] = []
        self._files = UpstreamFiles(options.route, self._take)
        self._forwarder = forwarder
        self._rejected = rejected
        self._block = block
        self._zones_elsewhere = zones_elsewhere

    @property
    def upstreams(self) -> Sequence[Upstream]:
        """Those that are asked now."""
        return self._forwarder.upstreams

    def start(self, plugins: Sequence[Plugin]) -> None:
        """Follow the files that name upstreams."""
        self._files.start()

    def tell_of_new(self, listener: Callable[[Upstream], None]) -> None:
        """Tell ``listener`` of each upstream that is asked besides from now on."""
        self._listeners.append(listener)

    def look_at_files(self) -> None:
        """Ask what they name now."""
        self._files.look()

    def takes(self, name: Name) -> bool:
        """Whether ``name`` is asked of these upstreams."""
        return name.is_at_or_below(self.zone) and not name.is_within(self._options.excepted)

    async def answer(self, query: Query, next_plugin: Next) -> Answer:
        """The upstreams' answer; another zone's name goes on."""
        options = self._options
        name = query.question.name
        if not self.takes(name):
            return await next_plugin(query)
        if self._is_full():
            self._rejected()
            return _BUSY
        if query.trace.active:
            query.trace.step(self.word, f"asks {', '.join(str(each.address) for each in self.upstreams)}")
        over_tcp = query.client.transport is Transport.TCP and not options.prefer_udp
        answer = await self._forwarder.answer(query, over_tcp)
        if self._is_for_the_next(answer) and self._has_next(name):
            return await next_plugin(query)
        if query.question.type != RecordType.CNAME and answer.answer and answer.answer[0].type in _ALIASES:
            answer = up_to(self._not_theirs(), answer)
        return msgspec.structs.replace(answer, plugin=self.word)

    def close(self) -> None:
        """Probe the upstreams no more, and end the kept connections."""
        self._files.close()
        for upstream in self.upstreams:
            upstream.close()

    def _not_theirs(self) -> frozenset[Name]:
        """The zones in which what these upstreams say of an alias's target counts nothing: others are asked there."""
        above = self._block[: self._block.index(self)]
        return self._zones_elsewhere().union(plugin.zone for plugin in above if isinstance(plugin, Forward))

    def _is_full(self) -> bool:
        """Whether too many questions wait; that it has come to this is logged, until half of them are gone."""
        most = self._options.max_concurrent or _MAX_UNDER_WAY
        count = self._forwarder.under_way
        if count >= most and not self._was_full:
            self._was_full = True
            _log.warning("%s: %d questions wait for upstreams; more are refused", self._options.route.place, count)
        elif count <= most // 2:
            self._was_full = False
        return count >= most

    def _take(self, addresses: Sequence[UpstreamAddress]) -> None:
        """Ask those at ``addresses`` from now on; what is known of the ones that stay is kept."""
        before = {upstream.address: upstream for upstream in self.upstreams}
        new = {address: self._new(address) for address in addresses if address not in before}
        self._forwarder.upstreams = [new.get(address) or before.pop(address) for address in addresses]
        for upstream in before.values():
            upstream.close()
        for upstream in new.values():
            for listener in self._listeners:
                listener(upstream)

    def _is_for_the_next(self, answer: Answer) -> bool:
        options = self._options
        if options.next_on_nodata and answer.rcode == Rcode.NOERROR and not answer.answer:
            return True
        return answer.rcode in options.next_on

    def _has_next(self, name: Name) -> bool:
        below = self._block[self._block.index(self) + 1 :]
        return any(isinstance(plugin, Forward) and plugin.takes(name) for plugin in below)


def make(options: Options, context: Context) -> Forward:
    """The plugin.

    Raises:
        ConfigurationError: certificates cannot be used, or their names are told twice.
    """
    manner = Manner(
        HealthRules(
            options.max_fails,
            options.health_check.seconds,
            options.health_check.domain,
            options.health_check.recursion_desired,
        ),
        options.force_tcp,
        PoolLimits(connections=options.max_idle_conns or MAX_CONNECTIONS, idle_seconds=options.expire),
    )
    route = named(options.route, options.tls_servername)
    if any(address.over_tls for address in route.upstreams):
        manner = replace(manner, tls=tls_context(options.tls, context.folder, route))

    def new(address: UpstreamAddress) -> Upstream:
        return Upstream(address, manner, route.place, _counters(address, context))

    forwarder = Forwarder(
        [new(address) for address in route.upstreams],
        Order(options.policy, random.random),
        Attempts(frozenset(options.failover), options.max_connect_attempts, options.failfast),
        all_down=context.metrics.cell(FORWARD_BROKEN).add,
    )
    rejected = context.metrics.cell(FORWARD_REJECTS).add
    return Forward(
        replace(options, route=route), forwarder, new, rejected, context.block, lambda: _zones_elsewhere(context)
    )


def _zones_elsewhere(context: Context) -> frozenset[Name]:
    """The zones that are served here, in whichever server block, and those that have a server block of their own."""
    served = {zone for plugin in context.plugins if isinstance(plugin, Transferable) for zone in plugin.apexes()}
    around = (zone for zone in context.routes if not any(own.is_at_or_below(zone) for own in context.zones))
    return frozenset(served.union(around))


def _counters(address: UpstreamAddress, context: Context) -> ForwardCounters:
    return ForwardCounters(context.metrics, str(address), "tcp-tls" if address.over_tls else "tcp")
