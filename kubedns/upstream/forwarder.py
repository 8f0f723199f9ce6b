"""The forwarder: a question goes to upstreams until one gives an answer, and equal questions under way share it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

from kubedns.dns.answer import Answer, Rcode, rcode_name
from kubedns.dns.edns import ErrorCode, ExtendedError, Option
from kubedns.dns.names import Labels
from kubedns.dns.question import Query, Question
from kubedns.dns.reply import Reply, question_octets
from kubedns.upstream.answers import answer_of, spelt_as
from kubedns.upstream.exchange import Asked, UpstreamError
from kubedns.upstream.policy import Order
from kubedns.upstream.upstream import Upstream

_ANSWERS = (Rcode.NOERROR, Rcode.NXDOMAIN)

_Key = tuple[Labels, int, int, bool, bool, bool, tuple[Option, ...]]


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
        self._under_way: dict[_Key, _UnderWay] = {}

    @property
    def under_way(self) -> int:
        """Questions that wait for an upstream now; equal ones count once."""
        return len(self._under_way)

    async def answer(self, query: Query, over_tcp: bool) -> Answer:
        """The upstreams' answer in the spelling of the question, or SERVFAIL with the reason."""
        question = query.question
        dnssec_ok = query.dnssec_ok
        flags = (dnssec_ok, query.checking_disabled, over_tcp)
        key = (question.name.key, question.type, question.rdclass, *flags, query.options)
        under_way = self._under_way.get(key)
        if under_way is None:
            asked = Asked(question_octets(question), dnssec_ok, query.checking_disabled, options=query.options)
            under_way = self._under_way[key] = _UnderWay(self._ask_for_all(key, question, asked, over_tcp))
        return spelt_as(question.name, await under_way.answer())

    async def _ask_for_all(self, key: _Key, question: Question, asked: Asked, over_tcp: bool) -> None:
        """Ask, and give the answer, or the error, to whoever waits for it."""
        try:
            answer = await self._ask(question, asked, over_tcp)
        except asyncio.CancelledError:
            self._under_way.pop(key).cancel()
            raise
        except Exception as error:
            self._under_way.pop(key).fail(error)
        else:
            self._under_way.pop(key).give(answer)

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
                return answer_of(question, last, asked.dnssec_ok)
            reason = f"{upstream.address} says {rcode_name(last.rcode)}"
        if last is not None and last.rcode in _ANSWERS:
            return answer_of(question, last, asked.dnssec_ok)
        refused = last is not None and last.rcode == Rcode.REFUSED
        return Answer(
            rcode=Rcode.REFUSED if refused else Rcode.SERVFAIL,
            authoritative=False,
            recursion_available=True,
            lifetime_seconds=0,
            # Whoever keeps failures keeps what an upstream said for longer than that none said anything.
            extended_error=ExtendedError(ErrorCode.NO_REACHABLE_AUTHORITY if last is None else ErrorCode.OTHER, reason),
        )

    def _candidates(self) -> list[Upstream]:
        """The upstreams that are well, in order; if there are none, all: one of them may be well by now."""
        ordered = self._order.arrange([upstream for upstream in self.upstreams if not upstream.is_off])
        well = [upstream for upstream in ordered if not upstream.is_down]
        if not well:
            self._all_down()
            well = [] if self._attempts.fails_fast else ordered
        return well[: self._attempts.most] if self._attempts.most else well


class _UnderWay:
    """A question that is being asked, by a Task of its own: whoever gives up waiting does not end it for the others."""

    __slots__ = ("_task", "_waiting")

    def __init__(self, asking: Coroutine[Any, Any, None]) -> None:
        self._task = asyncio.get_running_loop().create_task(asking)
        self._waiting: list[asyncio.Future[Answer]] = []

    def answer(self) -> asyncio.Future[Answer]:
        """The answer, once it is there."""
        waiting = asyncio.get_running_loop().create_future()
        self._waiting.append(waiting)
        return waiting

    def give(self, answer: Answer) -> None:
        """The answer is there."""
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_result(answer)

    def cancel(self) -> None:
        """There will be none, because the loop ends."""
        for waiting in self._waiting:
            waiting.cancel()

    def fail(self, error: Exception) -> None:
        """There will be none, because of an error in the program."""
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_exception(error)
