"""Responses: (Query, Answer) → octets, and the reply to a message that was rejected. The one module that speaks dnslib.

Address records, of which there may be thousands, go in as one block; dnslib packs what is seldom asked for.
Whole records are kept or left out, so a response is never longer than the client takes and never broken (RFC 2181 §9).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from struct import Struct
from typing import assert_never

import dnslib
from dnslib.label import DNSBuffer

from kubedns.dns.answer import Answer, Rcode
from kubedns.dns.edns import MAX_UDP_OCTETS, OptionCode
from kubedns.dns.names import Labels
from kubedns.dns.question import Query
from kubedns.dns.rdata import AAAA, CNAME, NS, PTR, SOA, SRV, TXT, A, Opaque, Rdata
from kubedns.dns.reader import Rejected, UnknownKey
from kubedns.dns.rrset import RRset
from kubedns.dns.wire_names import name_octets

Arrange = Callable[[Sequence[Rdata]], Sequence[Rdata]]
"""Puts the records of an RRset in the order in which they are given out."""

MAX_MESSAGE_OCTETS = 65535

_HEADER = Struct("!6H")
_TYPE_CLASS = Struct("!2H")
_RECORD = Struct("!2HIH")
_TIMES = Struct("!5I")
_SRV = Struct("!3H")
_OPT = Struct("!B2HIH")
_OPTION = Struct("!2H")
_QR, _AA, _TC, _RD, _RA, _CD = 0x8000, 0x0400, 0x0200, 0x0100, 0x0080, 0x0010
_POINTERS_REACH = 0x3FFF
_TURN = 32
"""RRsets that are written at a time, some milliseconds of work with what it takes to find them."""
_BADKEY = 17


def as_found(rdatas: Sequence[Rdata]) -> Sequence[Rdata]:
    """The arrangement that changes nothing."""
    return rdatas


def write_response(query: Query, answer: Answer, limit: int, arrange: Arrange = as_found) -> bytes:
    """The response to ``query``, of at most ``limit`` octets; TC is set where records of the answer were left out.

    The question is given back octet for octet; RD and CD are copied, AD and Z are clear (RFC 1035 §4.1.1, RFC 4035 §3).
    Over TCP (``limit`` 65535) a larger RRset is given in part without TC: there is nothing to fall back to.
    """
    buffer = _begin_response(query, answer)
    opt = b"" if query.edns is None else _opt(answer.rcode, query.edns.dnssec_ok, _options(query, answer))
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
    return _finish_response(buffer, query, answer, counts, _TC if cut else 0, opt)


def write_responses(query: Query, answer: Answer) -> Iterator[bytes]:
    """The messages that give all of ``answer.records``, each as full as it can be (RFC 5936 §2.2).

    Now and then an empty one comes in between: work has been done, and others may have their turn.

    Raises:
        ValueError: a record is longer than a message.
    """
    opt = b"" if query.edns is None else _opt(answer.rcode, query.edns.dnssec_ok, _options(query, answer))
    room = MAX_MESSAGE_OCTETS - len(opt)
    buffer, count = _begin_response(query, answer), 0
    for number, rrset in enumerate(answer.records or (), 1):
        left = rrset
        while (written := _write_rrset(buffer, left, room, as_found)) < len(left.rdatas):
            if not count + written:
                raise ValueError(f"{rrset.owner} has a record that is longer than a message")
            yield _finish_response(buffer, query, answer, (count + written, 0, 0), 0, opt)
            buffer, count = _begin_response(query, answer), 0
            left = RRset(rrset.owner, rrset.ttl, left.rdatas[written:])
        count += written
        if number % _TURN == 0:
            yield b""
    yield _finish_response(buffer, query, answer, (count, 0, 0), 0, opt)


def write_rejection(rejected: Rejected) -> bytes:
    """The reply to a message that no plugin sees: its header, its question where that was readable, no records."""
    flags = _QR | rejected.flags & 0x7800 | rejected.rcode & 0x0F
    if rejected.rcode != Rcode.NOTIMP:
        flags |= rejected.flags & (_RD | _CD)
    opt = b"" if rejected.edns is None else _opt(rejected.rcode, rejected.edns.dnssec_ok, b"")
    tsig = b"" if rejected.unknown_key is None else _badkey(rejected.unknown_key)
    header = _HEADER.pack(rejected.id, flags, bool(rejected.question), 0, 0, bool(opt) + bool(tsig))
    return header + rejected.question + opt + tsig


def _begin_response(query: Query, answer: Answer) -> _Buffer:
    """A response with room for its header, and the question."""
    question = query.question
    buffer = _Buffer(question.name.labels, question.rdclass if answer.rdclass is None else answer.rdclass)
    buffer.data += _TYPE_CLASS.pack(question.type, question.rdclass)
    return buffer


def _finish_response(
    buffer: _Buffer, query: Query, answer: Answer, counts: Sequence[int], cut: int, opt: bytes
) -> bytes:
    """The message, with its header and its OPT; ``counts``: the records of each section, ``cut``: TC or 0."""
    flags = _QR | query.flags & (_RD | _CD) | answer.rcode & 0x0F
    flags |= (_AA if answer.authoritative else 0) | cut | (_RA if answer.recursion_available else 0)
    buffer.data += opt
    _HEADER.pack_into(buffer.data, 0, query.id, flags, 1, counts[0], counts[1], counts[2] + bool(opt))
    return bytes(buffer.data)


class _Buffer:
    """A response in the making, begun with a header to fill in and the ``question``'s name; records have ``rdclass``.

    ``names`` tells what stands where. It knows how far a pointer reaches and can forget what did not fit.
    """

    __slots__ = ("_unlisted", "data", "names", "rdclass")

    def __init__(self, question: Labels, rdclass: int) -> None:
        self.rdclass = rdclass
        self.data = bytearray(_HEADER.size)
        self.data += name_octets(question)
        self.names = {question: _HEADER.size} if question else {}
        # Most responses name nothing but what was asked, so its suffixes are listed on demand.
        self._unlisted = question

    def encode_name(self, labels: Labels) -> None:
        """Append a name, compressed against the ones before it; no pointer reaches beyond octet 16,383."""
        names, data = self.names, self.data
        seen = names.get(labels)
        if seen is not None:
            data += (0xC000 | seen).to_bytes(2)
            return
        if self._unlisted:
            self._list_suffixes(self._unlisted)
        for position, label in enumerate(labels):
            suffix = labels[position:]
            seen = names.get(suffix)
            if seen is not None:
                data += (0xC000 | seen).to_bytes(2)
                return
            if len(data) <= _POINTERS_REACH:
                names[suffix] = len(data)
            data.append(len(label))
            data += label
        data.append(0)

    def _list_suffixes(self, question: Labels) -> None:
        self._unlisted = ()
        at = _HEADER.size
        for position, label in enumerate(question):
            self.names[question[position:]] = at
            at += 1 + len(label)

    def cut(self, octets: int) -> None:
        """Go back to a length of ``octets``."""
        del self.data[octets:]
        self.names = {suffix: at for suffix, at in self.names.items() if at < octets}


def _write_rrset(buffer: _Buffer, rrset: RRset, room: int, arrange: Arrange) -> int:
    """Append as many of the records as leave the message within ``room`` octets; how many that were."""
    rdatas: Sequence[Rdata] = rrset.rdatas
    if len(rdatas) > 1:
        rdatas = arrange(rdatas)
        if isinstance(rdatas[0], A | AAAA):
            return _write_addresses(buffer, rrset, rdatas, room)
    data = buffer.data
    for count, rdata in enumerate(rdatas):
        start = len(data)
        buffer.encode_name(rrset.owner.labels)
        data += _RECORD.pack(rdata.type, buffer.rdclass, rrset.ttl, 0)
        begin = len(data)
        _pack_rdata(buffer, rdata)
        data[begin - 2 : begin] = (len(data) - begin).to_bytes(2)
        if len(data) > room:
            buffer.cut(start)
            return count
    return len(rdatas)


def _write_addresses(buffer: _Buffer, rrset: RRset, rdatas: Sequence[Rdata], room: int) -> int:
    addresses = [rdata.address for rdata in rdatas if isinstance(rdata, A | AAAA)]
    length = len(addresses[0])
    data = buffer.data
    start = len(data)
    buffer.encode_name(rrset.owner.labels)
    # Every further record's owner is a pointer to the same place as the first one's, or to the first one itself.
    owner = bytes(data[start:])
    if owner[0] < 0xC0 and start <= _POINTERS_REACH:
        owner = (0xC000 | start).to_bytes(2)
    fixed = _RECORD.pack(rdatas[0].type, buffer.rdclass, rrset.ttl, length)
    first = len(fixed) + length
    if len(data) + first > room:
        buffer.cut(start)
        return 0
    fitting = 1 + min(len(addresses) - 1, (room - len(data) - first) // (len(owner) + first))
    data += fixed + (owner + fixed).join(addresses[:fitting])
    return fitting


def _pack_rdata(buffer: _Buffer, rdata: Rdata) -> None:
    match rdata:
        case A() | AAAA():
            buffer.data += rdata.address
        case CNAME() | NS() | PTR():
            buffer.encode_name(rdata.target.labels)
        case SRV():  # whose target is never compressed (RFC 2782)
            buffer.data += _SRV.pack(rdata.priority, rdata.weight, rdata.port) + name_octets(rdata.target.labels)
        case SOA():
            buffer.encode_name(rdata.mname.labels)
            buffer.encode_name(rdata.rname.labels)
            buffer.data += _TIMES.pack(rdata.serial, rdata.refresh, rdata.retry, rdata.expire, rdata.minimum)
        case TXT():
            packed = DNSBuffer()
            dnslib.TXT(list(rdata.strings)).pack(packed)
            buffer.data += packed.data
        case Opaque():
            buffer.data += rdata.octets
        case _:
            assert_never(rdata)


def _options(query: Query, answer: Answer) -> bytes:
    """Options of our OPT: none but an extended error, and the server's name for those who ask for it."""
    options = b""
    if answer.extended_error is not None:
        text = answer.extended_error.text.encode()
        options = _OPTION.pack(OptionCode.EXTENDED_ERROR, 2 + len(text)) + answer.extended_error.code.to_bytes(2) + text
    if answer.server_name and query.asks_server_name:
        options += _OPTION.pack(OptionCode.NSID, len(answer.server_name)) + answer.server_name
    return options


def _opt(rcode: Rcode, dnssec_ok: bool, options: bytes) -> bytes:
    """Our OPT: version 0, DO copied, all other flags clear (RFC 6891 §6.1)."""
    ttl = rcode >> 4 << 24 | (0x8000 if dnssec_ok else 0)
    return _OPT.pack(0, 41, MAX_UDP_OCTETS, ttl, len(options)) + options


def _badkey(key: UnknownKey) -> bytes:
    """An unsigned TSIG that says BADKEY (RFC 8945 §5.2.1)."""
    rdata = key.algorithm + key.time_signed + (300).to_bytes(2) + bytes(2) + key.original_id + _BADKEY.to_bytes(2)
    rdata += bytes(2)
    return key.owner + _RECORD.pack(250, 255, 0, len(rdata)) + rdata
