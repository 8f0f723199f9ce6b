"""NOTIFY: word that a zone has changed, and its acknowledgement (RFC 1996). Pure."""

from __future__ import annotations

from struct import Struct, error

import msgspec

from kubedns.dns.names import Name, name_of
from kubedns.dns.question import Question
from kubedns.dns.rdata import RecordType
from kubedns.dns.reply import question_octets
from kubedns.dns.rrset import CLASS_IN
from kubedns.dns.wire_names import HEADER_OCTETS, BrokenNameError, read_name

_HEADER = Struct("!6H")
_TYPE_CLASS = Struct("!2H")
_QR, _OPCODE, _NOTIFY, _AA, _RCODE = 0x8000, 0x7800, 0x2000, 0x0400, 0x000F


class Notify(msgspec.Struct, frozen=True, gc=False):
    """Word that ``zone`` has changed; ``question`` is its question section as it came."""

    id: int
    zone: Name
    question: bytes


def read_notify(octets: bytes) -> Notify | None:
    """The NOTIFY in a message; None: it is none, or cannot be read. What stands behind its question is but a hint."""
    try:
        ident, flags, questions, *_ = _HEADER.unpack_from(octets)
        if flags & (_QR | _OPCODE) != _NOTIFY or questions != 1:
            return None
        labels, at = read_name(octets, HEADER_OCTETS)
        rdtype, rdclass = _TYPE_CLASS.unpack_from(octets, at)
    except (BrokenNameError, IndexError, error):
        return None
    if (rdtype, rdclass) != (RecordType.SOA, CLASS_IN):
        return None
    return Notify(ident, name_of(labels), octets[HEADER_OCTETS : at + _TYPE_CLASS.size])


def write_acknowledgement(notify: Notify) -> bytes:
    """The response that ends it (RFC 1996 §4.7)."""
    return _HEADER.pack(notify.id, _QR | _NOTIFY | _AA, 1, 0, 0, 0) + notify.question


def write_notify(ident: int, zone: Name) -> bytes:
    """The message that says that ``zone`` has changed (RFC 1996 §3.7)."""
    return _HEADER.pack(ident, _NOTIFY | _AA, 1, 0, 0, 0) + question_octets(Question(zone, RecordType.SOA))


def acknowledged(notify: bytes, response: bytes) -> int | None:
    """The rcode of a response to ``notify``, a message of ours; None: it is none."""
    if len(response) < HEADER_OCTETS or response[:2] != notify[:2]:
        return None
    flags = int.from_bytes(response[2:4])
    if flags & (_QR | _OPCODE) != _QR | _NOTIFY:
        return None
    # A server that knows no NOTIFY may leave the question out.
    question = notify[HEADER_OCTETS:]
    is_ours = response[HEADER_OCTETS:].startswith(question) or not int.from_bytes(response[4:6])
    return flags & _RCODE if is_ours else None
