"""Types of single words: what a value is, its range, how it is written."""

from __future__ import annotations

import ipaddress
import re
import warnings
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeVar

from kubedns.corefile.blocks import Word
from kubedns.corefile.shapes import OneWord, unfit
from kubedns.corefile.suggestions import nearest

E = TypeVar("E", bound=Enum)

AnyAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
AnyNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True)
class Text(OneWord[str]):
    """Any word that is not empty: a name, an address of an API server, a file. ``syntax`` says which."""

    syntax: str = "TEXT"

    def convert(self, word: Word) -> str:
        """The word as it is."""
        if not word.text:
            raise unfit(word, "empty")
        return word.text


@dataclass(frozen=True, slots=True)
class Path(Text):
    """A file or folder, as written."""

    syntax: str = "PATH"


@dataclass(frozen=True, slots=True)
class Count(OneWord[int]):
    """A whole number within a range."""

    at_least: int = 0
    at_most: int | None = None
    syntax: str = "NUMBER"

    def convert(self, word: Word) -> int:
        """The number."""
        if not word.text.isascii() or not word.text.isdigit() or len(word.text) > 18:
            raise unfit(word, "no whole number", _span(self.syntax, self.at_least, self.at_most))
        return _within(int(word.text), word, self.at_least, self.at_most)


@dataclass(frozen=True, slots=True)
class Seconds(Count):
    """A whole number of seconds, such as a TTL (RFC 2181 §8: at most 2**31-1)."""

    at_most: int | None = 2**31 - 1
    syntax: str = "SECONDS"


@dataclass(frozen=True, slots=True)
class Size(OneWord[int]):
    """A number of octets: ``512``, ``64K``, ``16M``, ``1G``, the units in powers of 1024."""

    at_least: int = 0
    at_most: int | None = None
    syntax: str = "SIZE"

    def convert(self, word: Word) -> int:
        """Octets."""
        match = _SIZE.fullmatch(word.text)
        if match is None:
            raise unfit(word, "no size", "write a number of octets, or with a unit: 64K, 16M, 1G")
        octets = int(match[1]) << _SHIFTS[match[2].upper()]
        return _within(octets, word, self.at_least, self.at_most)


_SIZE = re.compile(r"([0-9]{1,15})([KMGkmg]?)(?:i?[Bb])?")
_SHIFTS = {"": 0, "K": 10, "M": 20, "G": 30}


@dataclass(frozen=True, slots=True)
class Duration(OneWord[float]):
    """A length of time: ``500ms``, ``5s``, ``1m30s``, ``1.5h``; a bare number means seconds."""

    at_least: float = 0
    at_most: float | None = None
    syntax: str = "DURATION"

    def convert(self, word: Word) -> float:
        """Seconds."""
        parts = list(_PART.finditer(word.text))
        if _BARE.fullmatch(word.text):
            seconds = float(word.text)
        elif parts and "".join(part[0] for part in parts) == word.text:
            seconds = sum(float(part[1]) * _UNITS[part[2]] for part in parts)
        else:
            raise unfit(word, "no duration", "write it like 500ms, 5s or 1m30s")
        return _within(seconds, word, self.at_least, self.at_most)


_BARE = re.compile(r"[0-9]{1,12}(?:\.[0-9]{0,9})?")
_PART = re.compile(r"([0-9]{1,12}(?:\.[0-9]{0,9})?|\.[0-9]{1,9})(ns|us|µs|μs|ms|s|m|h)")
_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True, slots=True)
class Choice(OneWord[E]):
    """One of an enum's values, in any case."""

    of: type[E]

    @property
    def syntax(self) -> str:
        """The values, ``a|b|c``."""
        return "|".join(self._known())

    def convert(self, word: Word) -> E:
        """The member."""
        if word.text.lower() in self._known():
            return self.of(word.text.lower())
        guess = nearest(word.text, self._known())
        raise unfit(word, f"none of {', '.join(self._known())}", f"did you mean `{guess}`?" if guess else "")

    def _known(self) -> list[str]:
        return [str(member.value) for member in self.of]


@dataclass(frozen=True, slots=True)
class Address(OneWord[AnyAddress]):
    """An IPv4 or IPv6 address."""

    syntax: str = field(default="ADDRESS", init=False)

    def convert(self, word: Word) -> AnyAddress:
        """The address."""
        try:
            return ipaddress.ip_address(word.text)
        except ValueError as error:
            raise unfit(word, "no address", "write it like 10.0.0.1 or 2001:db8::1") from error


@dataclass(frozen=True, slots=True)
class Network(OneWord[AnyNetwork]):
    """A CIDR; an address alone is the network of it alone, and bits beyond the prefix do not count."""

    syntax: str = field(default="CIDR", init=False)

    def convert(self, word: Word) -> AnyNetwork:
        """The network."""
        try:
            return ipaddress.ip_network(word.text, strict=False)
        except ValueError as error:
            raise unfit(word, "no network", "write it like 10.0.0.0/8 or 2001:db8::/32") from error


@dataclass(frozen=True, slots=True)
class Pattern(OneWord[re.Pattern[str]]):
    """A regular expression; one that Python and Go would read differently, such as ``[[:alpha:]]``, is refused."""

    syntax: str = field(default="REGEXP", init=False)

    def convert(self, word: Word) -> re.Pattern[str]:
        """The compiled expression."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                return re.compile(word.text)
        except (re.error, FutureWarning, OverflowError, RecursionError) as error:
            raise unfit(word, f"no regular expression: {error}") from error


N = TypeVar("N", int, float)


def _within(value: N, word: Word, at_least: float, at_most: float | None) -> N:
    if value < at_least:
        raise unfit(word, f"less than {at_least:.12g}")
    if at_most is not None and value > at_most:
        raise unfit(word, f"more than {at_most:.12g}")
    return value


def _span(syntax: str, at_least: float, at_most: float | None) -> str:
    if at_most is None:
        return f"{syntax}: {at_least} or more"
    return f"{syntax}: {at_least} to {at_most}"
