from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from kubedns.dns.question import Transport
from kubedns.observe.metrics import TransportMetrics
from kubedns.transport import udp
from kubedns.transport.sockets import packed
from kubedns.transport.udp import UdpListener
from tests.transport.fakes import FakeResponder, UdpClient, metrics, on_free_port, run, until

HOSTS = pytest.mark.parametrize(
    ("bound", "asked"),
    [("127.0.0.1", "127.0.0.1"), ("::1", "::1"), ("0.0.0.0", "127.0.0.2"), ("0.0.0.0", "127.1.2.3"), ("::", "::1")],
)


@asynccontextmanager
async def listening(
    responder: FakeResponder, host: str = "127.0.0.1", counters: TransportMetrics | None = None
) -> AsyncIterator[UdpListener]:
    listener = on_free_port(host, lambda address: UdpListener(address, responder, counters or metrics()))
    await listener.start()
    try:
        yield listener
    finally:
        listener.close()


@HOSTS
def test_every_kind_of_message_gets_its_reaction_from_the_address_asked(bound: str, asked: str) -> None:
    async def scene() -> None:
        responder = FakeResponder()
        responder.keep(b"kept", b"first", b"second")
        async with listening(responder, bound) as listener:
            with UdpClient(asked, listener.address.port) as client:
                for message, reply in [
                    (b"01kept", b"01first"),
                    (b"02kept", b"02second"),
                    (b"03made", b"03R:made"),
                    (b"04nap", b"04R:nap"),
                ]:
                    assert await client.ask(message) == reply
                client.send(b"", b"0", b"05", b"06silent", b"07panic", b"08nap panic", b"09huge", b"10")
                assert await client.ask(b"11kept") == b"11second"
                await until(lambda: len(responder.resolved) == 10)
        assert responder.hits == 3

    run(scene)


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_a_slow_query_holds_up_nobody(host: str) -> None:
    async def scene() -> None:
        responder = FakeResponder()
        async with listening(responder, host) as listener:
            with UdpClient("127.0.0.3" if host == "0.0.0.0" else host, listener.address.port) as client:
                client.send(b"01slow", b"02made")
                assert await client.receive() == b"02R:made"
                responder.release.set()
                assert await client.receive() == b"01R:slow"

    run(scene)


def test_two_queries_at_once_from_one_port_are_both_answered_even_with_one_id() -> None:
    async def scene() -> None:
        responder = FakeResponder()
        responder.keep(b"A", b"address")
        async with listening(responder) as listener:
            with UdpClient("127.0.0.1", listener.address.port) as client:
                for _ in range(200):
                    client.send(b"07A", b"07AAAA")
                    assert {await client.receive(), await client.receive()} == {b"07address", b"07R:AAAA"}

    run(scene)


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
@pytest.mark.parametrize("count", [1, 15, 16, 17, 63, 64, 65, 100])
def test_of_many_queries_at_once_each_is_answered_once(host: str, count: int) -> None:
    async def scene() -> None:
        async with listening(FakeResponder(), host) as listener:
            with UdpClient("127.0.0.1", listener.address.port) as client:
                client.send(*[b"%02dmade" % (number % 100) for number in range(count)])
                received = sorted([await client.receive() for _ in range(count)])
                assert received == [b"%02dR:made" % number for number in range(count)]
                assert await client.ask(b"xxlast") == b"xxR:last"

    run(scene)


@pytest.mark.parametrize("octets", [512, 4095, 4096, 4097, 8192, 60_000])
@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_of_a_long_message_the_beginning_is_resolved(octets: int, host: str) -> None:
    async def scene() -> None:
        responder = FakeResponder()
        async with listening(responder, host) as listener:
            with UdpClient("127.0.0.1", listener.address.port) as client:
                message = b"01" + b"x" * (octets - 2)
                assert await client.ask(message) == b"01R:" + b"x" * 100
        assert responder.resolved == [message[:4096]]

    run(scene)


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_what_the_system_does_not_send_is_counted_and_dropped(host: str) -> None:
    async def scene() -> None:
        responder, counters = FakeResponder(), metrics()
        responder.keep(b"kept", bytes(65_534))
        async with listening(responder, host, counters) as listener:
            with UdpClient("127.0.0.1", listener.address.port) as client:
                client.send(b"01kept", b"02huge", b"03nap huge")
                assert await client.ask(b"04made") == b"04R:made"
                await until(lambda: counters.errors == {"EMSGSIZE": 3})

    run(scene)


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_an_error_in_the_program_is_counted_and_ends_nothing(host: str, caplog: pytest.LogCaptureFixture) -> None:
    async def scene() -> None:
        responder, counters = FakeResponder(), metrics()
        responder.keep(b"broken")
        async with listening(responder, host, counters) as listener:
            with UdpClient("127.0.0.1", listener.address.port) as client:
                client.send(b"01broken", b"02panic", b"03nap panic", b"04panic", b"05broken")
                assert await client.ask(b"06made") == b"06R:made"
                await until(lambda: counters.panics == 5)

    with caplog.at_level(logging.ERROR):
        run(scene)
    assert len(caplog.records) == 2  # one where finished answers are served, one in resolve()


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
@pytest.mark.parametrize("is_sensitive", [True, False])
def test_the_look_up_is_asked_for_each_client_only_where_that_matters(host: str, is_sensitive: bool) -> None:
    async def scene() -> None:
        responder = FakeResponder(is_client_sensitive=is_sensitive)
        responder.keep(b"kept", b"answer")
        async with listening(responder, host) as listener:
            with UdpClient("127.0.0.1", listener.address.port) as client:
                assert await client.ask(b"01kept") == b"01answer"
        assert set(responder.finds) == {packed("127.0.0.1") if is_sensitive else b""}
        assert responder.ticks

    run(scene)


def test_more_than_a_batch_is_answered() -> None:
    async def scene() -> None:
        responder = FakeResponder()
        responder.keep(b"kept", b"answer")
        listener = on_free_port("127.0.0.1", lambda address: UdpListener(address, responder, metrics()))
        with UdpClient("127.0.0.1", listener.address.port) as client:
            client.send(*(number.to_bytes(2) + b"kept" for number in range(150)))
            await listener.start()
            assert [await client.receive() for _ in range(150)] == [n.to_bytes(2) + b"answer" for n in range(150)]
        await listener.stop()

    run(scene)


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_a_stop_answers_what_has_come(host: str) -> None:
    async def scene() -> None:
        responder = FakeResponder()
        responder.keep(b"kept", b"answer")
        async with listening(responder, host) as listener:
            with UdpClient("127.0.0.1", listener.address.port) as client:
                client.send(b"ZZslow")
                await until(lambda: responder.resolved == [b"ZZslow"])
                client.send(*(number.to_bytes(2) + b"kept" for number in range(150)))
                stopping = asyncio.ensure_future(listener.stop())
                assert [await client.receive() for _ in range(150)] == [n.to_bytes(2) + b"answer" for n in range(150)]
                assert not stopping.done()
                responder.release.set()
                assert await client.receive() == b"ZZR:slow"
                await stopping

    run(scene)


def test_a_stop_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(udp, "_LAST_WAIT_SECONDS", 0.01)

    async def scene() -> None:
        responder = FakeResponder()
        async with listening(responder) as listener:
            with UdpClient("127.0.0.1", listener.address.port) as client:
                client.send(b"01slow")
                await until(lambda: responder.resolved == [b"01slow"])
            await listener.stop()
            await listener.stop()

    run(scene)


def test_a_listener_that_was_never_started_can_be_stopped() -> None:
    async def scene() -> None:
        for _ in range(2):
            listener = on_free_port("127.0.0.1", lambda address: UdpListener(address, FakeResponder(), metrics()))
            await listener.stop()
            listener.close()

    run(scene)


@HOSTS
def test_a_client_is_told_with_its_port_and_the_address_it_asked(bound: str, asked: str) -> None:
    async def scene() -> None:
        responder = FakeResponder()
        async with listening(responder, bound) as listener:
            with UdpClient(asked, listener.address.port) as client:
                await client.ask(b"01made")
                port = client._socket.getsockname()[1]
        (told,) = responder.clients
        assert (told.port, told.transport, told.local) == (port, Transport.UDP, asked)

    run(scene)
