"""UDP: datagrams in, datagrams out, read up to 64 at a time; a finished answer costs one look-up and no allocation."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

from kubedns.dns.question import Client, Transport
from kubedns.observe.metrics import TransportMetrics
from kubedns.transport.driving import drive
from kubedns.transport.responder import Responder
from kubedns.transport.sockets import IP_PKTINFO, IPV6_PKTINFO, ListenAddress, packed, udp_socket

_BATCH = 64
"""Datagrams read per wake-up, so that TCP and the watches get their turn under load."""
_QUERY_OCTETS = 4096
"""Longer queries are cut by the kernel, and what is left of them is no well-formed message."""
_MAX_SUSPENDED = 10_000
_LAST_WAIT_SECONDS = 2.0
"""How long queries in flight are waited for when the listener stops."""
_log = logging.getLogger(__name__)

Peer = tuple[Any, ...]
"""A socket address as the socket module gives it: host and port first."""
Control = list[tuple[int, int, bytes]]
_PKTINFO = {(socket.IPPROTO_IP, IP_PKTINFO), (socket.IPPROTO_IPV6, IPV6_PKTINFO)}
_PKTINFO_ROOM = socket.CMSG_SPACE(20)


class UdpListener:
    """Answers datagrams to one address. The socket is bound when it is made, and read once it is started.

    Raises:
        ListenError: the address cannot be bound.
    """

    def __init__(self, address: ListenAddress, responder: Responder, metrics: TransportMetrics) -> None:
        self.address = address
        self._responder = responder
        self._metrics = metrics
        self._socket = udp_socket(address)
        self._suspended: set[asyncio.Task[None]] = set()
        self._drain = self._drain_wildcard if address.is_wildcard else self._drain_address

    def __str__(self) -> str:
        return f"{self.address} (UDP)"

    async def start(self) -> None:
        """Begin to answer, what has waited in the socket's buffer first."""
        asyncio.get_running_loop().add_reader(self._socket, self._drain)

    async def stop(self) -> None:
        """Answer what has come so far, then no more."""
        asyncio.get_running_loop().remove_reader(self._socket)
        self._drain()
        if self._suspended:
            await asyncio.wait(self._suspended, timeout=_LAST_WAIT_SECONDS)
        self.close()

    def close(self) -> None:
        """Give the socket up at once."""
        for task in self._suspended:
            task.cancel()
        self._socket.close()

    def _drain_address(self) -> None:
        """Read and answer a batch; every reply leaves from the one address there is."""
        responder = self._responder
        recvfrom, sendto = self._socket.recvfrom, self._socket.sendto
        find = None if responder.is_client_sensitive else responder.find(b"")
        responder.tick()
        began = perf_counter()
        hits = 0
        for _ in range(_BATCH):
            try:
                octets, peer = recvfrom(_QUERY_OCTETS)
            except BlockingIOError:
                break
            except OSError as error:
                self._metrics.failed(error)
                continue
            look_up = find or responder.find(packed(peer[0]))
            serve = look_up(octets[2:])
            if serve is None:
                self._resolve(octets, peer, partial(_send_to, sendto, peer))
                continue
            hits += 1
            try:
                sendto(octets[:2] + serve(), peer)
            except OSError as error:
                self._metrics.failed(error)
        if hits:
            responder.served(hits, perf_counter() - began)

    def _drain_wildcard(self) -> None:
        """The same where the machine's addresses are many: a reply leaves from the one that was asked."""
        responder = self._responder
        recvmsg, sendmsg = self._socket.recvmsg, self._socket.sendmsg
        responder.tick()
        began = perf_counter()
        hits = 0
        for _ in range(_BATCH):
            try:
                octets, control, _flags, peer = recvmsg(_QUERY_OCTETS, _PKTINFO_ROOM)
            except BlockingIOError:
                break
            except OSError as error:
                self._metrics.failed(error)
                continue
            source = _source(control)
            serve = responder.find(packed(peer[0]))(octets[2:])
            if serve is None:

                def send(response: bytes, source: Control = source, peer: Peer = peer) -> None:
                    sendmsg([response], source, 0, peer)

                self._resolve(octets, peer, send)
                continue
            hits += 1
            try:
                sendmsg([octets[:2] + serve()], source, 0, peer)
            except OSError as error:
                self._metrics.failed(error)
        if hits:
            responder.served(hits, perf_counter() - began)

    def _resolve(self, octets: bytes, peer: Peer, send: Callable[[bytes], object]) -> None:
        if len(self._suspended) >= _MAX_SUSPENDED:
            self._metrics.dropped += 1
            return
        client = Client(packed(peer[0]), peer[0], peer[1], Transport.UDP)

        def done(response: bytes | None) -> None:
            if response is not None:
                try:
                    send(response)
                except OSError as error:
                    self._metrics.failed(error)

        try:
            drive(self._responder.resolve(octets, client), done, self._suspended)
        except Exception:
            self._metrics.panics += 1
            _log.exception("error while answering a datagram of %d octets", len(octets))


def _send_to(sendto: Callable[[bytes, Peer], object], peer: Peer, response: bytes) -> None:
    sendto(response, peer)


def _source(control: Control) -> Control:
    """The control message that makes a reply leave from the address that a query was sent to."""
    for level, kind, value in control:
        if (level, kind) in _PKTINFO:
            if level == socket.IPPROTO_IP:
                # in_pktinfo is interface, own address, header's destination: the last one asked, the second one sends.
                return [(level, kind, bytes(4) + value[8:12] + bytes(4))]
            return [(level, kind, value)]
    return []
