"""The admin endpoint: what a running server tells of itself, over HTTP. It tells, and does nothing else.

It speaks to programs of the same machine: whoever is led here by a name of their own (DNS rebinding) is turned away.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from kubedns.errors import ListenError
from kubedns.observe.failures import Failures
from kubedns.observe.pages import HttpAddress
from kubedns.server.server import Server

if TYPE_CHECKING:
    from aiohttp import web

STATUS_HEADER = "Kubedns-Status"
"""The header that holds the exit status of a command that shows the page."""
_WRONG_CALL, _NO_RESPONSE = 2, 3
_AT_ONCE = 4
_READING_SECONDS = 30.0
_LAST_WAIT_SECONDS = 0.5
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Told:
    """What a page tells: ``parts`` are made as they are sent, and others have their turn between two of them.

    ``status``: what a command that shows it ends with. ``http``: of another status than OK the parts say why.
    """

    parts: Iterable[str]
    status: int = 0
    http: HTTPStatus = HTTPStatus.OK


Parameters = Mapping[str, Sequence[str]]
AdminPage = Callable[[Server, Parameters], Awaitable[Told]]
"""What the server that is at work tells, for the parameters of a request."""


class Admin:
    """Gives ``pages``, by path, on ``address``, from :meth:`open` to :meth:`close`.

    ``reading_seconds``: for whoever is told to take each part.
    """

    def __init__(
        self, address: HttpAddress, pages: Mapping[str, AdminPage], reading_seconds: float = _READING_SECONDS
    ) -> None:
        self.address = address
        self._pages = pages
        self._reading_seconds = reading_seconds
        self._failures = Failures(_log)
        self._turns = asyncio.Semaphore(_AT_ONCE)
        self._runner: web.AppRunner | None = None

    async def open(self, server: Callable[[], Server]) -> None:
        """Listen; ``server`` gives the one that is at work.

        Raises:
            ListenError: the address cannot be listened on.
        """
        from aiohttp import web  # only who wants the endpoint needs the library

        async def handle(request: web.Request) -> web.StreamResponse:
            async with self._turns:
                told = await self._told(request, server())
                return await self._sent(request, web.StreamResponse(status=told.http), told)

        application = web.Application()
        application.router.add_get("/{path:.*}", handle, allow_head=False)
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=_LAST_WAIT_SECONDS)
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, self.address.host, self.address.port).start()
        except OSError as error:
            reason = error.strerror or str(error)
            message = f"cannot listen on {self.address} (admin): {reason}"
            raise ListenError(message, remedy="use another port") from error

    async def close(self) -> None:
        """Give the address up."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def _told(self, request: web.Request, server: Server) -> Told:
        page = self._pages.get(request.path)
        if not _is_of_this_machine(request.host):
            return Told(["only the names and addresses of loopback lead here"], _WRONG_CALL, HTTPStatus.FORBIDDEN)
        if page is None:
            return Told([f"there is {' and '.join(self._pages)}"], _WRONG_CALL, HTTPStatus.NOT_FOUND)
        try:
            return await page(server, parse_qs(request.query_string, keep_blank_values=True))
        except Exception as error:
            self._failures.tell(error, f"telling {request.path}")
            why = "error in the server; its log has more"
            return Told([why], _NO_RESPONSE, HTTPStatus.INTERNAL_SERVER_ERROR)

    async def _sent(self, request: web.Request, response: web.StreamResponse, told: Told) -> web.StreamResponse:
        response.content_type = "text/plain"
        response.charset = "utf-8"
        response.headers[STATUS_HEADER] = str(int(told.status))
        await response.prepare(request)
        try:
            for part in told.parts:
                async with asyncio.timeout(self._reading_seconds):
                    await response.write(part.encode())
                await asyncio.sleep(0)
        except TimeoutError:
            # Whoever does not read what was asked for shall not take a turn for ever.
            if request.transport is not None:
                request.transport.abort()
        return response


def _is_of_this_machine(host: str) -> bool:
    """Whether the Host of a request is loopback's."""
    name = urlsplit(f"//{host}").hostname or ""
    try:
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
