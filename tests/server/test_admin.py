"""The admin endpoint: it tells what its pages say, to programs of this machine, and does nothing else."""

from __future__ import annotations

import asyncio
import itertools
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from http import HTTPStatus

import aiohttp
import pytest

from kubedns.errors import ListenError
from kubedns.observe.pages import HttpAddress
from kubedns.server.admin import STATUS_HEADER, Admin, AdminPage, Parameters, Told
from kubedns.server.build import Settings, build_server
from kubedns.server.server import Server
from tests.corefile.reading import parse
from tests.support.process import PATIENCE_SECONDS, free_port

Session = aiohttp.ClientSession
PART = "x" * (1 << 16)


async def echo(server: Server, parameters: Parameters) -> Told:
    return Told([f"{sorted(parameters.items())}"], 1)


async def refuse(server: Server, parameters: Parameters) -> Told:
    return Told(["no"], 2, HTTPStatus.BAD_REQUEST)


async def fail(server: Server, parameters: Parameters) -> Told:
    raise ZeroDivisionError


PAGES: dict[str, AdminPage] = {"/echo": echo, "/refuse": refuse, "/fail": fail}


@asynccontextmanager
async def opened(pages: dict[str, AdminPage], reading_seconds: float = PATIENCE_SECONDS) -> AsyncIterator[HttpAddress]:
    server = build_server(parse(". {\n    any\n}\n").blocks, Settings())
    address = HttpAddress("127.0.0.1", free_port())
    admin = Admin(address, pages, reading_seconds)
    await admin.open(lambda: server)
    try:
        yield address
    finally:
        await admin.close()


def asked(
    act: Callable[[Session, str], Awaitable[aiohttp.ClientResponse]], pages: dict[str, AdminPage] = PAGES
) -> tuple[int, str, str]:
    """HTTP status, command's status and text."""

    async def run() -> tuple[int, str, str]:
        async with opened(pages) as address, aiohttp.ClientSession() as session:
            response = await act(session, f"http://{address}")
            return response.status, response.headers.get(STATUS_HEADER, ""), await response.text()

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/echo", (200, "1", "[]")),
        ("/echo?b=1&a=&b=2%2F", (200, "1", "[('a', ['']), ('b', ['1', '2/'])]")),
        ("/refuse", (400, "2", "no")),
        ("/fail", (500, "3", "error in the server; its log has more")),
        ("/", (404, "2", "there is /echo and /refuse and /fail")),
        ("/echo/", (404, "2", "there is /echo and /refuse and /fail")),
    ],
)
def test_a_page_tells_what_is_asked(path: str, found: tuple[int, str, str], caplog: pytest.LogCaptureFixture) -> None:
    assert asked(lambda session, url: session.get(url + path)) == found
    assert ("error while telling /fail" in caplog.text) is (path == "/fail")


@pytest.mark.parametrize("method", ["HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_nothing_but_get_is_done(method: str) -> None:
    assert asked(lambda session, url: session.request(method, f"{url}/echo"))[0] == 405


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:9154", 200),
        ("127.0.0.1", 200),
        ("127.9.9.9:1", 200),
        ("[::1]:9154", 200),
        ("evil.test", 403),
        ("localhost.evil.test:9154", 403),
        ("192.0.2.1", 403),
        ("", 403),
    ],
)
def test_who_is_led_here_by_another_name_is_turned_away(host: str, status: int) -> None:
    found = asked(lambda session, url: session.get(f"{url}/echo", headers={"Host": host}))
    assert found[0] == status


def test_others_have_their_turn_between_two_parts() -> None:
    told: list[int] = []
    heard: list[int] = []

    def parts() -> Iterator[str]:
        for number in range(50):
            told.append(number)
            yield str(number)

    async def page(server: Server, parameters: Parameters) -> Told:
        async def listen() -> None:
            while len(told) < 50:
                heard.append(len(told))
                await asyncio.sleep(0)

        listening.append(asyncio.create_task(listen()))
        return Told(parts())

    listening: list[asyncio.Task[None]] = []
    assert asked(lambda session, url: session.get(f"{url}/page"), {"/page": page})[2] == "".join(map(str, range(50)))
    assert set(heard) >= set(range(1, 50))


def test_what_breaks_off_is_not_taken_for_the_whole() -> None:
    def parts() -> Iterator[str]:
        yield "one"
        raise ZeroDivisionError

    async def page(server: Server, parameters: Parameters) -> Told:
        return Told(parts())

    with pytest.raises(aiohttp.ClientPayloadError):
        asked(lambda session, url: session.get(f"{url}/page"), {"/page": page})


def test_who_does_not_read_takes_no_turn_for_ever() -> None:
    async def endless(server: Server, parameters: Parameters) -> Told:
        return Told(itertools.repeat(PART))

    async def run() -> str:
        async with opened({**PAGES, "/endless": endless}, reading_seconds=0.2) as address:
            stuck = [socket.create_connection((address.host, address.port)) for _ in range(8)]
            for each in stuck:
                each.sendall(b"GET /endless HTTP/1.1\r\nHost: localhost\r\n\r\n")
            async with (
                asyncio.timeout(PATIENCE_SECONDS),
                aiohttp.ClientSession() as session,
                session.get(f"http://{address}/echo") as response,
            ):
                text = await response.text()
            for each in stuck:
                each.close()
            return text

    assert asyncio.run(run()) == "[]"


def test_a_taken_address_is_told() -> None:
    async def run() -> None:
        async with opened(PAGES) as address:
            await Admin(address, PAGES).open(lambda: build_server((), Settings()))

    with pytest.raises(ListenError, match=r"cannot listen on 127\.0\.0\.1:\d+ \(admin\): .+; use another port"):
        asyncio.run(run())
