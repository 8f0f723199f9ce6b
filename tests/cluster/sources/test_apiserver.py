"""Connections to an API server end when we are done with them, whatever the server does."""

from __future__ import annotations

import asyncio
import gc
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kubedns.cluster.access import ApiAccess
from kubedns.cluster.sources.api_errors import ApiError
from kubedns.cluster.sources.apiserver import ApiServer
from kubedns.observe.metrics import Metrics
from tests.support.certificates import server_context, write_certificate

PATIENCE_SECONDS = 20.0
WATCH = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{}\n\r\n"
REFUSAL = b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 5\r\n\r\noops"


@contextmanager
def stuck_server(response: bytes) -> Iterator[str]:
    """Over TLS, a server that says so much to each request and then neither reads nor closes; its address."""
    context, done = server_context(), threading.Event()

    def serve(listening: socket.socket) -> None:
        raw, _ = listening.accept()
        with context.wrap_socket(raw, server_side=True) as connection:
            connection.recv(65536)
            connection.sendall(response)
            done.wait(PATIENCE_SECONDS)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, args=(listening,))
        thread.start()
        try:
            yield f"https://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            done.set()
            thread.join()


async def watch(access: ApiAccess) -> bytes:
    """The first chunk of a stream that is given up then."""
    server = ApiServer(access, Metrics())
    try:
        async with server.stream("/api/v1/services", {"watch": "1"}, "application/json", PATIENCE_SECONDS) as chunks:
            async for chunk in chunks:
                return chunk
        return b""
    finally:
        await server.close()


@pytest.mark.parametrize("response", [WATCH, REFUSAL], ids=["watch", "refusal"])
def test_a_reply_that_is_given_up_leaves_no_socket_open(response: bytes, tmp_path: Path) -> None:
    write_certificate(tmp_path)
    with stuck_server(response) as endpoint:
        access = ApiAccess(endpoint=endpoint, authority=str(tmp_path / "ca.pem"))
        if response is WATCH:
            assert asyncio.run(watch(access)) == b"{}\n"
        else:
            with pytest.raises(ApiError, match="500"):
                asyncio.run(watch(access))
        gc.collect()  # what is open still is told as a warning, and so fails
