"""Upstreams that are all dead: clients hear so in time, sockets stay few, and names of the cluster are answered."""

from __future__ import annotations

import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import dns.edns
import dns.message
import dns.name
import dns.rcode

from kubedns.upstream.forwarder import Patience
from tests.e2e.wires import WEB, over_udp, query, wait_until
from tests.support.footprint import footprint
from tests.support.process import PATIENCE_SECONDS, Running, free_port, running

CLUSTER = Path(__file__).parent.parent / "conformance" / "cluster.yaml"
MOST, ASKED, FEW_FILES = 200, 300, 20
EQUAL = 100
COREFILE = """
.:{port} {{
    bind 127.0.0.1
    kubernetes cluster.local {{
        manifests {manifests}
    }}
    cache
    forward . {upstreams} {{
        max_concurrent {most}
    }}
}}
"""


@contextmanager
def scene(folder: Path) -> Iterator[Running]:
    """A server whose two upstreams hear everything and say nothing."""
    with silent_scene(folder) as (server, _):
        yield server


@contextmanager
def silent_scene(folder: Path) -> Iterator[tuple[Running, list[socket.socket]]]:
    """The same, with the sockets of the upstreams."""
    port = free_port()
    with ExitStack() as stack:
        silent = [stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) for _ in range(2)]
        for each in silent:
            each.bind(("127.0.0.1", 0))
        upstreams = " ".join(f"127.0.0.1:{each.getsockname()[1]}" for each in silent)
        text = COREFILE.format(port=port, manifests=CLUSTER, upstreams=upstreams, most=MOST)
        (folder / "Corefile").write_text(text)
        with running(["-conf", str(folder / "Corefile")], port, folder / "log", probe=WEB) as server:
            yield server, silent
    assert "Traceback" not in (folder / "log").read_text()


@contextmanager
def client_of(server: Running) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(PATIENCE_SECONDS)
        client.connect((server.address, server.port))
        yield client


def is_web(octets: bytes) -> bool:
    return bool(dns.message.from_wire(octets).answer)


def test_clients_hear_why_while_the_cluster_answers(tmp_path: Path) -> None:
    # The C library of most clients waits five seconds, and asks again then.
    assert Patience().total < 4
    with scene(tmp_path) as server, client_of(server) as client:
        client.send(dns.message.make_query("www.example.com.", "A", use_edns=0, id=7).to_wire())
        for number in range(100, 120):
            client.send(query(number=number))
        responses = [dns.message.from_wire(client.recv(65535)) for _ in range(21)]
    assert [response.id for response in responses] == [*range(100, 120), 7]
    assert all(response.answer for response in responses[:-1])
    last = responses[-1]
    assert last.rcode() == dns.rcode.SERVFAIL
    (reason,) = last.extended_errors()
    assert reason.code == dns.edns.EDECode.NO_REACHABLE_AUTHORITY
    assert "no reply within" in (reason.text or "")


def test_too_many_questions_are_refused_and_their_sockets_end(tmp_path: Path) -> None:
    with scene(tmp_path) as server, client_of(server) as client:
        before = footprint(server.process.pid).files
        for number in range(ASKED):
            client.send(query(f"n{number}.example.com.", number=number))
            if number % 20 == 0:
                assert is_web(over_udp(server, query()))
                assert footprint(server.process.pid).files <= before + MOST + FEW_FILES
        rcodes = [dns.message.from_wire(client.recv(65535)).rcode() for _ in range(ASKED)]
        assert set(rcodes) == {dns.rcode.REFUSED, dns.rcode.SERVFAIL}
        assert rcodes.count(dns.rcode.SERVFAIL) <= MOST + FEW_FILES
        wait_until(lambda: footprint(server.process.pid).files <= before + FEW_FILES)
        # What was refused for want of room is asked, once there is some.
        client.send(query(f"n{ASKED - 1}.example.com."))
        assert dns.message.from_wire(client.recv(65535)).rcode() == dns.rcode.SERVFAIL


def heard(upstream: socket.socket) -> Iterator[dns.message.Message]:
    """What has come to a silent upstream, probes left out."""
    upstream.setblocking(False)
    with suppress(BlockingIOError):
        while True:
            message = dns.message.from_wire(upstream.recv(65535))
            if message.question[0].name != dns.name.root:
                yield message


def test_equal_questions_of_many_clients_are_few_to_dead_upstreams(tmp_path: Path) -> None:
    with silent_scene(tmp_path) as (server, silent), ExitStack() as stack:
        clients = [stack.enter_context(client_of(server)) for _ in range(EQUAL)]
        for number, client in enumerate(clients):
            name = "cold.example.com."
            client.send(query(name.upper() if number % 2 else name, number=number))
        for number, client in enumerate(clients):
            response = dns.message.from_wire(client.recv(65535))
            assert (response.id, response.rcode()) == (number, dns.rcode.SERVFAIL)
            assert response.question[0].name.to_text().isupper() == bool(number % 2)
        asked = [len(list(heard(each))) for each in silent]
        assert all(asked)
        assert sum(asked) <= 6


def test_as_many_files_are_opened_as_the_machine_allows(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    try:
        with scene(tmp_path) as server:
            allowed, _ = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)
            assert allowed == (1 << 16 if hard == resource.RLIM_INFINITY else min(hard, 1 << 16))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
