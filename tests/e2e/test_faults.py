"""Faults of transport, EDNS and parsing that have hurt users of other servers, each tried on a process of ours."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import dns.flags
import dns.message
import dns.rcode
import pytest

from tests.e2e.wires import (
    WEB,
    connect,
    framed,
    over_udp,
    port_free_everywhere,
    query,
    rest,
    send,
    wait_until,
)
from tests.support.footprint import footprint
from tests.support.process import PATIENCE_SECONDS, Running, running

CLUSTER = Path(__file__).parent.parent / "conformance" / "cluster.yaml"
BIG = "big.big.svc.cluster.local."
WEB_QUESTION = bytes.fromhex("037765620473686f700373766307636c7573746572056c6f63616c0000010001")
STALLED = 300


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("faults") / "log"


@pytest.fixture(scope="module")
def server(log: Path) -> Iterator[Running]:
    port = port_free_everywhere()
    arguments = ["serve", "--manifests", str(CLUSTER), "--listen", "0.0.0.0", "--listen", "::", "--port", str(port)]
    with running(arguments, port, log) as process:
        yield process


@pytest.fixture(autouse=True)
def nothing_is_logged(server: Running, log: Path) -> Iterator[None]:
    before = log.read_text()
    yield
    assert log.read_text() == before
    assert server.ask(WEB).answer


@pytest.mark.parametrize("name", [WEB, "nothing.shop.svc.cluster.local.", BIG])
@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2", "127.1.2.3", "::1", "::ffff:127.0.0.2"])
def test_a_reply_comes_from_the_address_that_was_asked(address: str, name: str, server: Running) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as client:
        client.settimeout(PATIENCE_SECONDS)
        for number in (1, 2):  # worked out, and found again
            client.sendto(query(name, number=number), (address, server.port))
            octets, peer = client.recvfrom(65535)
            assert peer[:2] == (address, server.port)
            assert dns.message.from_wire(octets).id == number


def test_a_pair_of_queries_from_one_port_gets_both_replies(server: Running) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(PATIENCE_SECONDS)
        client.connect((server.address, server.port))
        for number in range(1, 1000, 2):
            pair = {number: "A", number + 1: "AAAA"}
            for each, rdtype in pair.items():
                client.send(query(rdtype=rdtype, number=each))
            replies = [dns.message.from_wire(client.recv(65535)) for _ in pair]
            assert {reply.id: reply.question[0].rdtype.name for reply in replies} == pair


def test_queries_with_one_id_get_both_replies(server: Running) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(PATIENCE_SECONDS)
        client.connect((server.address, server.port))
        client.send(query(rdtype="A", number=7))
        client.send(query(rdtype="AAAA", number=7))
        replies = [dns.message.from_wire(client.recv(65535)) for _ in range(2)]
        assert {reply.question[0].rdtype.name for reply in replies} == {"A", "AAAA"}


@pytest.mark.parametrize("count", [1, 2, 3, 500])
def test_all_queries_of_one_segment_are_answered_though_the_client_sends_no_more(count: int, server: Running) -> None:
    with connect(server) as client:
        send(
            client,
            framed(*(query(rdtype=("A", "AAAA")[number % 2], number=number) for number in range(count))),
            is_last=True,
        )
        assert sorted(dns.message.from_wire(octets).id for octets in rest(client)) == list(range(count))


@pytest.mark.parametrize("octets", [b"", b"\0", b"\0\0", b"\xff\xff", b"\0\x10half", b"GET / HTTP/1.1\r\n\r\n"])
@pytest.mark.parametrize("leaves", ["half", "whole", "reset"])
def test_who_sends_an_octet_and_leaves_is_let_go_quietly(octets: bytes, leaves: str, server: Running) -> None:
    files = footprint(server.process.pid).files
    with connect(server) as client:
        send(client, octets, is_last=leaves == "half")
        if leaves == "half":
            assert rest(client) == []
        elif leaves == "reset":
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    wait_until(lambda: footprint(server.process.pid).files <= files)


@pytest.mark.parametrize("octets", [b"\0\0", b"\xff\xff"])
def test_who_sends_no_message_and_stays_is_closed(octets: bytes, server: Running) -> None:
    with connect(server) as client:
        client.sendall(octets)
        assert rest(client) == []


@pytest.mark.parametrize("size", [512, 1200, 4096])
def test_the_edns_size_does_not_count_over_tcp(size: int, server: Running) -> None:
    asked = dns.message.make_query(BIG, "A", use_edns=0, payload=size)
    with connect(server) as client:
        send(client, framed(asked.to_wire()), is_last=True)
        (octets,) = rest(client)
    assert len(octets) > 1232
    response = dns.message.from_wire(octets)
    assert not response.flags & dns.flags.TC
    assert sum(len(rrset) for rrset in response.answer) == 120


@pytest.mark.parametrize(("name", "is_cut"), [(WEB, False), (BIG, True)])
def test_who_sends_no_opt_gets_none_and_512_octets_at_most(name: str, is_cut: bool, server: Running) -> None:
    octets = over_udp(server, query(name))
    response = dns.message.from_wire(octets)
    assert len(octets) <= 512
    assert response.edns == -1
    assert bool(response.flags & dns.flags.TC) == is_cut
    assert response.answer


OPTIONS = [
    pytest.param("00004abc", "00640004010203040" + "00a00080102030405060708", id="unknown, cookie, Z bits"),
    pytest.param("00000000", "000b0000", id="keepalive over UDP"),
    pytest.param("00000000", "000b0002000a", id="keepalive with a time"),
    pytest.param("00008000", "0003000474657374", id="NSID"),
    pytest.param("00000000", "000800070001180" + "00a0000", id="client subnet"),
    pytest.param("00000000", "000c0008" + "00" * 8, id="padding"),
]


@pytest.mark.parametrize(("ttl", "options"), OPTIONS)
def test_options_are_ignored_and_never_echoed(ttl: str, options: str, server: Running) -> None:
    response = dns.message.from_wire(over_udp(server, with_opt(ttl, options)))
    assert response.rcode() == dns.rcode.NOERROR
    assert response.answer
    assert response.edns == 0
    assert not response.ednsflags & 0x7FFF
    assert response.options == ()


def test_another_edns_version_is_refused_with_the_question(server: Running) -> None:
    response = dns.message.from_wire(over_udp(server, with_opt("00010000", "")))
    assert response.rcode() == dns.rcode.BADVERS
    assert [each.name.to_text() for each in response.question] == [WEB]
    assert response.edns == 0
    assert not response.answer


def with_opt(ttl: str, options: str) -> bytes:
    """A query for web's address with an OPT of this TTL field and these options, in hexadecimal."""
    rdata = bytes.fromhex(options)
    header = struct.pack("!6H", 1, 0x0100, 1, 0, 0, 1)
    return header + WEB_QUESTION + bytes.fromhex("00002904d0" + ttl) + struct.pack("!H", len(rdata)) + rdata


def chain_of_pointers() -> bytes:
    """A record of 400 pointers, each to the one before, and thousands of records whose owner is the last of them."""
    message = bytearray(struct.pack("!6H", 1, 0x0100, 1, 4937, 0, 0) + b"\1a\0\0\1\0\1")
    message += b"\0" + struct.pack("!HHIH", 65280, 1, 0, 800)
    target = 12
    for _ in range(400):
        at = len(message)
        message += struct.pack("!H", 0xC000 | target)
        target = at
    for _ in range(4936):
        message += struct.pack("!HHHIH", 0xC000 | target, 65280, 1, 0, 1) + b"x"
    return bytes(message)


def long_names() -> bytes:
    """127 labels of one octet, referred to thousands of times."""
    name = b"\1a" * 127 + b"\0"
    message = struct.pack("!6H", 1, 0x0100, 1, 4979, 0, 0) + name + b"\0\1\0\1"
    return message + (b"\xc0\x0c" + struct.pack("!HHIH", 65280, 1, 0, 1) + b"x") * 4979


COSTLY = {
    "a chain of pointers": chain_of_pointers(),
    "a long name, often": long_names(),
    "counts without records": struct.pack("!6H", 1, 0x0100, 1, 65535, 65535, 65535) + WEB_QUESTION,
}


@pytest.mark.parametrize("message", COSTLY.values(), ids=COSTLY)
def test_no_message_costs_seconds(message: bytes, server: Running) -> None:
    assert len(message) <= 65535
    before = footprint(server.process.pid).cpu_seconds
    with ExitStack() as stack:
        clients = [stack.enter_context(connect(server)) for _ in range(21)]
        for client in clients:
            send(client, framed(message), is_last=True)
        assert server.ask(WEB).answer
        for client in clients:
            (octets,) = rest(client)
            assert dns.message.from_wire(octets).rcode() == dns.rcode.FORMERR
    # A parser that walks each chain takes four seconds for one such message.
    assert footprint(server.process.pid).cpu_seconds - before < 4


UNSOUND = {
    "label of type 01": b"\x41" + b"a" * 65 + b"\0",
    "label of type 10": b"\x81" + b"a" * 65 + b"\0",
    "name of 256 octets": (b"\x3f" + b"a" * 63) * 3 + b"\x3e" + b"a" * 62 + b"\0",
    "name of 300 octets": (b"\x3f" + b"a" * 63) * 4 + b"\x2a" + b"a" * 42 + b"\0",
    "name without an end": b"\x3f" + b"a" * 63,
    "pointer to itself": b"\xc0\x0c",
}


@pytest.mark.parametrize("name", UNSOUND.values(), ids=UNSOUND)
def test_a_name_that_is_none_is_a_format_error(name: bytes, server: Running) -> None:
    reply = over_udp(server, struct.pack("!6H", 1, 0x0100, 1, 0, 0, 0) + name + b"\0\1\0\1")
    assert dns.message.from_wire(reply).rcode() == dns.rcode.FORMERR


@pytest.mark.parametrize("octets", [b"\0", b"\xff\xff"], ids=["one octet", "a length alone"])
def test_hundreds_that_stall_hold_nobody_up_and_are_closed(octets: bytes, server: Running) -> None:
    before = footprint(server.process.pid)
    with ExitStack() as stack:
        stalled = [stack.enter_context(connect(server, "127.0.0.9")) for _ in range(STALLED)]
        for client in stalled:
            send(client, octets)
        for _ in range(10):
            with connect(server, "127.0.0.10") as client:
                send(client, framed(query()), is_last=True)
                assert len(rest(client)) == 1
            assert server.ask(WEB).answer
            for each in stalled:
                send(each, b"\xff")
        assert footprint(server.process.pid).memory_kib - before.memory_kib < 64 * STALLED
        for client in stalled:
            assert rest(client) == []
    wait_until(lambda: footprint(server.process.pid).files <= before.files)


def test_who_never_reads_is_closed_and_holds_nobody_up(server: Running) -> None:
    before = footprint(server.process.pid)
    stream = framed(*[query(BIG)] * 5000)  # for which ten megabytes of responses are due
    with ExitStack() as stack:
        for _ in range(20):
            client = stack.enter_context(socket.socket())
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect((server.address, server.port))
            client.setblocking(False)
            with suppress(BlockingIOError):
                client.send(stream)
        assert server.ask(WEB).answer
        assert server.ask(WEB, tcp=True).answer
        wait_until(lambda: footprint(server.process.pid).files <= before.files)
        assert footprint(server.process.pid).memory_kib - before.memory_kib < 16 << 10
