"""An API server that costs next to nothing: lists out of files written before, and watches that hear what is told.

``python -m tests.bench.live.stand_in FOLDER PORT`` serves the pages in FOLDER until it is ended.
"""

from __future__ import annotations

import asyncio
import sys
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from tests.bench.live.bodies import PATHS, pages_of

_PLURALS = {path: plural for plural, path in PATHS.items()}
_KIND = b"Content-Type: application/json\r\n"


class StandIn:
    """Serves the pages of ``folder``. ``watches``: who watches, by resource."""

    def __init__(self, folder: Path) -> None:
        self.watches: dict[str, list[StreamWriter]] = {plural: [] for plural in PATHS}
        self._pages = {plural: pages_of(folder, plural) for plural in PATHS}

    @asynccontextmanager
    async def open(self, port: int) -> AsyncIterator[None]:
        """Listen on 127.0.0.1."""
        async with await asyncio.start_server(self._serve, "127.0.0.1", port):
            yield

    def tell(self, plural: str, event: bytes) -> None:
        """Send one event to all who watch; who does not read keeps nobody waiting."""
        chunk = b"%x\r\n%b\n\r\n" % (len(event) + 1, event)
        for watch in self.watches[plural]:
            watch.write(chunk)

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        try:
            while await self._answer((await reader.readuntil(b"\r\n\r\n")).split()[1].decode(), writer):
                await writer.drain()
            await reader.read()  # a watch lasts until its client goes
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            for watches in self.watches.values():
                if writer in watches:
                    watches.remove(writer)
            writer.close()

    async def _answer(self, target: str, writer: StreamWriter) -> bool:
        """Answer one request; whether another may come on its connection."""
        parts = urlsplit(target)
        plural, query = _PLURALS.get(parts.path), parse_qs(parts.query)
        if plural is None:
            writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
        elif "sendInitialEvents" in query:  # lists come in pages, which are what the bare loop reads
            writer.write(b"HTTP/1.1 422 Unprocessable Entity\r\nContent-Length: 0\r\n\r\n")
        elif "watch" in query:
            writer.write(b"HTTP/1.1 200 OK\r\n" + _KIND + b"Transfer-Encoding: chunked\r\n\r\n")
            self.watches[plural].append(writer)
            return False
        else:
            octets = self._pages[plural][int(query.get("continue", ["0"])[0])].read_bytes()
            writer.write(b"HTTP/1.1 200 OK\r\n" + _KIND + b"Content-Length: %d\r\n\r\n" % len(octets))
            writer.write(octets)
        return True


async def serve(folder: Path, port: int) -> None:
    """Serve the pages for ever."""
    async with StandIn(folder).open(port):
        await asyncio.get_running_loop().create_future()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1]), int(sys.argv[2])))
