"""What is believed of a reply, as an answer. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from kubedns.dns.answer import Answer, Rcode
from kubedns.dns.names import Name
from kubedns.dns.question import Question
from kubedns.dns.rdata import CNAME, SOA, RecordType
from kubedns.dns.reply import Reply
from kubedns.dns.rrset import RRset

_MAX_LINKS = 16


def answer_of(question: Question, reply: Reply) -> Answer:
    """What a reply says of the question: the chain that starts at it, and the SOA of a denial, nothing else.

    Records of other names could be anybody's (RFC 2181 §5.4.1, RFC 5452 §6).
    """
    chain, last = _chain(question, reply.answer)
    soa = tuple(rrset for rrset in reply.authority if rrset.type == SOA.type and last.is_at_or_below(rrset.owner))
    is_positive = any(rrset.owner == last and question.type in (rrset.type, RecordType.ANY) for rrset in chain)
    return Answer(
        rcode=Rcode(reply.rcode),
        answer=chain,
        authority=() if is_positive else soa[:1],
        authoritative=False,
        recursion_available=True,
        lifetime_seconds=0,
    )


def up_to(zones: Collection[Name], answer: Answer) -> Answer:
    """The answer up to the first alias that leads into one of ``zones``, which others have no say in.

    That alias is still to be followed.
    """
    for rrset in answer.answer:
        target = rrset.rdatas[0].target if isinstance(rrset.rdatas[0], CNAME) else None
        if target is not None and target.is_within(zones):
            owners = [each.owner for each in answer.answer]
            before = answer.answer[: owners.index(target)] if target in owners else answer.answer
            return msgspec.structs.replace(answer, rcode=Rcode.NOERROR, answer=before, authority=(), follow=target)
    return answer


def spelt_as(name: Name, answer: Answer) -> Answer:
    """The answer with records of ``name`` in its spelling: the question may have been asked first in another."""
    if all(rrset.owner.labels == name.labels or rrset.owner != name for rrset in answer.answer):
        return answer
    rrsets = tuple(
        msgspec.structs.replace(rrset, owner=name) if rrset.owner == name else rrset for rrset in answer.answer
    )
    return msgspec.structs.replace(answer, answer=rrsets)


def _chain(question: Question, rrsets: Sequence[RRset]) -> tuple[tuple[RRset, ...], Name]:
    """The RRsets from the question's name along its aliases, and the name that they end at."""
    by_owner: dict[Name, list[RRset]] = {}
    for rrset in rrsets:
        by_owner.setdefault(rrset.owner, []).append(rrset)
    chain: list[RRset] = []
    name = question.name
    for _ in range(_MAX_LINKS):
        found = by_owner.pop(name, [])
        wanted = [rrset for rrset in found if question.type in (rrset.type, RecordType.ANY)]
        aliases = [rrset for rrset in found if rrset.type == CNAME.type]
        signatures = [rrset for rrset in found if rrset.type == RecordType.RRSIG]
        chain += (wanted or aliases) + signatures
        target = aliases[0].rdatas[0] if aliases and not wanted else None
        if not isinstance(target, CNAME):
            break
        name = target.target
    return tuple(chain), name
