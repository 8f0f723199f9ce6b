"""Aliases: an answer that ends in a CNAME is completed by asking for its target, by the routes of any other name.

RFC 1034 §3.6.2 and §4.3.2; the rcode is the last name's (RFC 6604).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec

from kubedns.dns.answer import Answer, Rcode, servfail
from kubedns.dns.edns import ErrorCode
from kubedns.dns.question import Query, Question
from kubedns.dns.rdata import RecordType

MAX_LINKS = 8
"""Aliases in a row that are followed; honest configurations need two or three."""

Ask = Callable[[Query], Awaitable[Answer]]
Told = Callable[[int], None] | None


async def completed(query: Query, answer: Answer, ask: Ask) -> Answer:
    """``answer`` with what its alias leads to. An alias loop, or too long a chain, is SERVFAIL."""
    if query.question.type in (RecordType.CNAME, RecordType.ANY):
        return answer
    seen = {query.question.name}
    while answer.follow is not None:
        target = answer.follow
        if target in seen or len(seen) > MAX_LINKS:
            query.trace.step("resolver", f"the alias leads back to {target}, or on for too long: SERVFAIL")
            return servfail(ErrorCode.OTHER, "aliases without end")
        seen.add(target)
        query.trace.step("resolver", f"the alias is followed to {target}")
        question = Question(target, query.question.type, query.question.rdclass)
        answer = joined(answer, await ask(msgspec.structs.replace(query, question=question)))
    return answer


def joined(alias: Answer, target: Answer) -> Answer:
    """An alias and the answer for its target as one; where the target is not served here the alias stands alone."""
    if target.rcode == Rcode.REFUSED:
        return msgspec.structs.replace(alias, follow=None, depends_on=alias.depends_on | target.depends_on)
    lifetimes = [each for each in (alias.lifetime_seconds, target.lifetime_seconds) if each is not None]
    return Answer(
        rcode=target.rcode,
        answer=alias.answer + target.answer,
        authority=target.authority,
        additional=target.additional,
        authoritative=alias.authoritative,
        recursion_available=target.recursion_available,
        depends_on=alias.depends_on | target.depends_on,
        lifetime_seconds=min(lifetimes, default=None),
        varies_by_client=alias.varies_by_client or target.varies_by_client,
        follow=target.follow,
        shuffled=alias.shuffled or target.shuffled,
        rank=alias.rank or target.rank,
        served_again=_both(alias.served_again, target.served_again),
        silent=target.silent,
        plugin=alias.plugin,
        extended_error=target.extended_error,
        max_udp_octets=alias.max_udp_octets,
        server_name=alias.server_name,
        rdclass=alias.rdclass,
    )


def _both(one: Told, other: Told) -> Told:
    """Who is told when the whole is served again: whoever wants to hear of either part, as of a query for it."""
    if one is None or other is None:
        return one or other

    def tell(count: int) -> None:
        one(count)
        other(count)

    return tell
