"""Questions over UDP: nobody guesses where they come from, and nothing but their replies is believed."""

from __future__ import annotations

import asyncio
import socket
from itertools import pairwise
from random import Random

import pytest

from kubedns.dns.names import parse_name
from kubedns.dns.question import Question
from kubedns.dns.rdata import RecordType
from kubedns.dns.reply import Reply, question_octets
from kubedns.upstream.datagrams import Datagrams
from kubedns.upstream.exchange import Asked, UpstreamAddress, UpstreamError
from kubedns.upstream.pool import Pool, PoolLimits
from tests.support.addresses import link_local_hosts
from tests.support.process import PATIENCE_SECONDS
from tests.upstream.forger import FORGERIES, TRUE, Forger, answer, ask_through

QUERIES = 600
UNDER_WAY = 500
ASKED = Asked(question_octets(Question(parse_name("www.test."), RecordType.A)))


def test_ports_and_identifiers_are_anybodys_guess() -> None:
    forger = Forger(0, Random(1))
    asyncio.run(ask_through(forger, QUERIES, Random(2)))
    ports = [port for port, _ in forger.seen]
    idents = [ident for _, ident in forger.seen]
    # Of 28,000 ports or more, and 65,536 identifiers, six hundred picks hit few twice.
    assert len(set(ports)) > QUERIES * 0.95
    assert len(set(idents)) > QUERIES * 0.95
    for series in (ports, idents):
        steps = [later - earlier for earlier, later in pairwise(series)]
        assert sum(abs(step) <= 4 for step in steps) < QUERIES * 0.02
        assert QUERIES * 0.35 < sum(step > 0 for step in steps) < QUERIES * 0.65


def test_questions_under_way_share_no_port() -> None:
    """Where two sockets share one, as SO_REUSEADDR lets them, replies go to whichever came last."""

    async def run() -> list[int]:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
            silent.bind(("127.0.0.1", 0))
            silent.setblocking(False)
            datagrams = Datagrams(UpstreamAddress(*silent.getsockname()))
            asking: list[asyncio.Task[Reply | None]] = []
            ports: list[int] = []
            loop = asyncio.get_running_loop()
            async with asyncio.timeout(PATIENCE_SECONDS):
                while len(ports) < UNDER_WAY:
                    asking.append(asyncio.create_task(datagrams.ask(ASKED)))
                    ports.append((await loop.sock_recvfrom(silent, 512))[1][1])
            for task in asking:
                task.cancel()
            await asyncio.gather(*asking, return_exceptions=True)
            return ports

    assert len(set(asyncio.run(run()))) == UNDER_WAY


@pytest.mark.parametrize("forgery", FORGERIES, ids=lambda each: each.__name__.strip("_"))
def test_no_kind_of_forged_reply_is_believed(forgery: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.upstream.forger.FORGERIES", (forgery,))
    assert asyncio.run(ask_through(Forger(3, Random(1)), 40, Random(2))) == [TRUE] * 40


def test_of_twenty_thousand_forged_replies_none_is_believed() -> None:
    forger = Forger(19, Random(3))
    assert asyncio.run(ask_through(forger, 1000, Random(4))) == [TRUE] * 1000
    assert forger.forged == 20_000


def test_after_twenty_it_is_asked_another_way() -> None:
    assert asyncio.run(ask_through(Forger(20, Random(5)), 40, Random(6))) == [""] * 40


@pytest.mark.parametrize("host", ["fe80::1%no-such-link", "fe80::1%4000000"])
def test_an_interface_that_is_not_there_is_an_error_at_once(host: str) -> None:
    with pytest.raises(OSError, match=r"no interface with this name|unreachable|No such device"):
        asyncio.run(Datagrams(UpstreamAddress(host)).ask(ASKED))
    with pytest.raises(UpstreamError):
        asyncio.run(Pool(UpstreamAddress(host), None, PoolLimits(), lambda _: None).ask(ASKED))


@pytest.mark.skipif(not link_local_hosts(), reason="the machine has no link-local address")
def test_a_link_local_address_is_asked_over_its_interface() -> None:
    async def run(host: str) -> None:
        link = socket.if_nametoindex(host.partition("%")[2])
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as server:
            server.bind((host.partition("%")[0], 0, 0, link))
            server.setblocking(False)
            asking = asyncio.create_task(Datagrams(UpstreamAddress(host, server.getsockname()[1])).ask(ASKED))
            octets, peer = await asyncio.get_running_loop().sock_recvfrom(server, 512)
            server.sendto(answer(octets[:2], ASKED.question, TRUE), peer)
            assert (await asking) is not None

    for host in link_local_hosts():
        asyncio.run(asyncio.wait_for(run(host), PATIENCE_SECONDS))
