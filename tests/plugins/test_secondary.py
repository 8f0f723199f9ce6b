from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from kubedns.dns.answer import Answer, Key, Rcode
from kubedns.dns.edns import ErrorCode
from kubedns.dns.names import parse_name
from kubedns.observe.metrics import Cell
from kubedns.plugins import secondary_copy
from kubedns.plugins.plugin import Notifiable, Transferable
from kubedns.plugins.secondary import Secondary
from kubedns.plugins.secondary_copy import Copy
from kubedns.upstream.exchange import UpstreamAddress
from tests.plugins.asking import ask, query_for
from tests.support.process import free_port
from tests.transport.fakes import run, until
from tests.upstream.primaries import Primary, soa

ORIGIN = parse_name("a.test.")
LOOPBACK, ELSEWHERE = bytes((127, 0, 0, 1)), bytes((127, 0, 0, 2))
REST = Answer(rcode=Rcode.REFUSED, plugin="rest")


def primary_of(serial: int, address: str = "", **times: int) -> Primary:
    """A primary of a zone in which web has ``address``."""
    line = soa(serial, **times)
    return Primary(line, [line, f"web.a.test. 60 IN A {address or f'192.0.2.{serial}'}", line])


def become(primary: Primary, other: Primary) -> None:
    """Have another zone, on the same port."""
    primary.soa, primary.messages = other.soa, other.messages


@pytest.fixture(autouse=True)
def _no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secondary_copy, "_START_SECONDS", 0.0)
    monkeypatch.setattr(secondary_copy, "_LEAST_SECONDS", 0.05)
    monkeypatch.setattr(secondary_copy, "_FIRST_RETRY_SECONDS", 0.05)


class Scene:
    def __init__(self, primaries: Sequence[UpstreamAddress], fallthrough: bool = False) -> None:
        self.changes: list[Key] = []
        self.failures = Cell()
        self.copy = Copy(ORIGIN, primaries, self.changes.extend, self.failures)
        self.plugin = Secondary([self.copy], (ORIGIN,) if fallthrough else ())

    def ask(self, name: str = "web.a.test.", rdtype: str = "A") -> Answer:
        return ask(self.plugin, query_for(name, rdtype), REST)

    def web(self) -> str:
        answer = self.ask()
        return answer.rcode.name if answer.rcode else ", ".join(str(each) for each in answer.answer[0].rdatas)

    def error(self) -> int | None:
        error = self.ask().extended_error
        return None if error is None else error.code

    async def until_web_is(self, text: str) -> None:
        await until(lambda: self.web() == text)


@asynccontextmanager
async def keeping(*primaries: UpstreamAddress, fallthrough: bool = False) -> AsyncIterator[Scene]:
    scene = Scene(primaries, fallthrough)
    scene.plugin.start([])
    try:
        yield scene
    finally:
        scene.plugin.close()


def test_a_zone_is_taken_and_answered_from() -> None:
    async def play() -> None:
        async with primary_of(1).served() as address:
            assert Scene([address]).error() == ErrorCode.NOT_READY
            async with keeping(address) as scene:
                await scene.until_web_is("192.0.2.1")
                assert scene.ask().depends_on == {scene.copy.key}
                assert scene.changes == [scene.copy.key]
                assert scene.ask("nosuch.a.test.").rcode == Rcode.NXDOMAIN
                assert scene.ask("a.test.", "SOA").answer[0] == scene.plugin.soa(ORIGIN)
                assert scene.ask("web.b.test.") is REST
            async with keeping(address, fallthrough=True) as scene:
                await scene.until_web_is("192.0.2.1")
                assert scene.ask("nosuch.a.test.").plugin == "rest"

    run(play)


def test_a_change_is_taken_when_a_primary_says_so_and_nobody_else() -> None:
    async def play() -> None:
        primary = primary_of(1)
        async with primary.served() as address, keeping(address) as scene:
            await scene.until_web_is("192.0.2.1")
            become(primary, primary_of(2))
            assert not scene.plugin.notified(ORIGIN, ELSEWHERE)
            assert not scene.plugin.notified(parse_name("b.a.test."), LOOPBACK)
            asked = len(primary.asked)
            assert scene.plugin.notified(parse_name("A.test."), LOOPBACK)
            await scene.until_web_is("192.0.2.2")
            assert primary.asked[asked:] == ["SOA", "AXFR"]

    run(play)


def test_a_change_is_taken_when_the_refresh_time_is_over() -> None:
    async def play() -> None:
        primary = primary_of(1, refresh=0)
        async with primary.served() as address, keeping(address) as scene:
            await scene.until_web_is("192.0.2.1")
            become(primary, primary_of(2, refresh=0))
            await scene.until_web_is("192.0.2.2")

    run(play)


@pytest.mark.parametrize("serial", [5, 4])
def test_what_is_not_newer_is_not_taken(serial: int) -> None:
    async def play() -> None:
        primary = primary_of(5, refresh=0)
        async with primary.served() as address, keeping(address) as scene:
            await scene.until_web_is("192.0.2.5")
            become(primary, primary_of(serial, "192.0.2.99", refresh=0))
            asked = len(primary.asked)
            await until(lambda: len(primary.asked) > asked + 3)
            assert scene.web() == "192.0.2.5"
            assert primary.asked.count("AXFR") == 1

    run(play)


ALIAS = "web.a.test. 60 IN CNAME x.a.test."


def test_what_is_no_zone_leaves_the_last_good_one_and_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)

    async def play() -> None:
        primary = primary_of(1, refresh=0, retry=0)
        async with primary.served() as address, keeping(address) as scene:
            await scene.until_web_is("192.0.2.1")
            line = soa(2, refresh=0, retry=0)
            become(primary, Primary(line, [line, "web.a.test. 60 IN A 192.0.2.2", ALIAS, line]))
            await until(lambda: primary.asked.count("AXFR") > 5)
            assert scene.web() == "192.0.2.1"
            assert scene.failures.value > 1
            become(primary, primary_of(3))
            await scene.until_web_is("192.0.2.3")
            await until(lambda: "can be had again" in caplog.messages[-1])

    run(play)
    levels = [record.levelno for record in caplog.records]
    assert levels == [logging.INFO, logging.ERROR, logging.INFO, logging.INFO]


def test_the_next_primary_is_asked_where_one_is_gone_or_older() -> None:
    async def play() -> None:
        gone = UpstreamAddress("127.0.0.1", free_port())
        async with primary_of(1, refresh=0).served() as old, primary_of(2).served() as new:
            async with keeping(gone, new) as scene:
                await scene.until_web_is("192.0.2.2")
            async with keeping(old, new) as scene:
                await scene.until_web_is("192.0.2.2")

    run(play)


def test_a_zone_that_nobody_has_had_for_too_long_is_given_to_nobody() -> None:
    async def play() -> None:
        primary = primary_of(1, refresh=0, retry=0, expire=0)
        async with primary.served() as address:
            scene = Scene([address])
            scene.plugin.start([])
            await scene.until_web_is("192.0.2.1")
        await until(lambda: scene.error() == ErrorCode.INVALID_DATA)
        assert scene.plugin.soa(ORIGIN) is None
        assert scene.changes[-1] == scene.copy.key
        async with primary.served():  # the same zone as before is as good as a new one
            await scene.until_web_is("192.0.2.1")
        scene.plugin.close()

    run(play)


def test_who_takes_over_begins_with_what_there_is() -> None:
    async def play() -> None:
        async with primary_of(1, expire=0, refresh=0, retry=0).served() as address, keeping(address) as scene:
            await scene.until_web_is("192.0.2.1")
            other = Scene([address])
            other.copy.begin_with(scene.copy)
            assert other.web() == "192.0.2.1"
        other.plugin.start([])
        await until(lambda: other.error() == ErrorCode.INVALID_DATA)
        other.plugin.close()

    run(play)


def test_a_first_zone_is_had_once_its_primary_is_there() -> None:
    async def play() -> None:
        primary = primary_of(1)
        primary.address = UpstreamAddress("127.0.0.1", free_port())
        async with keeping(primary.address) as scene:
            await until(lambda: scene.copy._fault != "")
            async with primary.served():
                await scene.until_web_is("192.0.2.1")

    run(play)


def test_it_can_be_told_and_be_given() -> None:
    plugin = Scene([]).plugin
    assert isinstance(plugin, Notifiable)
    assert isinstance(plugin, Transferable)
    assert list(plugin.apexes()) == [ORIGIN]
