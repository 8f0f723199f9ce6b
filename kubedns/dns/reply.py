"""Replies of other servers: octets → Reply, strictly read, and the query that asks for one.

Pointers lead backwards only and names stay within 255 octets; whatever breaks a rule makes the whole reply unreadable.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct, error

import msgspec

from kubedns.dns.edns import MAX_UDP_OCTETS, Option
from kubedns.dns.names import Labels, Name, name_of
from kubedns.dns.question import Question
from kubedns.dns.rdata import AAAA, CNAME, NS, PTR, SOA, SRV, TXT, A, Opaque, Rdata, RecordType
from kubedns.dns.rrset import CLASS_IN, RRset
from kubedns.dns.wire_names import BrokenNameError, name_octets, read_name

_HEADER = Struct("!6H")
_RECORD = Struct("!2HIH")
_TIMES = Struct("!5I")
_SRV = Struct("!3H")
_MAX_TTL = 2**31 - 1
_QR, _TC, _RD, _CD = 0x8000, 0x0200, 0x0100, 0x0010
_NAMED: dict[int, type[CNAME | NS | PTR]] = {RecordType.CNAME: CNAME, RecordType.NS: NS, RecordType.PTR: PTR}
_NAMES_AT = {15: 2, 18: 2, 21: 2, 36: 2, 39: 0}
"""Types whose rdata ends in a name that an old server may have compressed, and where it begins (RFC 3597 §4)."""


class UnreadableReplyError(Exception):
    """A message that is no reply, or breaks a rule of RFC 1035 §4."""


class Reply(msgspec.Struct, frozen=True):
    """What another server said. ``rcode`` with the extended bits.

    ``question`` is its question section as it came; empty from a server that could not read ours. ``flags`` are the
    header's 16 bits.
    """

    id: int
    rcode: int
    truncated: bool
    question: bytes
    answer: tuple[RRset, ...] = ()
    authority: tuple[RRset, ...] = ()
    flags: int = 0


def question_octets(question: Question) -> bytes:
    """The question section that asks ``question``."""
    return name_octets(question.name.labels) + question.type.to_bytes(2) + question.rdclass.to_bytes(2)


def query_octets(
    ident: int,
    question: bytes,
    *,
    dnssec_ok: bool = False,
    checking_disabled: bool = False,
    recursion_desired: bool = True,
    edns: bool = False,
    options: Iterable[Option] = (),
) -> bytes:
    """A query of our own: with these flags, and with EDNS, if it is to have that, with our size and ``options``."""
    flags = (_RD if recursion_desired else 0) | (_CD if checking_disabled else 0)
    if not edns:
        return _HEADER.pack(ident, flags, 1, 0, 0, 0) + question
    written = b"".join(code.to_bytes(2) + len(octets).to_bytes(2) + octets for code, octets in options)
    opt = b"\0" + _RECORD.pack(RecordType.OPT, MAX_UDP_OCTETS, 0x8000 if dnssec_ok else 0, len(written)) + written
    return _HEADER.pack(ident, flags, 1, 0, 0, 1) + question + opt


def read_reply(octets: bytes) -> Reply:
    """Read a reply.

    Raises:
        UnreadableReplyError: it is none, or broken anywhere.
    """
    try:
        return _read(octets)
    except BrokenNameError as cause:
        raise UnreadableReplyError(str(cause)) from cause
    except (IndexError, error) as cause:
        raise UnreadableReplyError("the message ends too early") from cause


def _read(octets: bytes) -> Reply:
    ident, flags, questions, answers, authorities, additionals = _HEADER.unpack_from(octets)
    if not flags & _QR or flags & 0x7800 or questions > 1:
        raise UnreadableReplyError("no reply to a query of one question")
    at = _HEADER.size
    if questions:
        _, at = _name(octets, at)
        at += 4
    question = octets[_HEADER.size : at]
    sections: list[tuple[RRset, ...]] = []
    extended = 0
    for count in (answers, authorities, additionals):
        records, at, code = _records(octets, at, count)
        sections.append(records)
        extended |= code
    return Reply(ident, flags & 0x0F | extended, bool(flags & _TC), question, sections[0], sections[1], flags)


def _records(octets: bytes, at: int, count: int) -> tuple[tuple[RRset, ...], int, int]:
    """The records of a section as RRsets, where it ends, and the upper bits of the rcode if an OPT was among them."""
    found: dict[tuple[Labels, int], tuple[Name, int, list[Rdata]]] = {}
    extended = 0
    for _ in range(count):
        owner, at = _name(octets, at)
        rdtype, rdclass, ttl, length = _RECORD.unpack_from(octets, at)
        at += _RECORD.size
        end = at + length
        if end > len(octets):
            raise UnreadableReplyError("a record runs past the message")
        if rdtype == RecordType.OPT:
            extended = ttl >> 24 << 4
        elif rdclass == CLASS_IN:
            # A TTL with its highest bit set counts as 0 (RFC 2181 §8).
            ttl = ttl if ttl <= _MAX_TTL else 0
            rrset = found.setdefault((owner.key, rdtype), (owner, ttl, []))
            rrset[2].append(read_rdata(octets, at, end, rdtype))
        at = end
    return tuple(RRset(owner, ttl, tuple(rdatas)) for owner, ttl, rdatas in found.values()), at, extended


def read_rdata(octets: bytes, at: int, end: int, rdtype: int) -> Rdata:
    """The rdata of type ``rdtype`` in ``octets`` from ``at`` to ``end``.

    Raises:
        UnreadableReplyError: it is broken.
    """
    if rdtype == RecordType.A and end - at == 4:
        return A(octets[at:end])
    if rdtype == RecordType.AAAA and end - at == 16:
        return AAAA(octets[at:end])
    if rdtype in _NAMED:
        return _NAMED[rdtype](_last_name(octets, at, end))
    if rdtype == RecordType.SRV:
        priority, weight, port = _SRV.unpack_from(octets, at)
        return SRV(priority, weight, port, _last_name(octets, at + _SRV.size, end))
    if rdtype == RecordType.SOA:
        mname, at = _name(octets, at)
        rname, at = _name(octets, at)
        if at + _TIMES.size != end:
            raise UnreadableReplyError("a SOA of the wrong length")
        return SOA(mname, rname, *_TIMES.unpack_from(octets, at))
    if rdtype == RecordType.TXT:
        return TXT(_strings(octets[at:end]))
    if rdtype in _NAMES_AT:
        begin = at + _NAMES_AT[rdtype]
        return Opaque(rdtype, octets[at:begin] + name_octets(_last_name(octets, begin, end).labels))
    if rdtype in (RecordType.A, RecordType.AAAA):
        raise UnreadableReplyError("an address of the wrong length")
    return Opaque(rdtype, octets[at:end])


def _last_name(octets: bytes, at: int, end: int) -> Name:
    name, after = _name(octets, at)
    if after != end:
        raise UnreadableReplyError("rdata of the wrong length")
    return name


def _strings(rdata: bytes) -> tuple[bytes, ...]:
    strings = []
    at = 0
    while at < len(rdata):
        end = at + 1 + rdata[at]
        if end > len(rdata):
            raise UnreadableReplyError("a string runs past its record")
        strings.append(rdata[at + 1 : end])
        at = end
    return tuple(strings)


def _name(octets: bytes, at: int) -> tuple[Name, int]:
    """A name, possibly compressed, and where it ends."""
    labels, end = read_name(octets, at)
    return name_of(labels), end
