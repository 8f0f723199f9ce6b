from __future__ import annotations

import errno
import socket
from collections.abc import Callable
from contextlib import ExitStack, suppress

import pytest

from kubedns.errors import ListenError
from kubedns.transport.sockets import ListenAddress, leave, packed, tcp_socket, udp_socket
from tests.support.addresses import link_local_hosts
from tests.support.process import free_port
from tests.transport.fakes import on_free_port

MAKERS = pytest.mark.parametrize("make", [udp_socket, tcp_socket])
Make = Callable[[ListenAddress], socket.socket]


@MAKERS
@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "0.0.0.0", "::1", "::"])
def test_sockets_are_bound_and_never_block(make: Make, host: str) -> None:
    with on_free_port(host, make) as made:
        assert made.getsockname()[0] == host
        assert not made.getblocking()


@MAKERS
def test_every_address_of_both_families_goes_together(make: Make) -> None:
    def make_both(address: ListenAddress) -> tuple[socket.socket, socket.socket]:
        first = make(address)
        try:
            return first, make(ListenAddress("::", address.port))
        except ListenError:
            first.close()
            raise

    for made in on_free_port("0.0.0.0", make_both):
        made.close()


@MAKERS
def test_a_taken_port_is_told(make: Make) -> None:
    with on_free_port("127.0.0.1", make) as holder:
        port = holder.getsockname()[1]
        with pytest.raises(ListenError, match=f"127.0.0.1:{port}.*taken"):
            make(ListenAddress("127.0.0.1", port))


@MAKERS
def test_an_address_is_shared_with_those_alone_who_share_it_too(make: Make) -> None:
    with on_free_port("127.0.0.1", lambda free: make(ListenAddress("127.0.0.1", free.port, is_shared=True))) as holder:
        port = holder.getsockname()[1]
        make(ListenAddress("127.0.0.1", port, is_shared=True)).close()
        with pytest.raises(ListenError, match="taken"):
            make(ListenAddress("127.0.0.1", port))


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0", "::1", "::"])
def test_who_leaves_a_shared_address_gets_nothing_more_and_keeps_what_has_come(host: str) -> None:
    def make_two(free: ListenAddress) -> tuple[socket.socket, socket.socket]:
        shared = ListenAddress(host, free.port, is_shared=True)
        return udp_socket(shared), udp_socket(shared)

    first, second = on_free_port(host, make_two)
    with first, second, ExitStack() as stack:
        port = first.getsockname()[1]
        asked = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
        clients = [stack.enter_context(socket.socket(first.family, socket.SOCK_DGRAM)) for _ in range(100)]
        for client in clients:
            client.sendto(b"before", (asked, port))
        leave(first)
        for client in clients:
            client.sendto(b"after", (asked, port))
        left, stayed = all_from(first), all_from(second)
        assert b"after" not in left
        assert left.count(b"before") + stayed.count(b"before") == stayed.count(b"after") == len(clients)
        assert left


def all_from(made: socket.socket) -> list[bytes]:
    found = []
    with suppress(BlockingIOError):
        while True:
            found.append(made.recv(100))
    return found


@MAKERS
def test_the_address_of_another_machine_is_told(make: Make) -> None:
    with pytest.raises(ListenError, match="no address of this machine"):
        make(ListenAddress("192.0.2.1", free_port()))


@MAKERS
@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.EADDRINUSE, "taken; .*systemd-resolved"),
        (errno.EACCES, "not permitted; .*1024.*CAP_NET_BIND_SERVICE"),
        (errno.EAFNOSUPPORT, "does not speak"),
        (errno.ENOBUFS, "[Nn]o buffer"),
    ],
)
def test_each_refusal_has_its_remedy(make: Make, number: int, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, "no buffer space")

    monkeypatch.setattr(socket.socket, "bind", refuse)
    with pytest.raises(ListenError, match=rf"cannot listen on \[::1\]:53 .*{words}"):
        make(ListenAddress("::1", 53))


@MAKERS
@pytest.mark.parametrize("host", ["fe80::1", "fe80::1%no-such-link"])
def test_a_link_local_address_needs_its_interface(make: Make, host: str) -> None:
    with pytest.raises(ListenError, match=r"^cannot listen on \[fe80::1.*belongs to an interface; write"):
        make(ListenAddress(host, 0))


@MAKERS
@pytest.mark.skipif(not link_local_hosts(), reason="the machine has no link-local address")
def test_a_link_local_address_is_bound_on_its_interface(make: Make) -> None:
    for host in link_local_hosts():
        with make(ListenAddress(host, 0)) as made:
            assert made.getsockname()[3] == socket.if_nametoindex(host.partition("%")[2])


@pytest.mark.parametrize(
    ("host", "octets"),
    [("127.0.0.1", b"\x7f\0\0\1"), ("::1", bytes(15) + b"\1"), ("fe80::1%lo", b"\xfe\x80" + bytes(13) + b"\1")],
)
def test_addresses_are_packed(host: str, octets: bytes) -> None:
    assert packed(host) == octets
