from __future__ import annotations

import pytest

from kubedns.dns.names import parse_name
from kubedns.transport.framing import framed
from kubedns.upstream import inbound
from kubedns.upstream.exchange import UpstreamAddress, UpstreamError
from kubedns.upstream.inbound import fetch
from tests.support.process import free_port
from tests.transport.fakes import run
from tests.upstream.primaries import Primary, soa

ORIGIN = parse_name("a.test.")
NS, WEB, DB, GLUE = (
    "a.test. 60 IN NS ns.a.test.",
    "web.a.test. 60 IN A 192.0.2.1",
    'DB.a.test. 60 IN TXT "x"',
    "ns.b.test. 60 IN A 192.0.2.9",
)


async def lines_from(primary: Primary, known: int = 0) -> list[str] | None:
    async with primary.served() as address:
        rrsets = await fetch(address, ORIGIN, lambda serial: serial != known)
    return None if rrsets is None else [line for rrset in rrsets for line in rrset.lines()]


WHOLE = [
    [[soa(7), NS, WEB, DB, soa(7)]],
    [[soa(7)], [NS], [WEB, DB], [soa(7)]],
    [[soa(7), NS], [], [WEB, GLUE, DB, soa(7)]],
]


@pytest.mark.parametrize("messages", WHOLE)
def test_a_zone_is_had_however_it_is_cut(messages: list[list[str]]) -> None:
    async def play() -> None:
        assert await lines_from(Primary(soa(7), *messages)) == [soa(7), NS, WEB, DB]

    run(play)


def test_a_zone_whose_serial_is_known_is_not_asked_for() -> None:
    async def play() -> None:
        primary = Primary(soa(7))
        assert await lines_from(primary, known=7) is None
        assert primary.asked == ["SOA"]

    run(play)


def test_many_records_of_a_name_come_in_many_messages() -> None:
    async def play() -> None:
        web = [f"web.a.test. 60 IN A 10.0.{at >> 8}.{at & 255}" for at in range(5000)]
        messages = [web[at : at + 1000] for at in range(0, 5000, 1000)]
        assert await lines_from(Primary(soa(7), [soa(7)], *messages, [soa(7)])) == [soa(7), *web]

    run(play)


BAD = [
    (Primary(soa(7), [soa(7), NS], ends=True), "closed before the zone's end"),
    (Primary(soa(7), [soa(7), NS, soa(8)]), "changed while it was given"),
    (Primary(soa(7), [soa(7), NS], [soa(8)]), "changed while it was given"),
    (Primary(soa(7), [NS, soa(7)]), "no zone a.test."),
    (Primary(soa(7), []), "no zone a.test."),
    (Primary("b.test. 60 IN SOA a. b. 1 2 3 4 5"), "no zone a.test."),
    (Primary(soa(7), rcode=5), "it says REFUSED"),
    (Primary(soa(7), [soa(7)], shift=1), "not to what was asked"),
]


@pytest.mark.parametrize(("primary", "why"), BAD)
def test_what_is_no_whole_zone_is_told_with_whose_it_was(primary: Primary, why: str) -> None:
    async def play() -> None:
        with pytest.raises(UpstreamError, match=why) as error:
            await lines_from(primary)
        assert str(error.value).startswith("127.0.0.1:")

    run(play)


RAW = [framed(b"\0" * 11), framed(b"GET / HTTP/1.1\r\n\r\n"), b"\xff\xff" + bytes(70000)]


@pytest.mark.parametrize("raw", RAW)
def test_what_is_no_message_is_no_zone(raw: bytes) -> None:
    async def play() -> None:
        primary = Primary(soa(7))
        primary.raw = raw
        with pytest.raises(UpstreamError):
            await lines_from(primary)

    run(play)


def test_a_zone_without_end_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inbound, "MAX_ZONE_OCTETS", 1 << 20)

    async def play() -> None:
        text = [f'{at}.a.test. 60 IN TXT "{"x" * 200}"' for at in range(200)]
        with pytest.raises(UpstreamError, match="longer than 1 MiB"):
            await lines_from(Primary(soa(7), [soa(7)], *[text] * 40))

    run(play)


def test_a_primary_that_says_nothing_more_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inbound, "_MESSAGE_SECONDS", 0.2)

    async def play() -> None:
        with pytest.raises(UpstreamError, match="too long"):
            await lines_from(Primary(soa(7), [soa(7), NS]))

    run(play)


def test_a_primary_that_is_not_there_is_told() -> None:
    async def play() -> None:
        with pytest.raises(UpstreamError, match=r"127\.0\.0\.1"):
            await fetch(UpstreamAddress("127.0.0.1", free_port()), ORIGIN)

    run(play)
