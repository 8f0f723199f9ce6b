"""What two servers say to the same question, and what of it differs. Pure.

The additional section does not count, for it holds what happens to fit; nor does a SOA's serial, which is each server's
own. A SOA's minimum is a TTL (RFC 2308 §4).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

import msgspec

from kubedns.dns.question import Question
from kubedns.dns.rdata import SOA, Rdata, RecordType, type_name
from kubedns.dns.reply import Reply
from kubedns.dns.rrset import RRset

_FLAGS = {"aa": 0x0400, "ra": 0x0080, "ad": 0x0020}
"""By which clients decide what to believe; the others are copied from the query, or have been dealt with."""
_HOST_TYPES = (RecordType.A, RecordType.AAAA, RecordType.CNAME)


class Part(Enum):
    """What may differ; the value is what people and ``-o json`` call it."""

    RESPONSE = "response"
    RCODE = "rcode"
    FLAGS = "flags"
    ANSWER = "answer"
    AUTHORITY = "authority"


@dataclass(frozen=True, slots=True)
class Difference:
    """``parts`` of the replies to ``question`` differ. ``old`` or ``new`` is None where that server gave no reply."""

    question: Question
    old: Reply | None
    new: Reply | None
    parts: tuple[Part, ...]


def questions(rrsets: Iterable[RRset]) -> Iterator[Question]:
    """What is asked where these are all records there are: name and type of each, and every host's A and AAAA.

    Whether a host has the other family's addresses, or none, is asked of every host by programs too.
    """
    found: dict[Question, None] = {}
    for rrset in rrsets:
        types = (*_HOST_TYPES[:2], rrset.type) if rrset.type in _HOST_TYPES else (rrset.type,)
        found.update(dict.fromkeys(Question(rrset.owner, rtype) for rtype in types))
    return iter(found)


def difference(question: Question, old: Reply | None, new: Reply | None, with_ttl: bool) -> Difference | None:
    """What differs; None: nothing. TTLs count only ``with_ttl``; that neither server replied counts too."""
    if old is None or new is None:
        return Difference(question, old, new, (Part.RESPONSE,))
    compared = {
        Part.RCODE: old.rcode == new.rcode,
        Part.FLAGS: flags(old) == flags(new),
        Part.ANSWER: compared_records(old.answer, with_ttl).keys() == compared_records(new.answer, with_ttl).keys(),
        Part.AUTHORITY: (
            compared_records(old.authority, with_ttl).keys() == compared_records(new.authority, with_ttl).keys()
        ),
    }
    parts = tuple(part for part, is_same in compared.items() if not is_same)
    return Difference(question, old, new, parts) if parts else None


def flags(reply: Reply) -> tuple[str, ...]:
    """Those flags that are compared, by name."""
    return tuple(name for name, bit in _FLAGS.items() if reply.flags & bit)


def compared_records(section: Iterable[RRset], with_ttl: bool) -> dict[Hashable, str]:
    """The records of a section, each as what is compared of it and as a line of a master file."""
    return {
        (rrset.owner, rrset.ttl if with_ttl else None, _compared(rdata, with_ttl)): _line(rrset, rdata, with_ttl)
        for rrset in section
        for rdata in rrset.rdatas
    }


def _compared(rdata: Rdata, with_ttl: bool) -> Rdata:
    if not isinstance(rdata, SOA):
        return rdata
    return msgspec.structs.replace(rdata, serial=0, minimum=rdata.minimum if with_ttl else 0)


def _line(rrset: RRset, rdata: Rdata, with_ttl: bool) -> str:
    ttl = f" {rrset.ttl}" if with_ttl else ""
    return f"{rrset.owner}{ttl} IN {type_name(rdata.type)} {rdata}"
