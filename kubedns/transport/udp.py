"""UDP: datagrams in, datagrams out, read up to 64 at a time; a finished answer costs one look-up and no allocation."""

from __future__ import annotations

import asyncio
from functools import partial
from time import monotonic, perf_counter
from typing import Any

from kubedns.dns.question import Client, Transport
from kubedns.observe.metrics import TransportMetrics
from kubedns.transport.driving import Driver
from kubedns.transport.responder import Responder
from kubedns.transport.sockets import ListenAddress, leave, packed, udp_socket
from kubedns.transport.sources import CONTROL_OCTETS, Control, Sources, address_of

_BATCH = 64
"""Datagrams read per wake-up, so that TCP and the watches get their turn under load."""
_TOGETHER = 16
"""Replies that had to be worked out leave by so many at a time, so that whoever takes them is woken once for all.

Waking somebody on another processor costs more than a reply does; more of them would keep the first one waiting.
"""
_QUERY_OCTETS = 4096
"""Longer queries are cut by the kernel, and answered as what is left of them."""
_LAST_WAIT_SECONDS = 2.0
"""How long the queue, and then queries in flight, are waited for when the listener stops."""

Peer = tuple[Any, ...]
"""A socket address as the socket module gives it: host and port first."""


class UdpListener:
    """Answers datagrams to one address. The socket is bound when it is made, and read once it is started.

    Raises:
        ListenError: the address cannot be bound.
    """

    def __init__(self, address: ListenAddress, responder: Responder, metrics: TransportMetrics) -> None:
        self.address = address
        self.transport = Transport.UDP
        self._responder = responder
        self._metrics = metrics
        self._driver = Driver(metrics)
        self._socket = udp_socket(address)
        self._sources = Sources()
        self._replies: list[tuple[bytes, Peer, Control | None]] = []
        self._is_reading = False
        self._drain = self._drain_wildcard if address.is_wildcard else self._drain_address
        self._loop: asyncio.AbstractEventLoop | None = None

    def __str__(self) -> str:
        return f"{self.address} (UDP)"

    def answer_by(self, responder: Responder) -> None:
        """Have ``responder`` answer what is read from now on; what is in flight is answered as it began."""
        self._responder = responder

    async def start(self) -> None:
        """Begin to answer, what has waited in the socket's buffer first."""
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._socket, self._read)

    async def stop(self) -> None:
        """Answer what has come so far, then no more."""
        if self._stop_reading():
            leave(self._socket)
            deadline = monotonic() + _LAST_WAIT_SECONDS
            while self._read() and monotonic() < deadline:
                await asyncio.sleep(0)
            if self._driver.suspended:
                await asyncio.wait(self._driver.suspended, timeout=_LAST_WAIT_SECONDS)
        self._send_replies()
        self.close()

    def close(self) -> None:
        """Give the socket up at once."""
        for task in self._driver.suspended:
            task.cancel()
        self._stop_reading()
        self._replies.clear()
        self._socket.close()

    def _stop_reading(self) -> bool:
        """Whether the socket was read until now."""
        loop, self._loop = self._loop, None
        return loop is not None and loop.remove_reader(self._socket)

    def _read(self) -> bool:
        """Read and answer a batch. Whether more may be waiting."""
        self._is_reading = True
        try:
            return self._drain()
        finally:
            self._is_reading = False
            self._send_replies()

    def _drain_address(self) -> bool:
        """Read and answer a batch; every reply leaves from the one address there is. Whether more may be waiting."""
        responder, failed = self._responder, self._metrics.failed
        recvfrom, sendto = self._socket.recvfrom, self._socket.sendto
        responder.tick()
        find = None if responder.is_client_sensitive else responder.find(b"")
        began = perf_counter()
        hits = 0
        has_more = True
        for _ in range(_BATCH):
            try:
                octets, peer = recvfrom(_QUERY_OCTETS)
            except BlockingIOError:
                has_more = False
                break
            except OSError as error:
                failed(error)
                continue
            serve = (find or responder.find(packed(peer[0])))(octets[2:])
            if serve is None:
                self._resolve(octets, peer, None)
                continue
            hits += 1
            try:
                sendto(octets[:2] + serve(), peer)
            except OSError as error:
                failed(error)
            except Exception as error:
                self._driver.failed(error)
        if hits:
            responder.served(hits, perf_counter() - began)
        return has_more

    def _drain_wildcard(self) -> bool:
        """The same where the machine's addresses are many: a reply leaves from the one that was asked."""
        responder, failed, sources = self._responder, self._metrics.failed, self._sources
        recvmsg, sendmsg = self._socket.recvmsg, self._socket.sendmsg
        responder.tick()
        find = None if responder.is_client_sensitive else responder.find(b"")
        began = perf_counter()
        hits = 0
        has_more = True
        for _ in range(_BATCH):
            try:
                octets, control, _flags, peer = recvmsg(_QUERY_OCTETS, CONTROL_OCTETS)
            except BlockingIOError:
                has_more = False
                break
            except OSError as error:
                failed(error)
                continue
            source = sources.of(control)
            serve = (find or responder.find(packed(peer[0])))(octets[2:])
            if serve is None:
                self._resolve(octets, peer, source)
                continue
            hits += 1
            try:
                sendmsg((octets[:2], serve()), source, 0, peer)
            except OSError as error:
                failed(error)
            except Exception as error:
                self._driver.failed(error)
        if hits:
            responder.served(hits, perf_counter() - began)
        return has_more

    def _resolve(self, octets: bytes, peer: Peer, source: Control | None) -> None:
        local = self.address.host if source is None else address_of(source)
        client = Client(packed(peer[0]), peer[0], peer[1], Transport.UDP, local)
        self._driver.drive(self._responder.resolve(octets, client), partial(self._reply, peer, source))

    def _reply(self, peer: Peer, source: Control | None, response: bytes | None) -> None:
        if response is None:
            return
        self._replies.append((response, peer, source))
        if len(self._replies) >= _TOGETHER:
            self._send_replies()
        elif not self._is_reading and len(self._replies) == 1:
            # Others that have waited may be ready in this turn of the loop as well.
            asyncio.get_running_loop().call_soon(self._send_replies)

    def _send_replies(self) -> None:
        replies, self._replies = self._replies, []
        for response, peer, source in replies:
            try:
                if source is None:
                    self._socket.sendto(response, peer)
                else:
                    self._socket.sendmsg((response,), source, 0, peer)
            except OSError as error:
                self._metrics.failed(error)
