"""Listening: what answers on one address, and its sockets."""

from __future__ import annotations

import random
import time

from kubedns.dns.question import Transport
from kubedns.observe.metrics import Metrics
from kubedns.resolver.answercache import AnswerCache
from kubedns.resolver.resolver import Resolver
from kubedns.resolver.responder import Responder
from kubedns.transport.sockets import ListenAddress
from kubedns.transport.tcp import TcpListener
from kubedns.transport.udp import UdpListener

Listener = UdpListener | TcpListener


def server_label(address: ListenAddress) -> str:
    """What metrics call a listening address, in CoreDNS's manner: ``dns://:53``, ``dns://127.0.0.1:1053``."""
    return f"dns://:{address.port}" if address.is_wildcard else f"dns://{address}"


def responder_for(
    address: ListenAddress, transport: Transport, resolver: Resolver, metrics: Metrics, cache: AnswerCache
) -> Responder:
    """What a listener on ``address`` asks."""
    counters = metrics.responder(server_label(address), transport.value, 2 if ":" in address.host else 1)
    return Responder(resolver, transport, cache, counters, random.random, time.monotonic)


def listeners_on(
    address: ListenAddress, resolver: Resolver, metrics: Metrics, cache: AnswerCache
) -> tuple[Listener, ...]:
    """Bound sockets for one address, UDP and TCP.

    Raises:
        ListenError: the address cannot be listened on.
    """
    label = server_label(address)
    udp = UdpListener(
        address, responder_for(address, Transport.UDP, resolver, metrics, cache), metrics.transport(label, "udp")
    )
    try:
        tcp = TcpListener(
            address, responder_for(address, Transport.TCP, resolver, metrics, cache), metrics.transport(label, "tcp")
        )
    except BaseException:
        udp.close()
        raise
    return udp, tcp
