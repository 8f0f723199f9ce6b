"""Shapes: how the words of one line make a value. A OneWord reads a single word; the others are made of those.

``syntax`` is what a person should write, as CoreDNS's documents put it: ``TTL``, ``[ZONES...]``, ``CERT KEY CACERT``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Generic, TypeVar

from kubedns.corefile.blocks import Directive, Word
from kubedns.corefile.labels import read_label
from kubedns.dns.names import Name
from kubedns.errors import ConfigurationError, ConfigurationErrors

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Shape(ABC, Generic[T_co]):
    """Reads what a line says after its first word."""

    joins: ClassVar[bool] = False
    """Whether several such lines mean the same as one with all their words."""

    @property
    @abstractmethod
    def syntax(self) -> str:
        """How the words are written."""

    @abstractmethod
    def read(self, line: Directive) -> T_co:
        """The value.

        Raises:
            ConfigurationError: too few or too many words, or one that does not fit.
            ConfigurationErrors: several that do not.
        """

    def words(self, line: Directive, at_least: int = 0, at_most: int | None = None) -> tuple[Word, ...]:
        """The words of ``line``, if they are as many as they should be."""
        words, option = line.arguments, line.word.text
        remedy = f"write `{f'{option} {self.syntax}'.strip()}`"
        if len(words) < at_least:
            raise line.word.fault("more words are needed" if words else "a value is needed", remedy)
        if at_most is not None and len(words) > at_most:
            raise words[at_most].fault(f"unexpected `{words[at_most].text}`", remedy)
        return words


class OneWord(Shape[T_co]):
    """Reads exactly one word."""

    @abstractmethod
    def convert(self, word: Word) -> T_co:
        """The value of ``word``.

        Raises:
            ConfigurationError: it does not fit.
        """

    def read(self, line: Directive) -> T_co:
        """The value of the one word."""
        return self.convert(self.words(line, 1, 1)[0])


def convert_all(words: Sequence[Word], convert: Callable[[Word], T]) -> list[T]:
    """What ``convert`` makes of each word.

    Raises:
        ConfigurationErrors: the faults of all words that do not fit.
    """
    values: list[T] = []
    faults: list[ConfigurationError] = []
    for word in words:
        try:
            values.append(convert(word))
        except ConfigurationError as fault:
            faults.append(fault)
    if faults:
        raise ConfigurationErrors(faults)
    return values


def unfit(word: Word, what: str, remedy: str = "") -> ConfigurationError:
    """The fault of a word that is ``what``; an empty one is most often a variable that is not set."""
    if not word.text and not word.quoted:
        return word.fault(f"`{word.location.word}` is empty", "is the variable set?")
    return word.fault(f"`{word.text}` is {what}", remedy)


@dataclass(frozen=True, slots=True)
class Nothing(Shape[bool]):
    """True by its presence: no words may follow."""

    syntax: str = field(default="", init=False)

    def read(self, line: Directive) -> bool:
        """True."""
        self.words(line, at_most=0)
        return True


@dataclass(frozen=True, slots=True)
class Exactly(Shape[bool]):
    """True if the one word is ``syntax``, the only thing that may stand there."""

    syntax: str

    def read(self, line: Directive) -> bool:
        """True."""
        word = self.words(line, 1, 1)[0]
        if word.text != self.syntax:
            raise unfit(word, "not known here", f"write `{line.word.text} {self.syntax}`")
        return True


@dataclass(frozen=True, slots=True)
class Many(Shape[tuple[T, ...]]):
    """Any number of words of one type."""

    joins: ClassVar[bool] = True
    of: OneWord[T]
    at_least: int = 0

    @property
    def syntax(self) -> str:
        """``NAME...``, in brackets where none is needed."""
        return f"{self.of.syntax}..." if self.at_least else f"[{self.of.syntax}...]"

    def read(self, line: Directive) -> tuple[T, ...]:
        """The words' values, in their order."""
        return tuple(convert_all(self.words(line, self.at_least), self.of.convert))


@dataclass(frozen=True, slots=True)
class Zones(Shape[tuple[Name, ...]]):
    """Zones: names, or networks that stand for their reverse zones. A port after a name is read over, as in labels."""

    joins: ClassVar[bool] = True
    at_least: int = 0

    @property
    def syntax(self) -> str:
        """``ZONES...``, in brackets where none is needed."""
        return "ZONES..." if self.at_least else "[ZONES...]"

    def read(self, line: Directive) -> tuple[Name, ...]:
        """The zones, each once."""
        labels = convert_all(self.words(line, self.at_least), read_label)
        return tuple(dict.fromkeys(address.zone for addresses in labels for address in addresses))


@dataclass(frozen=True, slots=True)
class Line(Shape[str]):
    """All words of the line as one text: expressions with blanks in them, quoted or not."""

    syntax: str = "EXPRESSION"

    def read(self, line: Directive) -> str:
        """The words, one blank between them."""
        return " ".join(word.text for word in self.words(line, 1))


@dataclass(frozen=True, slots=True)
class Group(Shape[T]):
    """Words that belong together, each of its own type and by its place: ``make`` is called with their values.

    ``optional`` ones may be left out from the end; ``make`` has defaults for them.
    """

    make: Callable[..., T]
    needed: Mapping[str, OneWord[object]] = field(default_factory=dict)
    optional: Mapping[str, OneWord[object]] = field(default_factory=dict)

    @property
    def syntax(self) -> str:
        """The names of the words, those of ``optional`` in brackets."""
        return " ".join([*self.needed, *(f"[{name}]" for name in self.optional)])

    def read(self, line: Directive) -> T:
        """What ``make`` makes of the words."""
        types = [*self.needed.values(), *self.optional.values()]
        words = self.words(line, len(self.needed), len(types))
        return self.make(*(each.convert(word) for each, word in zip(types, words, strict=False)))


def sections(line: Directive, keywords: Mapping[str, str]) -> dict[str, tuple[Word, ...]]:
    """The words after each of ``keywords``, as in ``type A AAAA net 10.0.0.0/8``; keywords in any case.

    ``keywords`` says how the words after each are written.

    Raises:
        ConfigurationError: a word before the first keyword, a keyword with nothing after it.
    """
    found: dict[str, list[Word]] = {}
    current: list[Word] | None = None
    for word in line.arguments:
        if word.text.lower() in keywords and not word.quoted:
            current = found.setdefault(word.text.lower(), [])
        elif current is None:
            written = " ".join(f"[{name} {syntax}]" for name, syntax in keywords.items())
            raise unfit(word, "out of place", f"write `{line.word.text} {written}`")
        else:
            current.append(word)
    for name, words in found.items():
        if not words:
            raise line.word.fault(f"nothing follows {name}", f"write `{name} {keywords[name]}`")
    return {name: tuple(words) for name, words in found.items()}
