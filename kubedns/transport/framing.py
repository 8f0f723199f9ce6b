"""Framing: a message over TCP stands behind its length in two octets (RFC 1035 §4.2.2)."""

from __future__ import annotations

from collections.abc import Iterator

_LENGTH_OCTETS = 2


def framed(message: bytes) -> bytes:
    """The message with its length in front, so that both leave in one segment (RFC 7766 §8)."""
    return len(message).to_bytes(_LENGTH_OCTETS) + message


def take_messages(buffer: bytearray, most: int) -> Iterator[bytes]:
    """Take complete messages out of ``buffer``, up to ``most`` of them; an empty one has no octets."""
    at = 0
    try:
        while most > 0 and len(buffer) - at >= _LENGTH_OCTETS:
            end = at + _LENGTH_OCTETS + int.from_bytes(buffer[at : at + _LENGTH_OCTETS])
            if len(buffer) < end:
                return
            message = bytes(buffer[at + _LENGTH_OCTETS : end])
            at = end
            most -= 1
            yield message
    finally:
        del buffer[:at]
