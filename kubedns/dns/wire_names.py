"""Names on the wire: written without compression, read with it (RFC 1035 §3.1, §4.1.4).

Both sides of a conversation are read by the same strict reader: pointers lead backwards only, are few, and what they
lead to stays within 255 octets.
"""

from __future__ import annotations

from kubedns.dns.names import MAX_LABEL_OCTETS, MAX_NAME_OCTETS, Labels

HEADER_OCTETS = 12
"""Where a message's first name may stand; no pointer leads to before that."""
_POINTER = 0xC0
_MAX_POINTERS = 126
"""More hops than any honest name of 255 octets can need."""
_LENGTHS = tuple(bytes((octets,)) for octets in range(MAX_LABEL_OCTETS + 1))


class BrokenNameError(Exception):
    """A name that breaks a rule; ``str()`` says which."""


def name_octets(labels: Labels) -> bytes:
    """The name as it is written where nothing may be, or can be, compressed."""
    return b"".join([_LENGTHS[len(label)] + label for label in labels]) + b"\0"


def read_name(octets: bytes, at: int) -> tuple[Labels, int]:
    """The labels of the name at ``at``, and where it ends there; pointers are followed to the root.

    Raises:
        BrokenNameError: a pointer that does not lead back, too many of them, a label of no known kind, too long a name.
        IndexError: the octets end before the name does.
    """
    labels: list[bytes] = []
    end = hops = 0
    total = 1
    while length := octets[at]:
        if length >= _POINTER:
            target = (length & ~_POINTER) << 8 | octets[at + 1]
            end = end or at + 2
            hops += 1
            if not HEADER_OCTETS <= target < at or hops > _MAX_POINTERS:
                raise BrokenNameError("a pointer that does not lead back")
            at = target
            continue
        total += 1 + length
        if length > MAX_LABEL_OCTETS or total > MAX_NAME_OCTETS:
            raise BrokenNameError("a name of a wrong form or length")
        labels.append(octets[at + 1 : at + 1 + length])
        at += 1 + length
    return tuple(labels), end or at + 1
