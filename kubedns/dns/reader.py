"""The query reader: octets → Query, a Rejected message, or silence. Strict, bounded, the same for every transport.

A query is a header, one question, and at most an OPT and a TSIG behind it; an IXFR has the client's SOA in between.
The header's twelve octets are judged first; nothing is allocated by a count that the sender names.
"""

from __future__ import annotations

from struct import Struct, error

import msgspec

from kubedns.dns.answer import Rcode
from kubedns.dns.edns import VERSION, Edns, OptionCode
from kubedns.dns.names import MAX_NAME_OCTETS, Labels, name_of
from kubedns.dns.question import Client, Query, Question
from kubedns.dns.rdata import RecordType
from kubedns.dns.wire_names import HEADER_OCTETS, BrokenNameError, read_name

_HEADER = Struct("!6H")
_TYPE_CLASS = Struct("!2H")
_FIXED = Struct("!2HIH")
_OPTION = Struct("!2H")
_TIMES = Struct("!5I")
_MAX_ADDITIONAL = 2
_QR = 0x8000
_COOKIE_LENGTHS = frozenset((8, *range(16, 41)))


class UnknownKey(msgspec.Struct, frozen=True, gc=False):
    """A TSIG made with a key that is not ours: what the reply's TSIG repeats of it (RFC 8945 §5.2.1)."""

    owner: bytes
    algorithm: bytes
    time_signed: bytes
    original_id: bytes


class Rejected(msgspec.Struct, frozen=True, gc=False):
    """A message that gets ``rcode`` without any plugin being asked.

    ``question`` is the question section as it came, empty where it could not be read; ``edns`` its OPT, likewise.
    """

    id: int
    flags: int
    rcode: Rcode
    question: bytes = b""
    edns: Edns | None = None
    unknown_key: UnknownKey | None = None


class _MalformedError(Exception):
    """The message breaks a rule of RFC 1035 §4."""


def read_query(octets: bytes, client: Client) -> Query | Rejected | None:
    """What a message asks. None: silence, for what is no query at all (under twelve octets, or a response).

    Answering a response would let two servers talk for ever (CVE-2024-2169).
    """
    if len(octets) < HEADER_OCTETS:
        return None
    ident, flags, questions, answers, authorities, additionals = _HEADER.unpack_from(octets)
    if flags & _QR:
        return None
    if flags & 0x7800:
        return Rejected(ident, flags & 0x7800, Rcode.NOTIMP)
    if questions != 1 or answers or authorities > 1 or additionals > _MAX_ADDITIONAL:
        return Rejected(ident, flags, Rcode.FORMERR)
    try:
        labels, at = _question_name(octets)
        rdtype, rdclass = _TYPE_CLASS.unpack_from(octets, at)
    except (_MalformedError, IndexError, error):
        return Rejected(ident, flags, Rcode.FORMERR)
    at += 4
    question = octets[HEADER_OCTETS:at]
    serial = None
    if authorities:
        if rdtype != RecordType.IXFR:
            return Rejected(ident, flags, Rcode.FORMERR)
        try:
            serial, at = _serial(octets, at)
        except (_MalformedError, BrokenNameError, IndexError, error):
            return Rejected(ident, flags, Rcode.FORMERR, question)
    edns = None
    if additionals or at != len(octets):
        try:
            edns, key = _additional(octets, at, additionals)
        except (_MalformedError, BrokenNameError, IndexError, error):
            return Rejected(ident, flags, Rcode.FORMERR, question)
        if edns is not None and edns.version != VERSION:
            return Rejected(ident, flags, Rcode.BADVERS, question, edns)
        if key is not None:
            return Rejected(ident, flags, Rcode.NOTAUTH, question, edns, key)
        if edns is not None and not _cookies_are_sound(edns):
            return Rejected(ident, flags, Rcode.FORMERR, question, edns)
    if rdtype == RecordType.OPT:
        return Rejected(ident, flags, Rcode.FORMERR, question, edns)
    return Query(ident, flags, Question(name_of(labels), rdtype, rdclass), edns, len(octets), client, serial=serial)


def _question_name(octets: bytes) -> tuple[Labels, int]:
    """The labels of the question's name and where it ends; a pointer has nothing to point to here."""
    labels = []
    at = HEADER_OCTETS
    while length := octets[at]:
        if length > 63:
            raise _MalformedError
        labels.append(octets[at + 1 : at + 1 + length])
        at += 1 + length
    if at + 1 - HEADER_OCTETS > MAX_NAME_OCTETS:
        raise _MalformedError
    return tuple(labels), at + 1


def _serial(octets: bytes, at: int) -> tuple[int, int]:
    """The serial of the SOA at ``at``, and where the record ends (RFC 1995 §3)."""
    _, at = read_name(octets, at)
    rdtype, _, _, length = _FIXED.unpack_from(octets, at)
    at += _FIXED.size
    end = at + length
    for _ in range(2):  # the primary's name and the mailbox
        _, at = read_name(octets, at)
    if rdtype != RecordType.SOA or at + _TIMES.size != end:
        raise _MalformedError
    serial: int = _TIMES.unpack_from(octets, at)[0]
    return serial, end


def _additional(octets: bytes, at: int, count: int) -> tuple[Edns | None, UnknownKey | None]:
    """The OPT and the TSIG behind the question; other records are stepped over, none may be left half or over."""
    edns: Edns | None = None
    key: UnknownKey | None = None
    for _ in range(count):
        start = at
        _, at = read_name(octets, at)
        rdtype, rdclass, ttl, length = _FIXED.unpack_from(octets, at)
        owner, at = octets[start:at], at + _FIXED.size
        rdata = octets[at : at + length]
        at += length
        if at > len(octets) or key is not None:
            raise _MalformedError  # a record that is cut short, or one behind the TSIG (RFC 8945 §5.1)
        if rdtype == RecordType.OPT:
            if edns is not None or owner != b"\0":
                raise _MalformedError  # RFC 6891 §6.1.1
            edns = Edns(ttl >> 16 & 0xFF, rdclass, bool(ttl & 0x8000), _options(rdata))
        elif rdtype == RecordType.TSIG:
            key = _tsig(owner, rdata)
    if at != len(octets):
        raise _MalformedError
    return edns, key


def _options(rdata: bytes) -> tuple[tuple[int, bytes], ...]:
    options = []
    at = 0
    while at < len(rdata):
        code, length = _OPTION.unpack_from(rdata, at)
        at += _OPTION.size
        options.append((code, rdata[at : at + length]))
        at += length
    if at > len(rdata):
        raise _MalformedError
    return tuple(options)


def _cookies_are_sound(edns: Edns) -> bool:
    """A cookie of a length that no cookie has is FORMERR (RFC 7873 §5.2.2)."""
    return all(len(value) in _COOKIE_LENGTHS for code, value in edns.options if code == OptionCode.COOKIE)


def _tsig(owner: bytes, rdata: bytes) -> UnknownKey:
    """A TSIG's rdata, read to its last octet (RFC 8945 §4.2)."""
    at = read_name(rdata, 0)[1] if rdata else 0
    algorithm, time_signed = rdata[:at], rdata[at : at + 6]
    mac_octets = int.from_bytes(rdata[at + 8 : at + 10])
    at += 10 + mac_octets
    original_id = rdata[at : at + 2]
    other_octets = int.from_bytes(rdata[at + 4 : at + 6])
    if not algorithm or at + 6 + other_octets != len(rdata):
        raise _MalformedError
    return UnknownKey(owner, algorithm, time_signed, original_id)
