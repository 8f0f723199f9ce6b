"""What is believed of a reply, as an answer. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import msgspec

from kubedns.dns.answer import Answer, Rcode
from kubedns.dns.names import Name
from kubedns.dns.question import Question
from kubedns.dns.rdata import CNAME, SOA, Opaque, Rdata, RecordType
from kubedns.dns.reply import Reply
from kubedns.dns.rrset import RRset

_MAX_LINKS = 16


def answer_of(question: Question, reply: Reply, dnssec_ok: bool = False) -> Answer:
    """What a reply says of the question: the chain that starts at it, and the SOA of a denial, nothing else.

    Records of other names could be anybody's (RFC 2181 §5.4.1, RFC 5452 §6). With ``dnssec_ok`` also what proves it to
    whoever validates: signatures, DNAMEs, and which names and types there are not (RFC 4035 §3.1); nobody else gets any
    (RFC 3225 §3).
    """
    chain, last = _chain(question, reply.answer, dnssec_ok)
    soa = tuple(rrset for rrset in reply.authority if rrset.type == SOA.type and last.is_at_or_below(rrset.owner))
    is_positive = any(rrset.owner == last and question.type in (rrset.type, RecordType.ANY) for rrset in chain)
    shown = () if is_positive else soa[:1]
    return Answer(
        rcode=Rcode(reply.rcode),
        answer=chain,
        authority=(*shown, *_proofs(reply.authority, shown)) if dnssec_ok else shown,
        authoritative=False,
        recursion_available=True,
        lifetime_seconds=0,
    )


def _proofs(authority: Sequence[RRset], soa: Sequence[RRset]) -> Iterator[RRset]:
    """Which names and types there are not, and the signatures of that and of the ``soa``."""
    signed = {RecordType.NSEC, RecordType.NSEC3, *(rrset.type for rrset in soa)}
    for rrset in authority:
        if rrset.type in (RecordType.NSEC, RecordType.NSEC3):
            yield rrset
        elif rrset.type == RecordType.RRSIG:
            rdatas = tuple(each for each in rrset.rdatas if _covers(each) in signed)
            if rdatas:
                yield msgspec.structs.replace(rrset, rdatas=rdatas)


def _covers(signature: Rdata) -> int:
    """The type of the records that are signed (RFC 4034 §3.1.1)."""
    return int.from_bytes(signature.octets[:2]) if isinstance(signature, Opaque) else 0


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


def _chain(question: Question, rrsets: Sequence[RRset], dnssec_ok: bool) -> tuple[tuple[RRset, ...], Name]:
    """The RRsets from the question's name along its aliases, and the name that they end at."""
    by_owner: dict[Name, list[RRset]] = {}
    for rrset in rrsets:
        by_owner.setdefault(rrset.owner, []).append(rrset)
    chain: list[RRset] = []
    name = question.name
    for _ in range(_MAX_LINKS):
        if dnssec_ok:
            chain += _renaming(name, by_owner)
        found = by_owner.pop(name, [])
        wanted = [rrset for rrset in found if question.type in (rrset.type, RecordType.ANY)]
        aliases = [rrset for rrset in found if rrset.type == CNAME.type]
        chain += wanted or aliases
        if dnssec_ok:
            chain += [rrset for rrset in found if rrset.type == RecordType.RRSIG and rrset not in wanted]
        target = aliases[0].rdatas[0] if aliases and not wanted else None
        if not isinstance(target, CNAME):
            break
        name = target.target
    return tuple(chain), name


def _renaming(name: Name, by_owner: dict[Name, list[RRset]]) -> list[RRset]:
    """The DNAME that an alias of ``name`` was made of, with its signature (RFC 6672 §5.3.1)."""
    for owner in by_owner:
        found = by_owner[owner]
        if owner != name and name.is_at_or_below(owner) and any(rrset.type == RecordType.DNAME for rrset in found):
            return [rrset for rrset in by_owner.pop(owner) if rrset.type in (RecordType.DNAME, RecordType.RRSIG)]
    return []
