"""An answer is never older than the last change that was told: a Service changes a thousand times under load."""

from __future__ import annotations

import asyncio
import ipaddress
import random
import threading
import time
from collections.abc import Callable, Coroutine

import dns.message
import dns.query
import dns.rcode

from kubedns.cluster.objects import Endpoint, EndpointSlice, Kind, ObjectKey, Service
from kubedns.cluster.store import Store
from kubedns.dns.names import parse_name
from kubedns.dns.question import Transport
from kubedns.observe.metrics import Metrics
from kubedns.plugins.kubernetes import Kubernetes
from kubedns.plugins.loadbalance import LoadBalance
from kubedns.plugins.plugin import Plugin
from kubedns.records.cluster_zone import ClusterZone
from kubedns.records.options import RecordOptions
from kubedns.resolver.answercache import AnswerCache
from kubedns.resolver.chain import make_chain
from kubedns.resolver.resolver import Resolver
from kubedns.resolver.responder import Responder
from kubedns.transport.sockets import ListenAddress
from kubedns.transport.udp import UdpListener
from tests.support.process import free_port

CHANGES = 1000
ZONE = parse_name("cluster.local.")


def address(change: int) -> bytes:
    return bytes((10, 0, change >> 8, change & 255))


def change_of(text: str) -> int:
    return int.from_bytes(ipaddress.ip_address(text).packed[2:])


def cluster_ip(change: int) -> Service:
    return Service("shop", "web", (address(change),), ())


def endpoints(change: int) -> EndpointSlice:
    return EndpointSlice("shop", "db-1", "db", (), (Endpoint((address(change),), "db-0"),))


class Clients:
    """Threads that ask all the time and compare each answer with the last change told before they asked."""

    def __init__(self, port: int) -> None:
        self.told = 0
        self.stale: list[str] = []
        self.asked = [0, 0, 0]
        self._port = port
        self._stop = threading.Event()
        questions = enumerate(("web.shop", "db.shop", "db-0.db.shop"))
        self._threads = [threading.Thread(target=self._ask, args=question) for question in questions]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _ask(self, place: int, name: str) -> None:
        query = dns.message.make_query(f"{name}.svc.cluster.local.", "A")
        while not self._stop.is_set():
            told = self.told
            response = dns.query.udp(query, "127.0.0.1", port=self._port, timeout=30)
            self.asked[place] += 1
            shown = [change_of(rdata.to_text()) for rrset in response.answer for rdata in rrset]
            # With an even change the name has that change's address, with an odd one it is gone.
            is_gone_too_early = not shown and self.told == told and told % 2 == 0
            if is_gone_too_early or (shown and shown[0] < told):
                self.stale.append(f"{name}: {shown or dns.rcode.to_text(response.rcode())} after {told}")


def change_all(store: Store, change: int) -> None:
    if change % 2:
        store.delete(ObjectKey(Kind.SERVICE, "shop", "web"))
        store.delete(ObjectKey(Kind.ENDPOINT_SLICE, "shop", "db-1"))
    else:
        store.upsert(cluster_ip(change))
        store.upsert(endpoints(change))


async def serve(port: int, change: Callable[[Store], Coroutine[None, None, None]]) -> None:
    """Serve a store over UDP while ``change`` runs on the same loop."""
    store = Store()
    cache = AnswerCache(1 << 24)
    store.subscribe(cache.drop)
    store.upsert(Service("shop", "db", (), (), is_headless=True))
    change_all(store, 0)
    plugins: list[Plugin] = [LoadBalance(()), Kubernetes(ClusterZone(RecordOptions(zones=(ZONE,)), store), ())]
    metrics = Metrics()
    resolver = Resolver([make_chain([ZONE], plugins)], metrics)
    counters = metrics.responder("", "udp", 1)
    responder = Responder(resolver, Transport.UDP, cache, counters, random.random, time.monotonic)
    listener = UdpListener(ListenAddress("127.0.0.1", port), responder, metrics.transport("", "udp"))
    await listener.start()
    await change(store)
    await listener.stop()


def test_no_answer_is_older_than_the_last_change_told() -> None:
    port = free_port()
    clients = Clients(port)

    async def change(store: Store) -> None:
        clients.start()
        try:
            for number in range(1, CHANGES + 1):
                change_all(store, number)
                clients.told = number
                goal = sum(clients.asked) + 3
                while sum(clients.asked) < goal:  # the load must see this state
                    await asyncio.sleep(0)
        finally:
            await asyncio.to_thread(clients.stop)

    asyncio.run(serve(port, change))
    assert not clients.stale
    assert sum(clients.asked) > CHANGES
