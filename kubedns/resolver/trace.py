"""The Trace that ``explain`` prints: everything a query's way said, in order."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Step:
    """``word`` (a plugin, or a part of the resolver) did or decided ``text``."""

    word: str
    text: str


@dataclass(frozen=True, slots=True)
class UsedObject:
    """An object that the answer rests on; ``origin`` is its file and line, or its resourceVersion."""

    kind: str
    namespace: str
    name: str
    origin: str


@dataclass(frozen=True, slots=True)
class Rule:
    """The rule that applies, and the document and section it stands in."""

    source: str
    text: str


@dataclass(frozen=True, slots=True)
class NearMiss:
    """What almost matched, and why it did not."""

    text: str


Event = Step | UsedObject | Rule | NearMiss


@dataclass(slots=True)
class RecordingTrace:
    """Keeps the events of one query, each once."""

    events: list[Event] = field(default_factory=list)
    active: bool = True

    def step(self, word: str, text: str) -> None:
        """``word`` did or decided ``text``."""
        self._keep(Step(word, text))

    def object(self, kind: str, namespace: str, name: str, origin: str) -> None:
        """The answer rests on this object."""
        self._keep(UsedObject(kind, namespace, name, origin))

    def rule(self, source: str, text: str) -> None:
        """The rule that applies."""
        self._keep(Rule(source, text))

    def near_miss(self, text: str) -> None:
        """Something almost matched."""
        self._keep(NearMiss(text))

    def _keep(self, event: Event) -> None:
        if event not in self.events:
            self.events.append(event)
