"""Source: what fills a store. It knows nothing of DNS."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kubedns.errors import ManifestError


class Source(Protocol):
    """Turns what it sees into objects and hands them to its store; it goes on after every failure."""

    async def load(self) -> Sequence[ManifestError]:
        """Read everything once; what could not be used."""

    async def run(self) -> None:
        """Follow changes until cancelled."""

    @property
    def age_seconds(self) -> float:
        """Seconds since it last heard that the store is as it should be."""
