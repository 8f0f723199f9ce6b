"""The forwarder: a question goes to upstreams until one gives an answer, and equal questions under way share it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic

import msgspec

from kubedns.dns.answer import Answer, Rcode, rcode_name
from kubedns.dns.edns import ErrorCode, ExtendedError
from kubedns.dns.names import Labels, Name
from kubedns.dns.question import Query, Question
from kubedns.dns.rdata import CNAME, SOA, RecordType
from kubedns.dns.reply import Reply, question_octets
from kubedns.dns.rrset import RRset
from kubedns.upstream.exchange import Asked, UpstreamError
from kubedns.upstream.policy import Order
from kubedns.upstream.upstream import Upstream

_ANSWERS = (Rcode.NOERROR, Rcode.NXDOMAIN)
_MAX_LINKS = 16

_Key = tuple[Labels, int, int, bool, bool, bool]


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds that a question may take: ``total`` in all, since a client's resolver waits 5, and ``each`` upstream."""

    total: float = 3.8
    each: float = 2.0


@dataclass(frozen=True, slots=True)
class Attempts:
    """``failover``: answers that another upstream may better. ``most``: upstreams asked for one query; 0: all.

    ``fails_fast``: whether nobody is asked while all are down.
    """

    failover: frozenset[Rcode] = frozenset()
    most: int = 0
    fails_fast: bool = False


def _nobody_is_told() -> None:
    pass


class Forwarder:
    """Asks ``upstreams`` in the ``order``; ``all_down`` is called for each question that finds none well."""

    def __init__(
        self,
        upstreams: Sequence[Upstream],
        order: Order,
        attempts: Attempts | None = None,
        patience: Patience | None = None,
        all_down: Callable[[], None] = _nobody_is_told,
    ) -> None:
        self.upstreams = upstreams
        self._order = order
        self._attempts = attempts or Attempts()
        self._patience = patience or Patience()
        self._all_down = all_down
        self._under_way: dict[_Key, asyncio.Task[Answer]] = {}

    @property
    def under_way(self) -> int:
        """Questions that wait for an upstream now; equal ones count once."""
        return len(self._under_way)

    async def answer(self, query: Query, over_tcp: bool) -> Answer:
        """The upstreams' answer in the spelling of the question, or SERVFAIL with the reason."""
        question = query.question
        dnssec_ok = query.dnssec_ok
        key = (question.name.key, question.type, question.rdclass, dnssec_ok, query.checking_disabled, over_tcp)
        task = self._under_way.get(key)
        if task is None:
            asked = Asked(question_octets(question), dnssec_ok, query.checking_disabled)
            task = asyncio.get_running_loop().create_task(self._ask(question, asked, over_tcp))
            self._under_way[key] = task
            task.add_done_callback(lambda _: self._under_way.pop(key, None))
        # Whoever gives up waiting must not end it for the others.
        answer = await asyncio.shield(task)
        return spelt_as(question.name, answer)

    async def _ask(self, question: Question, asked: Asked, over_tcp: bool) -> Answer:
        deadline = monotonic() + self._patience.total
        reason = "every upstream is down"
        last: Reply | None = None
        for upstream in self._candidates():
            left = deadline - monotonic()
            if left <= 0:
                break
            try:
                last = await upstream.ask(asked, over_tcp, min(self._patience.each, left))
            except UpstreamError as error:
                reason = str(error)
                continue
            if last.rcode in _ANSWERS and last.rcode not in self._attempts.failover:
                return answer_of(question, last)
            reason = f"{upstream.address} says {rcode_name(last.rcode)}"
        if last is not None and last.rcode in _ANSWERS:
            return answer_of(question, last)
        refused = last is not None and last.rcode == Rcode.REFUSED
        return Answer(
            rcode=Rcode.REFUSED if refused else Rcode.SERVFAIL,
            authoritative=False,
            recursion_available=True,
            lifetime_seconds=0,
            extended_error=ExtendedError(ErrorCode.NO_REACHABLE_AUTHORITY, reason),
        )

    def _candidates(self) -> list[Upstream]:
        """The upstreams that are well, in order; if there are none, all: one of them may be well by now."""
        ordered = self._order.arrange([upstream for upstream in self.upstreams if not upstream.is_off])
        well = [upstream for upstream in ordered if not upstream.is_down]
        if not well:
            self._all_down()
            well = [] if self._attempts.fails_fast else ordered
        return well[: self._attempts.most] if self._attempts.most else well


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


def spelt_as(name: Name, answer: Answer) -> Answer:
    """The answer with records of ``name`` in its spelling: the question may have been asked first in another."""
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
