from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from kubedns.dns.names import Name, parse_name
from kubedns.dns.notify import read_notify, write_acknowledgement
from kubedns.upstream import notifying
from kubedns.upstream.exchange import UpstreamAddress
from kubedns.upstream.notifying import Notifier
from tests.transport.fakes import run, until

A, B = parse_name("a.test."), parse_name("b.test.")


class Hearer(asyncio.DatagramProtocol):
    """Hears of changes, and answers all of them but the first ``deaf`` ones; junk comes before each answer."""

    def __init__(self, deaf: int = 0, rcode: int = 0) -> None:
        self.deaf = deaf
        self.rcode = rcode
        self.heard: list[Name] = []
        self.ports: set[int] = set()

    def connection_made(self, transport: asyncio.DatagramTransport) -> None:  # type: ignore[override]
        self._transport = transport

    def datagram_received(self, octets: bytes, peer: tuple[str, int]) -> None:
        notify = read_notify(octets)
        assert notify is not None
        self.heard.append(notify.zone)
        self.ports.add(peer[1])
        if len(self.heard) > self.deaf:
            answer = write_acknowledgement(notify)
            self._transport.sendto(b"\0\0junk", peer)
            self._transport.sendto(answer[:3] + bytes((self.rcode,)) + answer[4:], peer)


@asynccontextmanager
async def hearing(hearer: Hearer) -> AsyncIterator[UpstreamAddress]:
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(lambda: hearer, ("127.0.0.1", 0))
    try:
        yield UpstreamAddress("127.0.0.1", transport.get_extra_info("sockname")[1])
    finally:
        transport.close()


@pytest.fixture(autouse=True)
def _no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notifying, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(notifying, "_WAITS_SECONDS", (0.2, 0.2, 0.2))


def test_peers_hear_of_what_there_is_and_of_each_change_once() -> None:
    async def play() -> None:
        hearer = Hearer()
        looks = []
        async with hearing(hearer) as peer:
            serials = {A: 1, B: 1}

            def look() -> list[tuple[Name, int, list[UpstreamAddress]]]:
                looks.append(1)
                return [(zone, serial, [peer]) for zone, serial in serials.items()]

            notifier = Notifier(look)
            notifier.start()
            await until(lambda: sorted(map(str, hearer.heard)) == ["a.test.", "b.test."])
            serials[A] = 2
            await until(lambda: len(hearer.heard) == 3)
            seen = len(looks)
            await until(lambda: len(looks) > seen + 50)
            assert hearer.heard[2:] == [A]
            notifier.close()
            assert len(hearer.ports) > 1

    run(play)


@pytest.mark.parametrize(("deaf", "tries"), [(0, 1), (2, 3), (9, 3)])
def test_who_does_not_answer_is_told_again_so_often(deaf: int, tries: int, caplog: pytest.LogCaptureFixture) -> None:
    async def play() -> None:
        hearer = Hearer(deaf)
        async with hearing(hearer) as peer:
            notifier = Notifier(lambda: [(A, 1, [peer])])
            notifier.start()
            await until(lambda: bool(notifier._telling) and all(each.done() for each in notifier._telling.values()))
            assert len(hearer.heard) == tries
            notifier.close()

    run(play)
    assert [record.levelno for record in caplog.records] == ([logging.WARNING] if deaf == 9 else [])


def test_a_refusal_is_told_once_and_so_is_its_end(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)

    async def play() -> None:
        hearer = Hearer(rcode=5)
        async with hearing(hearer) as peer:
            serial = 1
            notifier = Notifier(lambda: [(A, serial, [peer])])
            notifier.start()
            for serial in (1, 2, 3):
                await until(lambda: notifier._outcomes != {} and len(hearer.heard) == serial)  # noqa: B023
                hearer.rcode = 5 if serial < 2 else 0
            await until(lambda: set(notifier._outcomes.values()) == {""})
            notifier.close()

    run(play)
    assert ["REFUSED" in record.message for record in caplog.records] == [True, False]


def test_a_peer_that_cannot_be_reached_disturbs_nobody() -> None:
    async def play() -> None:
        hearer = Hearer()
        async with hearing(Hearer()) as gone:
            pass
        async with hearing(hearer) as peer:
            notifier = Notifier(lambda: [(A, 1, [gone, peer])])
            notifier.start()
            await until(lambda: hearer.heard == [A])
            await until(lambda: len(notifier._outcomes) == 2)
            notifier.close()

    run(play)
