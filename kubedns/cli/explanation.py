"""What ``explain`` found out, as values: the candidates that were asked for, with their answers and what made them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from kubedns.cli.search_list import Candidate, Outcome, still_asked
from kubedns.dns.answer import Answer, Rcode
from kubedns.dns.names import Name
from kubedns.resolver.trace import Event, RecordingTrace

LookUp = Callable[[Name, RecordingTrace], Awaitable[Answer]]
"""The server's own answer for a name, its way told to a trace."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What was typed, and where: ``type`` by number, ``search`` in order, ``namespace`` of the pod."""

    typed: str
    type: int
    namespace: str
    search: tuple[Name, ...]
    ndots: int


@dataclass(frozen=True, slots=True)
class Tried:
    """A candidate that was asked for, its answer, and the events on the answer's way, in order."""

    candidate: Candidate
    answer: Answer
    events: tuple[Event, ...]

    @property
    def outcome(self) -> Outcome:
        """How a resolver takes the answer."""
        return outcome_of(self.answer)


@dataclass(frozen=True, slots=True)
class Followed:
    """An API server that answers come from, and for how many seconds it has said nothing; None: never listed."""

    server: str
    silent_seconds: float | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """All that was tried for ``asked``, in order. ``not_tried``: candidates that nobody came to ask for.

    ``followed``: the API servers behind it, if any.
    """

    asked: Asked
    tried: tuple[Tried, ...]
    not_tried: tuple[Candidate, ...] = ()
    followed: tuple[Followed, ...] = ()

    @property
    def found(self) -> bool:
        """Whether the last candidate tried has an answer."""
        return bool(self.tried) and self.tried[-1].outcome is Outcome.ANSWER


async def explained(asked: Asked, candidates: tuple[Candidate, ...], look_up: LookUp) -> Explanation:
    """Ask for each of ``candidates`` as a resolver would, until one has an answer."""
    tried: list[Tried] = []
    rest = candidates
    while rest:
        candidate, *others = rest
        trace = RecordingTrace()
        answer = await look_up(candidate.name, trace)
        tried.append(Tried(candidate, answer, tuple(trace.events)))
        rest = tuple(still_asked(candidate, tried[-1].outcome, others))
    asked_for = {each.candidate for each in tried}
    return Explanation(asked, tuple(tried), tuple(each for each in candidates if each not in asked_for))


def outcome_of(answer: Answer) -> Outcome:
    """How a resolver takes an answer: by rcode and whether there is any record (an alias alone is one)."""
    if answer.silent:
        return Outcome.DROPPED
    match answer.rcode:
        case Rcode.NOERROR:
            return Outcome.ANSWER if answer.answer else Outcome.NODATA
        case Rcode.NXDOMAIN:
            return Outcome.NXDOMAIN
        case Rcode.SERVFAIL:
            return Outcome.SERVFAIL
        case _:
            return Outcome.REFUSED
