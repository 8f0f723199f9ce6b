"""What stands after ``cache`` and in the lines of its block."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from kubedns.corefile.blocks import Directive, Word
from kubedns.corefile.shapes import Shape, Zones, unfit
from kubedns.corefile.values import Choice, Count, Duration, Seconds
from kubedns.dns.names import Name

CAPACITY = 9984
MIN_TTL = 5
_PAUSE_SECONDS = 60.0
_SHARE = 0.1
_PATIENCE_SECONDS = 1.8
"""How long a client waits for what is verified, unless told otherwise (RFC 8767 §5)."""


class Class(Enum):
    """Kinds of answers that are kept apart."""

    SUCCESS = "success"
    DENIAL = "denial"


@dataclass(frozen=True, slots=True)
class Bounds:
    """How many answers of a kind are kept, and between which TTLs."""

    capacity: int = CAPACITY
    max_ttl: int | None = None
    min_ttl: int = MIN_TTL


@dataclass(frozen=True, slots=True)
class Prefetch:
    """Asked for ahead is what was asked ``amount`` times without a pause of ``pause`` seconds; 0: nothing.

    ``share``: the last part of its time in which that is done, 0.1..0.9.
    """

    amount: int = 0
    pause: float = _PAUSE_SECONDS
    share: float = _SHARE


class RefreshMode(Enum):
    """Whether the upstream is asked after what has ended is given, or before."""

    IMMEDIATE = "immediate"
    VERIFY = "verify"


@dataclass(frozen=True, slots=True)
class Stale:
    """What ended up to ``seconds`` ago is given; 0: nothing. ``mode``: before or after the upstream is asked.

    ``patience``: seconds that the upstream is given to verify it.
    """

    seconds: float = 0.0
    mode: RefreshMode = RefreshMode.IMMEDIATE
    patience: float = _PATIENCE_SECONDS


@dataclass(frozen=True, slots=True)
class Scope:
    """The longest TTL, if one is set, and the zones whose names are kept."""

    max_ttl: int | None = None
    zones: tuple[Name, ...] = ()


@dataclass(frozen=True, slots=True)
class Disabled:
    """Answers of this kind to names of ``zones`` (empty: all) are not kept."""

    kind: Class
    zones: tuple[Name, ...]


class ScopeWords(Shape[Scope]):
    """``[TTL] [ZONES...]``."""

    syntax = "[TTL] [ZONES...]"

    def read(self, line: Directive) -> Scope:
        """TTL and zones."""
        words = self.words(line)
        if words and words[0].text.isdigit():
            return Scope(Seconds(at_least=1).convert(words[0]), Zones().read(Directive(line.word, words[1:])))
        return Scope(None, Zones().read(line))


class PrefetchWords(Shape[Prefetch]):
    """``AMOUNT [DURATION] [PERCENTAGE%]``."""

    syntax = "AMOUNT [DURATION] [PERCENTAGE%]"

    def read(self, line: Directive) -> Prefetch:
        """What is asked for ahead, and when."""
        amount, *rest = self.words(line, 1, 3)
        share = _percentage(rest.pop()) if rest and rest[-1].text.endswith("%") else _SHARE
        if len(rest) > 1:
            raise unfit(rest[1], "no percentage", "write it like 20%")
        pause = Duration().convert(rest[0]) if rest else _PAUSE_SECONDS
        return Prefetch(Count().convert(amount), pause, share)


def _percentage(word: Word) -> float:
    text = word.text.removesuffix("%")
    if not text.isascii() or not text.isdigit() or not 10 <= int(text) <= 90:
        raise unfit(word, "out of range", "PERCENTAGE% is 10% to 90%")
    return int(text) / 100


class DisabledWords(Shape[Disabled]):
    """``success|denial [ZONES...]``."""

    syntax = "success|denial [ZONES...]"

    def read(self, line: Directive) -> Disabled:
        """What is not kept."""
        words = self.words(line, 1)
        return Disabled(Choice(Class).convert(words[0]), Zones().read(Directive(line.word, words[1:])))


class StaleWords(Shape[Stale]):
    """``[DURATION] [immediate|verify [TIMEOUT]]``."""

    syntax = "[DURATION] [immediate|verify [TIMEOUT]]"

    def read(self, line: Directive) -> Stale:
        """How long, an hour unless given, in which order, and how long a client waits."""
        words = self.words(line, 0, 3)
        seconds = Duration().convert(words[0]) if words else 3600.0
        mode = Choice(RefreshMode).convert(words[1]) if len(words) > 1 else RefreshMode.IMMEDIATE
        if len(words) < 3:
            return Stale(seconds, mode)
        if mode is RefreshMode.IMMEDIATE:
            raise unfit(words[2], "a timeout for what is not waited for", "write it after `verify`, or leave it out")
        return Stale(seconds, mode, Duration(at_least=0.001).convert(words[2]))
