"""Responses: (Query, Answer) → octets, and the reply to a message that was rejected. The one module that speaks dnslib.

dnslib packs the rdata and the compressed names; address records, of which there may be thousands, go in as one block.
Whole records are kept or left out, so a response is never longer than the client takes and never broken (RFC 2181 §9).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from struct import Struct
from typing import assert_never

import dnslib
from dnslib.label import DNSBuffer

from kubedns.dns.answer import Answer, Rcode
from kubedns.dns.edns import MAX_UDP_OCTETS, ExtendedError, OptionCode
from kubedns.dns.names import Labels
from kubedns.dns.question import Query
from kubedns.dns.rdata import AAAA, CNAME, NS, PTR, SOA, SRV, TXT, A, Opaque, Rdata
from kubedns.dns.reader import Rejected, UnknownKey
from kubedns.dns.rrset import CLASS_IN, RRset

Arrange = Callable[[Sequence[Rdata]], Sequence[Rdata]]
"""Puts the records of an RRset in the order in which they are given out."""

MAX_MESSAGE_OCTETS = 65535

_HEADER = Struct("!6H")
_TYPE_CLASS = Struct("!2H")
_RECORD = Struct("!2HIH")
_OPT = Struct("!B2HIH")
_OPTION = Struct("!2H")
_QR, _AA, _TC, _RD, _CD = 0x8000, 0x0400, 0x0200, 0x0100, 0x0010
_POINTERS_REACH = 0x3FFF
_BADKEY = 17


def as_found(rdatas: Sequence[Rdata]) -> Sequence[Rdata]:
    """The arrangement that changes nothing."""
    return rdatas


def write_response(query: Query, answer: Answer, limit: int, arrange: Arrange = as_found) -> bytes:
    """The response to ``query``, of at most ``limit`` octets; TC is set where records of the answer were left out.

    The question is given back octet for octet; RD and CD are copied, AD and Z are clear (RFC 1035 §4.1.1, RFC 4035 §3).
    Over TCP (``limit`` 65535) a larger RRset is given in part without TC: there is nothing to fall back to.
    """
    question = query.question
    buffer = _Buffer()
    buffer.data += bytes(_HEADER.size)
    buffer.offset = _HEADER.size
    buffer.encode_name(question.name.labels)
    buffer.append(_TYPE_CLASS.pack(question.type, question.rdclass))
    opt = b"" if query.edns is None else _opt(answer.rcode, query.edns.dnssec_ok, answer.extended_error)
    room = limit - len(opt)
    counts = [0, 0, 0]
    complete = True
    for section, rrsets in enumerate((answer.answer, answer.authority, answer.additional)):
        for rrset in rrsets:
            written = _write_rrset(buffer, rrset, room, arrange)
            counts[section] += written
            complete = written == len(rrset.rdatas)
            if not complete:
                break
        if not complete:
            break
    cut = not complete and section < 2 and limit < MAX_MESSAGE_OCTETS
    flags = _QR | query.flags & (_RD | _CD) | answer.rcode & 0x0F
    flags |= (_AA if answer.authoritative else 0) | (_TC if cut else 0)
    buffer.append(opt)
    _HEADER.pack_into(buffer.data, 0, query.id, flags, 1, counts[0], counts[1], counts[2] + bool(opt))
    return bytes(buffer.data)


def write_rejection(rejected: Rejected) -> bytes:
    """The reply to a message that no plugin sees: its header, its question where that was readable, no records."""
    flags = _QR | rejected.flags & 0x7800 | rejected.rcode & 0x0F
    if rejected.rcode != Rcode.NOTIMP:
        flags |= rejected.flags & (_RD | _CD)
    opt = b"" if rejected.edns is None else _opt(rejected.rcode, rejected.edns.dnssec_ok, None)
    tsig = b"" if rejected.unknown_key is None else _badkey(rejected.unknown_key)
    header = _HEADER.pack(rejected.id, flags, bool(rejected.question), 0, 0, bool(opt) + bool(tsig))
    return header + rejected.question + opt + tsig


class _Buffer(DNSBuffer):  # type: ignore[misc]  # dnslib has no types
    """dnslib's buffer, which here knows how far a pointer reaches and can forget what did not fit."""

    names: dict[Labels, int]

    def encode_name(self, name: dnslib.DNSLabel | Labels) -> None:
        """Append a name, compressed against the ones before it; no pointer reaches beyond octet 16,383."""
        labels = name if isinstance(name, tuple) else name.label
        for position in range(len(labels)):
            suffix = labels[position:]
            seen = self.names.get(suffix)
            if seen is not None:
                self.append((0xC000 | seen).to_bytes(2))
                return
            if self.offset <= _POINTERS_REACH:
                self.names[suffix] = self.offset
            label = labels[position]
            self.append(bytes((len(label),)) + label)
        self.append(b"\0")

    def cut(self, octets: int) -> None:
        """Go back to a length of ``octets``."""
        del self.data[octets:]
        self.offset = octets
        self.names = {suffix: at for suffix, at in self.names.items() if at < octets}


def _write_rrset(buffer: _Buffer, rrset: RRset, room: int, arrange: Arrange) -> int:
    """Append as many of the records as leave the message within ``room`` octets; how many that were."""
    rdatas = rrset.rdatas if len(rrset.rdatas) == 1 else arrange(rrset.rdatas)
    if isinstance(rdatas[0], A | AAAA):
        return _write_addresses(buffer, rrset, rdatas, room)
    for count, rdata in enumerate(rdatas):
        start = buffer.offset
        buffer.encode_name(rrset.owner.labels)
        buffer.append(_RECORD.pack(rdata.type, CLASS_IN, rrset.ttl, 0))
        begin = buffer.offset
        _pack_rdata(buffer, rdata)
        buffer.update(begin - 2, "!H", buffer.offset - begin)
        if buffer.offset > room:
            buffer.cut(start)
            return count
    return len(rdatas)


def _write_addresses(buffer: _Buffer, rrset: RRset, rdatas: Sequence[Rdata], room: int) -> int:
    addresses = [rdata.address for rdata in rdatas if isinstance(rdata, A | AAAA)]
    length = len(addresses[0])
    start = buffer.offset
    buffer.encode_name(rrset.owner.labels)
    # Every further record's owner is a pointer to the same place as the first one's, or to the first one itself.
    owner = bytes(buffer.data[start : buffer.offset])
    if owner[0] < 0xC0 and start <= _POINTERS_REACH:
        owner = (0xC000 | start).to_bytes(2)
    fixed = _RECORD.pack(rdatas[0].type, CLASS_IN, rrset.ttl, length)
    first = len(fixed) + length
    if buffer.offset + first > room:
        buffer.cut(start)
        return 0
    fitting = 1 + min(len(addresses) - 1, (room - buffer.offset - first) // (len(owner) + first))
    head = owner + fixed
    buffer.append(fixed + head.join(addresses[:fitting]))
    return fitting


def _pack_rdata(buffer: _Buffer, rdata: Rdata) -> None:
    match rdata:
        case A() | AAAA():
            buffer.append(rdata.address)
        case CNAME() | NS() | PTR():
            buffer.encode_name(rdata.target.labels)
        case SRV():
            target = dnslib.DNSLabel(rdata.target.labels)
            dnslib.SRV(rdata.priority, rdata.weight, rdata.port, target).pack(buffer)
        case SOA():
            times = (rdata.serial, rdata.refresh, rdata.retry, rdata.expire, rdata.minimum)
            mname, rname = dnslib.DNSLabel(rdata.mname.labels), dnslib.DNSLabel(rdata.rname.labels)
            dnslib.SOA(mname, rname, times).pack(buffer)
        case TXT():
            dnslib.TXT(list(rdata.strings)).pack(buffer)
        case Opaque():
            buffer.append(rdata.octets)
        case _:
            assert_never(rdata)


def _opt(rcode: Rcode, dnssec_ok: bool, error: ExtendedError | None) -> bytes:
    """Our OPT: version 0, DO copied, all other flags clear, no option but an extended error (RFC 6891 §6.1)."""
    options = b""
    if error is not None:
        text = error.text.encode()
        options = _OPTION.pack(OptionCode.EXTENDED_ERROR, 2 + len(text)) + error.code.to_bytes(2) + text
    ttl = rcode >> 4 << 24 | (0x8000 if dnssec_ok else 0)
    return _OPT.pack(0, 41, MAX_UDP_OCTETS, ttl, len(options)) + options


def _badkey(key: UnknownKey) -> bytes:
    """An unsigned TSIG that says BADKEY (RFC 8945 §5.2.1)."""
    rdata = key.algorithm + key.time_signed + (300).to_bytes(2) + bytes(2) + key.original_id + _BADKEY.to_bytes(2)
    rdata += bytes(2)
    return key.owner + _RECORD.pack(250, 255, 0, len(rdata)) + rdata
