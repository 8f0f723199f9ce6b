"""Loading: whether a server's sources are being read for the first time, and the end of that, to be waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class Loading:
    """Who needs a source waits for :meth:`over`; it comes at once where nothing is being read."""

    def __init__(self) -> None:
        self._over = asyncio.Event()
        self._over.set()

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """The sources are read as long as the block lasts."""
        self._over.clear()
        try:
            yield
        finally:
            self._over.set()

    async def over(self) -> None:
        """Wait until they have been read, or been waited for long enough."""
        await self._over.wait()
