"""A stream of questions on one wire, so many on their way at once; every response is looked at."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from kubedns.dns.answer import Rcode
from tests.soak.questions import Question
from tests.soak.wires import Wire

PATIENCE_SECONDS = 10.0
"""A question without a response by then is lost; the server itself gives an upstream less than four."""
_MOST_TOLD = 5


@dataclass(slots=True)
class Tally:
    """What became of the questions. ``failed``: responses that are SERVFAIL, where that is allowed."""

    answered: int = 0
    failed: int = 0
    lost: int = 0
    wrong: int = 0
    told: list[str] = field(default_factory=list)
    """The first of the ``lost`` and ``wrong``."""

    def tell(self, text: str) -> None:
        if len(self.told) < _MOST_TOLD:
            self.told.append(text)


class Stream:
    """Asks ``questions`` through ``wire``, at most ``in_flight`` at once, as many as it is told to."""

    def __init__(self, wire: Wire, questions: Iterator[Question], in_flight: int) -> None:
        self.wire = wire
        self.tally = Tally()
        self._questions = questions
        self._in_flight = in_flight
        self._left = 0
        self._number = 0
        self._waiting: dict[int, tuple[Question, float]] = {}

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to ask or to wait for."""
        return not self._left and not self._waiting

    def begin(self, count: int) -> None:
        """Ask so many questions, from a new port."""
        self.wire.renew()
        self._left = count
        self._ask()

    def pump(self) -> None:
        """Take what has come, and ask as many more."""
        for response in self.wire.receive():
            self._take(response)
        self._ask()
        if self._left and not self._waiting:
            self.wire.renew()
            self._ask()

    def give_up(self, now: float) -> None:
        """Count as lost what was asked too long ago."""
        for number, (question, since) in list(self._waiting.items()):
            if now - since > PATIENCE_SECONDS:
                del self._waiting[number]
                self.tally.lost += 1
                self.tally.tell(f"lost: {question.echo!r}")
        self._ask()

    def _ask(self) -> None:
        now = time.monotonic()
        while self._left and len(self._waiting) < self._in_flight and self.wire.takes:
            self._number = (self._number + 1) & 0xFFFF
            question = next(self._questions)
            self._waiting[self._number] = (question, now)
            self._left -= 1
            self.wire.send(self._number.to_bytes(2) + question.octets)

    def _take(self, response: bytes) -> None:
        question, _ = self._waiting.pop(int.from_bytes(response[:2]))
        self.tally.answered += 1
        rcode = response[3] & 0x0F
        is_right = rcode in question.rcodes and response[12 : 12 + len(question.echo)] == question.echo
        if rcode == Rcode.NOERROR and is_right:
            is_right = (response[6:8] != b"\0\0") is question.has_records
        self.tally.failed += rcode == Rcode.SERVFAIL
        if not is_right:
            self.tally.wrong += 1
            self.tally.tell(f"wrong: {question.echo!r} got {response.hex()}")
