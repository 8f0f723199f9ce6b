"""The one interface between transports and what answers; a compiled engine may stand in for its look-ups one day."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from typing import Any, Protocol

from kubedns.dns.question import Client

Stream = Iterator[bytes]
"""A response of several messages; an empty one only means that others may have their turn."""
Find = Callable[[bytes], Callable[[], bytes] | None]


class Responder(Protocol):
    """What answers for one listener (resolver.responder)."""

    is_client_sensitive: bool

    def find(self, address: bytes) -> Find:
        """The look-up of finished answers for a client: a query after its ID → a call for the response after the ID."""

    def tick(self) -> None:
        """Drop what has outlived its time."""

    def served(self, count: int, seconds: float) -> None:
        """So many answers were served from ``find`` in a batch of so many seconds."""

    def resolve(self, octets: bytes, client: Client) -> Coroutine[Any, Any, bytes | None]:
        """The response to any message, in one message; None: silence."""

    def resolve_whole(self, octets: bytes, client: Client) -> Coroutine[Any, Any, bytes | Stream | None]:
        """The same for a stream, which can carry a response of several messages."""
