"""Asking two servers the same questions, many at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from kubedns.cli.comparison import Difference, difference
from kubedns.dns.question import Question
from kubedns.dns.reply import Reply, question_octets
from kubedns.errors import UnreachableError
from kubedns.upstream.exchange import Asked, UpstreamAddress, UpstreamError
from kubedns.upstream.health import HealthRules
from kubedns.upstream.upstream import Manner, Upstream

_UNDER_WAY = 64
"""Questions at a time: a server that works does not notice, and nothing is lost for want of room."""
_TRIES = 3
_MOST_SILENT = 4 * _UNDER_WAY
"""Questions in a row without a reply, after which nobody is there any more."""


class Respondent:
    """A server that is asked; each of three tries may take ``seconds``. Over UDP, and over TCP what is cut off."""

    def __init__(self, address: UpstreamAddress, seconds: float) -> None:
        self._upstream = Upstream(address, Manner(HealthRules(max_fails=0)))
        self._seconds = seconds
        self._silent = _MOST_SILENT - 1
        """Whoever has not replied yet gets no patience."""

    async def ask(self, question: Question) -> Reply | None:
        """Its reply; None: it gives none to this question.

        Raises:
            UnreachableError: nor to any other.
        """
        asked = Asked(question_octets(question))
        failure = UpstreamError()
        for _ in range(_TRIES):
            try:
                reply = await self._upstream.ask(asked, over_tcp=False, seconds=self._seconds)
            except UpstreamError as error:
                failure = error
            else:
                self._silent = 0
                return reply
        self._silent += 1
        if self._silent >= _MOST_SILENT:
            raise UnreachableError(_why(failure), remedy="is a DNS server running there?") from failure
        return None

    def close(self) -> None:
        """End what connections there are."""
        self._upstream.close()


def _why(failure: UpstreamError) -> str:
    """The failure without the number that the system has for it."""
    cause = failure.__cause__
    words = cause.strerror if isinstance(cause, OSError) else None
    return f"{str(failure).removesuffix(str(cause))}{words.lower()}" if words else str(failure)


async def compare(
    questions: Iterable[Question], old: Respondent, new: Respondent, with_ttl: bool = False
) -> list[Difference]:
    """What the servers answer differently, in the order of the questions.

    Raises:
        UnreachableError: one of them does not reply, or not any more.
    """
    found: dict[int, Difference] = {}
    rest = enumerate(questions)

    async def work() -> None:
        for place, question in rest:
            if differs := await _difference(question, old, new, with_ttl):
                found[place] = differs

    try:
        await asyncio.gather(*(work() for _ in range(_UNDER_WAY)))
    finally:
        old.close()
        new.close()
    return [found[place] for place in sorted(found)]


async def _difference(question: Question, old: Respondent, new: Respondent, with_ttl: bool) -> Difference | None:
    """What differs still when it is asked once more: the cluster may have changed between two replies."""
    for _ in range(2):
        replies = await asyncio.gather(old.ask(question), new.ask(question))
        found = difference(question, *replies, with_ttl)
        if found is None or None in replies:
            break
    return found
