"""HTTPS: DNS messages in HTTP/1.1 and HTTP/2 (RFC 8484), spoken by hypercorn on the loop that everything runs on."""

from __future__ import annotations

import asyncio
import logging
import ssl
from time import perf_counter
from typing import TYPE_CHECKING, Any

from kubedns.dns.question import Client, Transport
from kubedns.observe.metrics import TransportMetrics
from kubedns.transport.driving import Driver
from kubedns.transport.https_messages import (
    MAX_OCTETS,
    HttpReply,
    HttpRequest,
    answered,
    message_of,
    refusal,
    refused,
)
from kubedns.transport.limits import Manner
from kubedns.transport.responder import Responder
from kubedns.transport.sockets import ListenAddress, packed, tcp_socket

if TYPE_CHECKING:
    from hypercorn.config import Config
    from hypercorn.typing import ASGIReceiveCallable, ASGISendCallable, Scope

_LAST_WAIT_SECONDS = 2.0
_log = logging.getLogger("transport/https")
_log.setLevel(logging.WARNING)


class HttpsListener:
    """Answers requests to one address. The socket is bound when it is made, and read once it is started.

    Raises:
        ListenError: the address cannot be bound.
    """

    def __init__(self, address: ListenAddress, responder: Responder, metrics: TransportMetrics, manner: Manner) -> None:
        self.address = address
        self.transport = Transport.TCP
        self._responder = responder
        self._manner = manner
        self._driver = Driver(metrics)
        self._ended = asyncio.Event()
        self._serving: asyncio.Task[None] | None = None
        # Every connection gets the newest certificate while its handshake begins.
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._tls.minimum_version = ssl.TLSVersion.TLSv1_2
        self._tls.sni_callback = self._choose
        self._config: Config | None = None
        self._socket = tcp_socket(address)

    def __str__(self) -> str:
        return f"{self.address} (HTTPS)"

    def answer_by(self, responder: Responder, manner: Manner) -> None:
        """Have ``responder`` answer what is read from now on, and hold new connections in this ``manner``."""
        self._responder = responder
        self._manner = manner
        self._apply()

    async def start(self) -> None:
        """Begin to take connections, those first that have waited since the socket was bound."""
        from hypercorn.asyncio import serve  # only a server with such a block needs it
        from hypercorn.config import Config

        class Secured(Config):
            """Takes connections with our own context."""

            ssl_enabled = True

            def create_ssl_context(config) -> ssl.SSLContext:  # noqa: N805
                """The listener's."""
                return self._tls

        self._config = Secured()
        self._config.bind = [f"fd://{self._socket.detach()}"]
        self._config.errorlog = _log
        self._config.graceful_timeout = _LAST_WAIT_SECONDS
        self._config.include_server_header = False
        self._apply()
        serving = serve(self._answer, self._config, shutdown_trigger=self._ended.wait)
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(_bear)
        self._serving = loop.create_task(serving)

    async def stop(self) -> None:
        """Take no more connections; answer what has come, then close."""
        self._ended.set()
        if self._serving is not None:
            await self._serving
        self.close()

    def close(self) -> None:
        """Give the socket and all connections up at once."""
        self._socket.close()
        if self._serving is not None:
            self._serving.cancel()

    def _apply(self) -> None:
        """Let connections that come find what the manner says."""
        if self._manner.tls is not None:
            self._tls.verify_mode = self._manner.tls().verify_mode
        if self._config is not None:
            self._config.keep_alive_timeout = self._manner.limits.idle
            self._config.ssl_handshake_timeout = self._manner.limits.message

    def _choose(self, connection: ssl.SSLObject, name: str | None, context: ssl.SSLContext) -> None:
        if self._manner.tls is not None:
            connection.context = self._manner.tls()

    async def _answer(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """One request (ASGI), or the server's own beginning and end."""
        if scope["type"] == "lifespan":
            await _live(receive, send)
            return
        if scope["type"] != "http":
            return
        request = HttpRequest(scope["method"], scope["path"], scope["query_string"], tuple(scope["headers"]))
        host, port = scope["client"] or ("0.0.0.0", 0)
        local = (scope["server"] or ("",))[0]
        client = Client(packed(host), host, port or 0, Transport.TCP, local)
        # The body is taken first: who is refused half way through sending may not see the reply.
        body = await _body(receive)
        reply = refusal(request) or await self._reply(request, body, client)
        try:
            await send({"type": "http.response.start", "status": reply.status, "headers": list(reply.headers)})
            await send({"type": "http.response.body", "body": reply.body, "more_body": False})
        except Exception as error:
            # The client has gone, or broken the protocol; hypercorn tells in many ways.
            _log.debug("%s: no reply could be sent: %r", self, error)

    async def _reply(self, request: HttpRequest, body: bytes | None, client: Client) -> HttpReply:
        if body is None:
            return refused(413, "longer than any DNS message")
        message = message_of(request, body)
        if message is None:
            return refused(400, "no DNS message; write ?dns= with base64url, or POST one")
        responder = self._responder
        responder.tick()
        try:
            began = perf_counter()
            serve = responder.find(client.address)(message[2:])
            if serve is not None:
                response: bytes | None = message[:2] + serve()
                responder.served(1, perf_counter() - began)
            else:
                response = await responder.resolve(message, client)
        except Exception as error:
            self._driver.failed(error)
            return refused(500, "an error in the server; its log says more")
        return refused(400, "no query, or one that gets no response") if response is None else answered(response)


def _bear(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Tell of everything but connections that broke, of which hypercorn lets some through with a traceback."""
    error = context.get("exception")
    if isinstance(error, BaseExceptionGroup):
        error = error if error.split(OSError)[1] is not None else OSError(str(error))
    if isinstance(error, OSError) and "transport" in context:
        _log.debug("a connection broke: %r", context["exception"])
        return
    loop.default_exception_handler(context)


async def _body(receive: ASGIReceiveCallable) -> bytes | None:
    """A request's whole body; None: it is longer than any message."""
    body = b""
    while True:
        event: Any = await receive()
        body += bytes(event.get("body", b""))
        if len(body) > MAX_OCTETS:
            return None
        if not event.get("more_body", False):
            return body


async def _live(receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
    """Say that there is nothing to do before the first request and after the last."""
    while True:
        event = await receive()
        if event["type"] == "lifespan.startup":
            await send({"type": "lifespan.startup.complete"})
        elif event["type"] == "lifespan.shutdown":
            await send({"type": "lifespan.shutdown.complete"})
            return
