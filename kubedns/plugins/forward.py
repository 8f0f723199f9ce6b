"""forward: names of other zones are asked of upstreams.

Syntax::

    forward FROM TO... {
        except NAMES...
        policy random|round_robin|sequential
        max_fails NUMBER
        health_check DURATION
        max_concurrent NUMBER
        prefer_udp
        force_tcp
        expire DURATION
        failfast_all_unhealthy_upstreams
    }

TO is an address, an address with a port, or a file in the form of resolv.conf, read once; at most 15 upstreams. Each
query has a port and an ID of its own; a reply that is not to it is waited past. SERVFAIL, REFUSED or silence of one
upstream sends the query to the next, within 3.8 s in all; NXDOMAIN is an answer. More than ``max_concurrent`` questions
under way are REFUSED.

Example::

    .:1053 {
        forward . 192.0.2.1 192.0.2.2:5353 {
            except example.com
            policy sequential
            max_concurrent 1000
        }
    }
"""

from __future__ import annotations

import ipaddress
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from kubedns.corefile.blocks import Directive, Word
from kubedns.corefile.labels import read_label
from kubedns.corefile.options import PluginOptions, arguments, flag, option
from kubedns.corefile.shapes import Shape, Zones, unfit
from kubedns.corefile.values import Choice, Count, Duration
from kubedns.dns.answer import Answer, Rcode
from kubedns.dns.edns import ErrorCode, ExtendedError
from kubedns.dns.names import Name
from kubedns.dns.question import Query, Transport
from kubedns.plugins.plugin import Context, Next
from kubedns.upstream.exchange import UpstreamAddress
from kubedns.upstream.forwarder import Forwarder
from kubedns.upstream.policy import Order, Policy
from kubedns.upstream.resolvconf import name_servers
from kubedns.upstream.upstream import Health, Upstream

MAX_UPSTREAMS = 15
_REMEDY = "write it like 192.0.2.1, 192.0.2.1:53 or [2001:db8::1]:53"
_BUSY = Answer(
    rcode=Rcode.REFUSED,
    authoritative=False,
    lifetime_seconds=0,
    extended_error=ExtendedError(ErrorCode.OTHER, "too many questions wait for upstreams"),
)


@dataclass(frozen=True, slots=True)
class Route:
    """Names at or below ``zone`` are asked of ``upstreams``; ``place``: the line that says so."""

    zone: Name
    upstreams: tuple[UpstreamAddress, ...]
    place: str = ""


class RouteWords(Shape[Route]):
    """``FROM TO...``."""

    syntax = "FROM TO..."

    def read(self, line: Directive) -> Route:
        """The zone and its upstreams, those of files among them."""
        words = self.words(line, 2)
        upstreams = tuple(dict.fromkeys(address for word in words[1:] for address in _upstreams(word)))
        if len(upstreams) > MAX_UPSTREAMS:
            raise line.word.fault(f"{len(upstreams)} upstreams", f"at most {MAX_UPSTREAMS} are asked")
        (zone,) = read_label(words[0])
        return Route(zone.zone, upstreams, str(line.word.location))


def _upstreams(word: Word) -> Sequence[UpstreamAddress]:
    if "://" in word.text and not word.text.startswith("dns://"):
        raise unfit(word, "a transport that is not spoken to upstreams", "use an address, or dns://ADDRESS")
    text = word.text.removeprefix("dns://")
    path = Path(text)
    if path.is_file():
        found = name_servers(path.read_text(errors="replace"))
        if not found:
            raise unfit(word, "a file without nameserver lines")
        return found
    host, port = _split(text)
    try:
        return (UpstreamAddress(str(ipaddress.ip_address(host)), int(port)),)
    except ValueError as error:
        raise unfit(word, "no address and no file", _REMEDY) from error


def _split(text: str) -> tuple[str, str]:
    """Host and port of ``1.2.3.4``, ``1.2.3.4:53``, ``::1`` and ``[::1]:53``."""
    if text.startswith("["):
        host, _, rest = text[1:].partition("]")
        return host, rest.removeprefix(":") or "53"
    if text.count(":") == 1:
        host, _, port = text.partition(":")
        return host, port
    return text, "53"


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """forward FROM TO... { ... }: names of other zones are asked of upstreams."""

    route: Route = arguments(RouteWords(), help="names at or below FROM are asked of TO")
    excepted: tuple[Name, ...] = option(Zones(1), default=(), word="except", help="names that are not forwarded")
    policy: Policy = option(Choice(Policy), default=Policy.RANDOM, help="which upstream is asked first")
    max_fails: int = option(Count(), default=2, help="failures in a row after which an upstream is down; 0: never")
    health_check: float = option(
        Duration(at_least=0.001), default=0.5, help="time between probes of an upstream that failed"
    )
    max_concurrent: int = option(Count(), default=0, help="questions under way at once; 0: as many as come")
    prefer_udp: bool = flag(help="ask over UDP what clients ask over TCP")
    force_tcp: bool = flag(help="ask everything over TCP")
    expire: float = option(Duration(), default=10.0, help="read for CoreDNS's files: no connection is kept")
    failfast: bool = flag(word="failfast_all_unhealthy_upstreams", help="ask nobody while every upstream is down")


class Forward:
    """Sends what is at or below ``zone`` and not ``excepted`` to the forwarder."""

    word = "forward"

    def __init__(self, options: Options, forwarder: Forwarder) -> None:
        self.zone = options.route.zone
        self.upstreams = forwarder.upstreams
        self._options = options
        self._forwarder = forwarder

    async def answer(self, query: Query, next_plugin: Next) -> Answer:
        """The upstreams' answer; another zone's name goes on."""
        options = self._options
        name = query.question.name
        if not name.is_at_or_below(self.zone) or name.is_within(options.excepted):
            return await next_plugin(query)
        if options.max_concurrent and self._forwarder.under_way >= options.max_concurrent:
            return _BUSY
        if query.trace.active:
            query.trace.step(self.word, f"asks {', '.join(map(str, options.route.upstreams))}")
        over_tcp = query.client.transport is Transport.TCP and not options.prefer_udp
        answer = await self._forwarder.answer(query, over_tcp)
        return msgspec.structs.replace(answer, plugin=self.word)

    def close(self) -> None:
        """Probe the upstreams no more."""
        for upstream in self.upstreams:
            upstream.close()


def make(options: Options, context: Context) -> Forward:
    """The plugin."""
    health = Health(options.max_fails, options.health_check)
    route = options.route
    upstreams = [Upstream(address, health, options.force_tcp, route.place) for address in route.upstreams]
    return Forward(options, Forwarder(upstreams, Order(options.policy, random.random), options.failfast))
