"""Listening: what answers on one address, and its sockets."""

from __future__ import annotations

import random
import time
from dataclasses import replace

from kubedns.dns.question import Transport
from kubedns.observe.metrics import Metrics
from kubedns.plugins.timeouts import Timeouts
from kubedns.plugins.tls import Tls
from kubedns.resolver.answercache import AnswerCache
from kubedns.resolver.resolver import Resolver
from kubedns.resolver.responder import Responder
from kubedns.transport.https import HttpsListener
from kubedns.transport.limits import Manner, TcpLimits
from kubedns.transport.sockets import DNS, HTTPS, ListenAddress
from kubedns.transport.tcp import TcpListener
from kubedns.transport.udp import UdpListener

Listener = UdpListener | TcpListener | HttpsListener


def server_label(address: ListenAddress) -> str:
    """What metrics call a listening address, in CoreDNS's manner: ``dns://:53``, ``tls://127.0.0.1:853``."""
    return f"{address.scheme}://:{address.port}" if address.is_wildcard else f"{address.scheme}://{address}"


def responder_for(
    address: ListenAddress, transport: Transport, resolver: Resolver, metrics: Metrics, cache: AnswerCache
) -> Responder:
    """What a listener on ``address`` asks."""
    counters = metrics.responder(server_label(address), transport.value, 2 if ":" in address.host else 1)
    return Responder(resolver, transport, cache, counters, random.random, time.monotonic)


def manner_of(address: ListenAddress, resolver: Resolver) -> Manner:
    """How connections to ``address`` are held, by what the server blocks there say; the first that says it counts."""
    plugins = [plugin for chain in resolver.chains for plugin in chain.plugins]
    timeouts = next((plugin for plugin in plugins if isinstance(plugin, Timeouts)), None)
    limits = TcpLimits()
    if timeouts is not None:
        limits = replace(
            limits,
            message=timeouts.read or limits.message,
            unread=timeouts.write or limits.unread,
            idle=timeouts.idle or limits.idle,
        )
    tls = next((plugin.context for plugin in plugins if isinstance(plugin, Tls)), None)
    return Manner(limits, tls if address.scheme != DNS else None)


def listeners_on(
    address: ListenAddress, resolver: Resolver, metrics: Metrics, cache: AnswerCache
) -> tuple[Listener, ...]:
    """Bound sockets for one address: UDP and TCP, or the one of its scheme.

    Raises:
        ListenError: the address cannot be listened on.
    """
    label = server_label(address)

    def over_tcp() -> TcpListener | HttpsListener:
        kind = HttpsListener if address.scheme == HTTPS else TcpListener
        responder = responder_for(address, Transport.TCP, resolver, metrics, cache)
        return kind(address, responder, metrics.transport(label, "tcp"), manner_of(address, resolver))

    if address.scheme != DNS:
        return (over_tcp(),)
    udp = UdpListener(
        address, responder_for(address, Transport.UDP, resolver, metrics, cache), metrics.transport(label, "udp")
    )
    try:
        return udp, over_tcp()
    except BaseException:
        udp.close()
        raise
