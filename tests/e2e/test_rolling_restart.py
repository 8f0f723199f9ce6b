"""Replicas behind one address are replaced one after the other while queries come: none is lost, over UDP or TCP.

What is in front of them learns of a replica's end from its readiness page, and late, as kube-proxy does.
"""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import dns.message

from tests.e2e.test_probes import CLUSTER, COREFILE, page
from tests.e2e.test_reload import until
from tests.e2e.wires import WEB, framed
from tests.support.balancer import Balancer
from tests.support.process import PATIENCE_SECONDS, Running, free_port, running

LEAST_ANSWERS = 100


@contextmanager
def balanced(balancer: Balancer) -> Iterator[None]:
    """The balancer, on a thread of its own."""
    loop = asyncio.new_event_loop()

    async def run() -> None:
        opened = asyncio.Event()
        task = asyncio.create_task(balancer.run(opened))
        await opened.wait()
        begun.append(task)
        is_open.set()
        await asyncio.wait([task])

    begun: list[asyncio.Task[None]] = []
    is_open = threading.Event()
    thread = threading.Thread(target=loop.run_until_complete, args=(run(),))
    thread.start()
    try:
        assert is_open.wait(PATIENCE_SECONDS)
        yield
    finally:
        loop.call_soon_threadsafe(begun[0].cancel)
        thread.join()
        loop.close()


class Load:
    """Clients that ask one query after the other, each kind in its own way. ``answered`` and ``lost`` by kind."""

    def __init__(self, port: int) -> None:
        self.answered: Counter[str] = Counter()
        self.lost: Counter[str] = Counter()
        self._address = ("127.0.0.1", port)
        self._is_over = threading.Event()
        ways = {"udp": self._udp, "udp on one socket": self._udp_kept, "tcp": self._tcp, "tcp kept": self._tcp_kept}
        self.ways = tuple(ways)
        self._threads = [threading.Thread(target=ask, args=(way,)) for way, ask in ways.items()]

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        for thread in self._threads:
            thread.join()

    def _udp(self, way: str) -> None:
        while not self._is_over.is_set():
            with self._connected_udp() as asking:
                self._count(way, _is_answered_over_udp(asking))

    def _udp_kept(self, way: str) -> None:
        with self._connected_udp() as asking:
            while not self._is_over.is_set():
                self._count(way, _is_answered_over_udp(asking))

    def _tcp(self, way: str) -> None:
        while not self._is_over.is_set():
            with socket.create_connection(self._address, PATIENCE_SECONDS) as asking:
                self._count(way, _is_answered_over_tcp(asking))

    def _tcp_kept(self, way: str) -> None:
        """As long as the server keeps the connection; a query that meets its end is asked again (RFC 7766 §6.2.4)."""
        while not self._is_over.is_set():
            with socket.create_connection(self._address, PATIENCE_SECONDS) as asking:
                self._count(way, _is_answered_over_tcp(asking))
                with suppress(EOFError):
                    while not self._is_over.is_set():
                        self._count(way, _is_answered_over_tcp(asking, is_kept=True))

    def _connected_udp(self) -> socket.socket:
        asking = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        asking.settimeout(PATIENCE_SECONDS / 6)
        asking.connect(self._address)
        return asking

    def _count(self, way: str, is_answered: bool) -> None:
        (self.answered if is_answered else self.lost)[way] += 1


def _is_answered_over_udp(asking: socket.socket) -> bool:
    query = dns.message.make_query(WEB, "A")
    try:
        asking.send(query.to_wire())
        return _answers(query, asking.recv(4096))
    except OSError:
        return False


def _is_answered_over_tcp(asking: socket.socket, *, is_kept: bool = False) -> bool:
    """Whether it is; a connection that has been used before, and is kept, may have come to its end.

    Raises:
        EOFError: it has.
    """
    query = dns.message.make_query(WEB, "A")
    try:
        asking.sendall(framed(query.to_wire()))
        octets = asking.recv(4096)
    except ConnectionError:
        octets = b""
    except OSError:
        return False
    if is_kept and not octets:
        raise EOFError
    return len(octets) > 2 and _answers(query, octets[2:])


def _answers(query: dns.message.Message, octets: bytes) -> bool:
    response = dns.message.from_wire(octets)
    return query.is_response(response) and len(response.answer) == 1


@contextmanager
def replica(folder: Path, balancer: Balancer) -> Iterator[Running]:
    """One replica more, once the balancer asks it; a lame duck until it is told a second time to end."""
    port, health, ready = free_port(), free_port(), free_port()
    corefile = folder / f"Corefile-{port}"
    corefile.write_text(COREFILE.format(port=port, health=health, ready=ready, lameduck="10m", manifests=CLUSTER))
    with running(["-conf", str(corefile)], port, folder / f"log-{port}", probe=WEB) as started:
        balancer.backends[port] = ready
        until(lambda: port in balancer.ready)
        yield started


def wait_for_answers(load: Load) -> None:
    """Each client has got many more."""
    least = {way: load.answered[way] + LEAST_ANSWERS for way in load.ways}
    until(lambda: all(load.answered[way] > least[way] for way in least))


def test_no_query_is_lost_while_two_replicas_are_replaced(tmp_path: Path) -> None:
    balancer = Balancer(free_port())
    with balanced(balancer), ExitStack() as stack:
        replicas = [stack.enter_context(replica(tmp_path, balancer)) for _ in range(2)]
        with Load(balancer.port) as load:
            wait_for_answers(load)
            for old in replicas:
                stack.enter_context(replica(tmp_path, balancer))
                old.process.send_signal(signal.SIGTERM)
                until(lambda gone=old.port: gone not in balancer.ready)  # type: ignore[misc]
                wait_for_answers(load)
                assert old.stop() == 0
                del balancer.backends[old.port]
                wait_for_answers(load)
        assert not load.lost


SHARED = """
cluster.local:{port} {{
    bind 127.0.0.1
    health 127.0.0.1:{pages}
    prometheus 127.0.0.1:{pages}
    kubernetes {{
        manifests {manifests}
    }}
}}
"""


def test_no_query_is_lost_while_a_server_takes_over_the_addresses_of_another(tmp_path: Path) -> None:
    """As on a node, where a new pod starts beside the old one and nobody is in front of them."""
    port, pages = free_port(), free_port()
    corefile = tmp_path / "Corefile"
    corefile.write_text(SHARED.format(port=port, pages=pages, manifests=CLUSTER))

    def start(number: int, stack: ExitStack) -> Running:
        words = ["serve", "--conf", str(corefile), "--reuse-port"]
        started = stack.enter_context(running(words, port, tmp_path / f"log-{number}", probe=WEB))
        until(lambda: "answers on" in started.log.read_text())
        return started

    with ExitStack() as stack:
        old = start(0, stack)
        with Load(port) as load:
            for number in range(1, 4):
                new = start(number, stack)
                wait_for_answers(load)
                assert old.stop() == 0
                assert page(pages, "health") == (200, "OK")
                wait_for_answers(load)
                old = new
        assert not load.lost
