"""Trace: what a query's way is told to, for ``kubedns explain``; the null one costs nothing."""

from __future__ import annotations

from typing import Protocol


class Trace(Protocol):
    """Hears which plugin, object and rule made an answer. Callers test ``active`` before they make up a text."""

    active: bool

    def step(self, word: str, text: str) -> None:
        """``word`` (a plugin, or a part of the resolver) did or decided ``text``."""

    def object(self, kind: str, namespace: str, name: str, origin: str) -> None:
        """The answer rests on this object; ``origin`` is its file and line, or its resourceVersion."""

    def rule(self, source: str, text: str) -> None:
        """The rule that applies: ``source`` is the document and section, ``text`` what it says, in our words."""

    def near_miss(self, text: str) -> None:
        """Something almost matched; what, and why it did not."""


class NullTrace:
    """The trace of an ordinary query."""

    active = False

    def step(self, word: str, text: str) -> None:
        """Hear nothing."""

    def object(self, kind: str, namespace: str, name: str, origin: str) -> None:
        """Hear nothing."""

    def rule(self, source: str, text: str) -> None:
        """Hear nothing."""

    def near_miss(self, text: str) -> None:
        """Hear nothing."""


NO_TRACE: Trace = NullTrace()
