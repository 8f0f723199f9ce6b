"""The API server: one request at a time → octets, or the refusal; credentials renewed when asked. Knows no objects."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit

import aiohttp

from kubedns import __version__
from kubedns.cluster.access import ApiAccess
from kubedns.cluster.sources.api_errors import UNREADABLE, UNTRUSTED, AccessError, ApiError
from kubedns.cluster.sources.api_messages import status_of
from kubedns.cluster.sources.credentials import authorization, read_configuration
from kubedns.cluster.sources.outage import Outage
from kubedns.observe.metrics import Metrics
from kubedns.observe.rows import API_DURATION, API_REQUESTS

if TYPE_CHECKING:
    from kubernetes.aio.client import Configuration
    from kubernetes.aio.client.rest import RESTClientObject

_CONNECT_SECONDS = 5.0
_LAST_RENEWAL_SECONDS = 2.0
"""For a program that gives credentials to end by itself, when the source ends."""
_CHUNK_OCTETS = 64 << 10
_ERROR_OCTETS = 64 << 10


class ApiServer:
    """Speaks to the server that ``access`` names. Must be closed. ``outage``: what is told while it does not answer."""

    def __init__(self, access: ApiAccess, metrics: Metrics) -> None:
        self.access = access
        self.outage = Outage(access)
        self._metrics = metrics
        self._configuration: Configuration | None = None
        self._client: RESTClientObject | None = None
        self._requests: Counter[RESTClientObject] = Counter()
        self._made_with: tuple[object, ...] = ()
        self._renewing: asyncio.Task[None] | None = None
        self._opening = asyncio.Lock()

    async def get(self, path: str, query: Mapping[str, str], accept: str, idle_seconds: float) -> bytes:
        """The whole body of the reply.

        Raises:
            ApiError: there is none; ``idle_seconds`` without an octet count as none.
            AccessError: the credentials cannot be read.
        """
        async with self._reply(path, query, accept, idle_seconds) as reply, _readable():
            return await reply.read()

    @asynccontextmanager
    async def stream(
        self, path: str, query: Mapping[str, str], accept: str, idle_seconds: float
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """The body of the reply as it comes, in chunks of at most 64 KiB.

        Raises:
            ApiError: as for :meth:`get`; also while it is read.
            AccessError: the credentials cannot be read.
        """
        async with self._reply(path, query, accept, idle_seconds) as reply:
            yield _chunks(reply)

    async def renew(self) -> None:
        """Read the credentials again, once for all who ask meanwhile: it may mean that a program is run.

        Requests under way go on with what they have begun with.

        Raises:
            AccessError: they cannot be read.
        """
        if self._renewing is None or self._renewing.done():
            self._renewing = asyncio.get_running_loop().create_task(self._renew())
        # Who gives up leaves it to the others.
        await asyncio.shield(self._renewing)

    async def close(self) -> None:
        """Give all connections up; there are no requests any more."""
        if self._renewing is not None:
            await asyncio.wait([self._renewing], timeout=_LAST_RENEWAL_SECONDS)
            self._renewing.cancel()
        await self._retire()

    async def _renew(self) -> None:
        self._configuration = await read_configuration(self.access)
        try:
            is_other = _certificates(self._configuration) != self._made_with
        except OSError as error:
            raise AccessError(f"{self.access}: certificates cannot be read: {error}") from error
        if is_other:
            await self._retire()

    async def _retire(self) -> None:
        """Take no new request with the client of now; who is still at one with it closes it afterwards."""
        client, self._client = self._client, None
        if client is not None and not self._requests[client]:
            await client.close()

    @asynccontextmanager
    async def _reply(
        self, path: str, query: Mapping[str, str], accept: str, idle_seconds: float
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        async with self._lent() as (client, configuration):
            headers = {"Accept": accept, "User-Agent": f"kubedns/{__version__}"}
            if token := await authorization(configuration):
                headers["Authorization"] = token
            url = f"{configuration.host}{path}?{urlencode(query)}"
            reply = await self._answered(client, url, headers, idle_seconds)
            try:
                if reply.status != 200:
                    raise await _refusal(reply)
                yield reply
            finally:
                # A watch that is given up, or an error's body, is not read to its end to save a connection. Over TLS
                # an orderly end needs the server, who may be gone: nobody would wait for it, and the socket stay open.
                if reply.connection is not None and reply.connection.transport is not None:
                    reply.connection.transport.abort()
                reply.close()

    async def _answered(
        self, client: RESTClientObject, url: str, headers: Mapping[str, str], idle_seconds: float
    ) -> aiohttp.ClientResponse:
        """The reply, of which the head has come; counted, whatever becomes of it."""
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS, sock_read=idle_seconds)
        began, host, code = perf_counter(), urlsplit(url).netloc, "<error>"
        try:
            async with _readable():
                answered = await client.request(  # type: ignore[no-untyped-call]
                    "GET", url, headers=headers, _request_timeout=timeout
                )
            reply: aiohttp.ClientResponse = answered.response
            code = str(reply.status)
        finally:
            self._metrics.cell(API_REQUESTS, code, "GET", host).add()
            self._metrics.histogram(API_DURATION, "GET", host).add(perf_counter() - began)
        return reply

    @asynccontextmanager
    async def _lent(self) -> AsyncIterator[tuple[RESTClientObject, Configuration]]:
        """The client of now for one request; one that is retired meanwhile is closed after its last."""
        client, configuration = await self._connected()
        self._requests[client] += 1
        try:
            yield client, configuration
        finally:
            self._requests[client] -= 1
            if not self._requests[client]:
                del self._requests[client]
                if client is not self._client:
                    await client.close()

    async def _connected(self) -> tuple[RESTClientObject, Configuration]:
        from kubernetes.aio.client.rest import RESTClientObject

        async with self._opening:
            if self._configuration is None:
                self._configuration = await read_configuration(self.access)
            if self._client is None:
                try:
                    made_with = _certificates(self._configuration)
                    self._configuration.trace_configs = [_staying()]
                    self._client = RESTClientObject(self._configuration)
                except (OSError, ValueError) as error:
                    self._configuration = None
                    raise AccessError(f"{self.access}: certificates cannot be used: {error}") from error
                self._made_with = made_with
            return self._client, self._configuration


def _certificates(configuration: Configuration) -> tuple[object, ...]:
    """What connections are made with; files by what is in them, for a renewed one keeps its name.

    Raises:
        OSError: one cannot be read.
    """
    files = (configuration.ssl_ca_cert, configuration.cert_file, configuration.key_file)
    return (configuration.host, *(Path(file).read_bytes() if file else b"" for file in files))


async def _chunks(reply: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    async with _readable():
        while chunk := await reply.content.read(_CHUNK_OCTETS):
            yield chunk


@asynccontextmanager
async def _readable() -> AsyncIterator[None]:
    """Whatever keeps octets from coming becomes one error."""
    try:
        yield
    except TimeoutError as error:
        raise ApiError(UNREADABLE, "nothing came for too long") from error
    except aiohttp.ClientSSLError as error:
        raise ApiError(UNTRUSTED, f"{error}") from error
    except (aiohttp.ClientError, OSError, ValueError) as error:
        raise ApiError(UNREADABLE, f"{error}" or type(error).__name__) from error


def _staying() -> aiohttp.TraceConfig:
    """Follow no redirect: whoever a server names would be believed, and get what proves who we are (CVE-2020-8559)."""

    async def refuse(session: object, context: object, params: aiohttp.TraceRequestRedirectParams) -> None:
        params.response.close()
        raise ApiError(params.response.status, f"it sends elsewhere, to {params.response.headers.get('Location')}")

    tracing = aiohttp.TraceConfig()
    tracing.on_request_redirect.append(refuse)
    return tracing


async def _refusal(reply: aiohttp.ClientResponse) -> ApiError:
    async with _readable():
        status = status_of(await reply.content.read(_ERROR_OCTETS))
    seconds = reply.headers.get("Retry-After", "")
    message = status.message or reply.reason or "refused"
    return ApiError(reply.status, message, float(seconds) if seconds.isdigit() else None)
