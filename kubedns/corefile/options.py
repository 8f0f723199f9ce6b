"""Declared options: a plugin states them once as a dataclass; reading, faults and help follow from it.

::

    @dataclass(frozen=True, slots=True)
    class Options(PluginOptions):
        zones: tuple[Name, ...] = arguments(Zones(), default=(), help="zones to answer for")
        ttl: int = option(Seconds(at_most=3600), default=5, help="TTL of every record")
        noendpoints: bool = flag(help="serve no endpoints")
        resyncperiod: bool = ignored("CoreDNS no longer reads it")
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, field
from enum import Enum
from typing import Any, TypeVar, overload

from kubedns.corefile.shapes import Line, Nothing, Shape
from kubedns.errors import ConfigurationError

T = TypeVar("T")
D = TypeVar("D")


@dataclass(frozen=True, slots=True)
class PluginOptions:
    """What every plugin's options start from. ``warnings``: lines that have no effect, or a doubtful one."""

    warnings: tuple[ConfigurationError, ...] = field(default=(), compare=False, kw_only=True)


class Place(Enum):
    """Where an option stands."""

    ARGUMENTS = "on the plugin's own line"
    ONE = "on a line of its block"
    REPEATED = "on any number of lines of its block"
    OTHERS = "on every line of its block that begins with no option's word"
    IGNORED = "read over, with a warning"


@dataclass(frozen=True, slots=True)
class Declaration:
    """One option as a plugin states it. ``words``: what its lines begin with; ``help``: one line for people."""

    name: str
    words: tuple[str, ...]
    place: Place
    shape: Shape[object]
    help: str
    default: object

    def written(self, word: str = "") -> str:
        """How a line of it is written; ``word`` is the one of its words that is meant."""
        return f"{word or '|'.join(self.words)} {self.shape.syntax}".strip()


@overload
def arguments(shape: Shape[T], *, help: str) -> T: ...
@overload
def arguments(shape: Shape[T], *, default: D, help: str) -> T | D: ...
def arguments(shape: Shape[Any], *, default: Any = MISSING, help: str) -> Any:  # noqa: A002
    """The words on the plugin's own line; ``default`` where there are none, and without one there must be some."""
    return _declare(Place.ARGUMENTS, (), shape, help, default)


def option(shape: Shape[T], *, default: D, help: str, word: str = "") -> T | D:  # noqa: A002
    """A line of the block. ``word``: what it begins with, where that is not the field's name."""
    declared: T | D = _declare(Place.ONE, (word,) if word else (), shape, help, default)
    return declared


def flag(*, help: str, word: str = "") -> bool:  # noqa: A002
    """A line of the block that is true by its presence."""
    return option(Nothing(), default=False, help=help, word=word)


def repeated(
    shape: Shape[T],
    *,
    help: str,  # noqa: A002
    words: Sequence[str] = (),
    needed: bool = False,
) -> tuple[T, ...]:
    """Any number of lines, in their order; at least one if ``needed``.

    ``words``: what they may begin with, where that is not the field's name.
    """
    declared: tuple[T, ...] = _declare(Place.REPEATED, tuple(words), shape, help, MISSING if needed else ())
    return declared


def others(shape: Shape[T], *, word: str, help: str) -> tuple[T, ...]:  # noqa: A002
    """Every line that begins with no option's word, in their order. ``word``: what people call what it begins with."""
    declared: tuple[T, ...] = _declare(Place.OTHERS, (word,), shape, help, ())
    return declared


def ignored(reason: str, *, word: str = "") -> bool:
    """A line that has no effect but a warning with the ``reason``; the value is whether it was there."""
    declared: bool = _declare(Place.IGNORED, (word,) if word else (), Line("..."), reason, False)
    return declared


def _declare(place: Place, words: tuple[str, ...], shape: Shape[Any], text: str, default: Any) -> Any:  # noqa: ANN401
    return field(default=default, metadata={"option": Declaration("", words, place, shape, text, default)})


def declarations(options: type[PluginOptions]) -> tuple[Declaration, ...]:
    """The options that a plugin states, in their order."""
    found = []
    for each in dataclasses.fields(options):
        declared = each.metadata.get("option")
        if isinstance(declared, Declaration):
            found.append(dataclasses.replace(declared, name=each.name, words=declared.words or (each.name,)))
    return tuple(found)
