"""Framing: a message over TCP stands behind its length in two octets (RFC 1035 §4.2.2)."""

from __future__ import annotations

_LENGTH_OCTETS = 2


def framed(message: bytes) -> bytes:
    """The message with its length in front, so that both leave in one segment (RFC 7766 §8)."""
    return len(message).to_bytes(_LENGTH_OCTETS) + message


class Messages:
    """What a stream brings: octets are fed in as they come, complete messages are taken out."""

    __slots__ = ("_at", "_octets")

    def __init__(self) -> None:
        self._octets = bytearray()
        self._at = 0

    def __bool__(self) -> bool:
        """Whether octets are left, be it only half a length."""
        return self._at < len(self._octets)

    def feed(self, octets: bytes | memoryview) -> None:
        """Octets that came, behind those that came before."""
        if self._at:
            del self._octets[: self._at]
            self._at = 0
        self._octets += octets

    def take(self) -> bytes | None:
        """The next message, which may have no octets; None: it is not complete."""
        octets = self._octets
        start = self._at + _LENGTH_OCTETS
        if len(octets) < start:
            return None
        end = start + int.from_bytes(octets[self._at : start])
        if len(octets) < end:
            return None
        message = bytes(octets[start:end])
        self._at = end
        if end == len(octets):  # an idle connection keeps nothing
            octets.clear()
            self._at = 0
        return message
