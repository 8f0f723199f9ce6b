"""Faults around what takes its time: answers of others that come late, and stops while queries are under way."""

from __future__ import annotations

import signal
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import dns.exception
import dns.message
import dns.rrset
import pytest

from tests.cli.servers import answering
from tests.e2e.wires import WEB, connect, framed, port_free_everywhere, query, rest, send, wait_until
from tests.support.process import PATIENCE_SECONDS, Running, free_port, running

CLUSTER = Path(__file__).parent.parent / "conformance" / "cluster.yaml"
SLOW = "slow.example.com."
COREFILE = """
.:{port} {{
    bind {bind}
    health 127.0.0.1:{health} {{
        lameduck 1h
    }}
    ready 127.0.0.1:{health}
    kubernetes cluster.local {{
        manifests {manifests}
    }}
    forward . 127.0.0.1:{upstream}
}}
"""


@dataclass(frozen=True, slots=True)
class Upstream:
    """A server outside that answers nothing about ``slow.example.com`` before it is released."""

    asked: threading.Event = field(default_factory=threading.Event)
    released: threading.Event = field(default_factory=threading.Event)

    def respond(self, asked: dns.message.Message, tcp: bool) -> bytes:
        response = dns.message.make_response(asked)
        if asked.question and asked.question[0].name.to_text() == SLOW:
            self.asked.set()
            self.released.wait(PATIENCE_SECONDS)
            response.answer.append(dns.rrset.from_text(SLOW, 60, "IN", "A", "203.0.113.1"))
        return response.to_wire()


@dataclass(frozen=True, slots=True)
class Scene:
    """A server that asks a slow one outside, and has a health page."""

    server: Running
    upstream: Upstream
    health: int


@contextmanager
def scene(folder: Path, bind: str = "127.0.0.1") -> Iterator[Scene]:
    upstream, port, health = Upstream(), port_free_everywhere(), free_port()
    with answering(upstream.respond) as upstream_port:
        text = COREFILE.format(bind=bind, port=port, health=health, manifests=CLUSTER, upstream=upstream_port)
        (folder / "Corefile").write_text(text)
        try:
            with running(["-conf", str(folder / "Corefile")], port, folder / "log", probe=WEB) as server:
                yield Scene(server, upstream, health)
        finally:
            upstream.released.set()
    assert "Traceback" not in (folder / "log").read_text()


def test_a_slow_answer_holds_up_none_behind_it_on_the_connection(tmp_path: Path) -> None:
    with scene(tmp_path) as found, connect(found.server) as client:
        send(client, framed(query(SLOW, number=1), query(number=2), query(rdtype="AAAA", number=3)))
        quick = {take(client).id for _ in range(2)}
        assert quick == {2, 3}
        found.upstream.released.set()
        assert take(client).id == 1


def test_who_sends_no_more_gets_the_slow_answer_all_the_same(tmp_path: Path) -> None:
    with scene(tmp_path) as found, connect(found.server) as client:
        send(client, framed(query(SLOW, number=4)), is_last=True)
        assert found.upstream.asked.wait(PATIENCE_SECONDS)
        found.upstream.released.set()
        (response,) = rest(client)
        assert dns.message.from_wire(response).answer


@pytest.mark.parametrize("address", ["127.0.0.2", "127.1.2.3"])
def test_a_late_reply_comes_from_the_address_that_was_asked(address: str, tmp_path: Path) -> None:
    with scene(tmp_path, "0.0.0.0") as found, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(PATIENCE_SECONDS)
        client.sendto(query(SLOW), (address, found.server.port))
        assert found.upstream.asked.wait(PATIENCE_SECONDS)
        found.upstream.released.set()
        octets, peer = client.recvfrom(65535)
        assert peer == (address, found.server.port)
        assert dns.message.from_wire(octets).answer


def take(client: socket.socket) -> dns.message.Message:
    """The next response."""
    octets = b""
    while len(octets) < 2 or len(octets) < 2 + int.from_bytes(octets[:2]):
        more = client.recv(1 if len(octets) < 2 else 2 + int.from_bytes(octets[:2]) - len(octets))
        assert more, "closed before it came"
        octets += more
    return dns.message.from_wire(octets[2:])


def status(port: int, path: str) -> int:
    """The status of a page."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}", timeout=PATIENCE_SECONDS) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code


class Load:
    """Clients that ask all the time over UDP and on new connections, until the server is told to end."""

    def __init__(self, server: Running) -> None:
        self.answered = [0, 0]
        self.lost: list[str] = []
        self.is_ending = False
        self._server = server
        self._threads = [threading.Thread(target=self._ask, args=(tcp,)) for tcp in (False, True)]

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.is_ending = True
        for thread in self._threads:
            thread.join()

    def _ask(self, tcp: bool) -> None:
        while not self.is_ending:
            try:
                response = self._server.ask(WEB, tcp=tcp)
                assert response.answer
            except (OSError, EOFError, dns.exception.DNSException, AssertionError) as error:
                if not self.is_ending:
                    self.lost.append(repr(error))
                return
            self.answered[tcp] += 1


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_loses_no_query(stop: signal.Signals, tmp_path: Path) -> None:
    with ExitStack() as stack:
        found = stack.enter_context(scene(tmp_path))
        server, process = found.server, found.server.process
        idle = [stack.enter_context(connect(server)) for _ in range(10)]
        for client in idle:
            send(client, framed(query()))
            assert take(client).answer
        with Load(server) as load:
            wait_until(lambda: min(load.answered) > 10)
            process.send_signal(stop)
            wait_until(lambda: status(found.health, "ready") == 503)
            assert status(found.health, "health") == 200
            already = list(load.answered)
            wait_until(lambda: load.answered[0] > already[0] + 200 and load.answered[1] > already[1] + 20)
        assert load.lost == []
        slow = stack.enter_context(connect(server))
        send(slow, framed(query(SLOW)))
        assert found.upstream.asked.wait(PATIENCE_SECONDS)
        process.send_signal(stop)
        assert idle[0].recv(1) == b""  # an end in good order: a reset would raise
        found.upstream.released.set()
        assert {client.recv(1) for client in idle} == {b""}
        assert take(slow).answer
        assert slow.recv(1) == b""
        assert process.wait(PATIENCE_SECONDS) == 0
