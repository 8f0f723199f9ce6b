"""Renaming: names matched by their text, and the names that are put in their place.

Text is the presentation form in lower case with its final dot, so that escapes read back as the same octets.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum
from typing import Protocol

import msgspec

from kubedns.dns.answer import Answer
from kubedns.dns.names import Name, parse_name
from kubedns.dns.rdata import CNAME, NS, PTR, SRV, Rdata
from kubedns.dns.rrset import RRset

Rename = Callable[[Name], Name]
"""Gives the name that stands in place of another, most often the same one."""


class Kind(Enum):
    """How a text matches a name."""

    EXACT = "exact"
    PREFIX = "prefix"
    SUFFIX = "suffix"
    SUBSTRING = "substring"
    REGEX = "regex"


class Renaming(Protocol):
    """Matches names and renames those that match."""

    def matches(self, name: Name) -> bool:
        """Whether ``name`` is one of those."""

    def renamed(self, name: Name) -> Name | None:
        """The name in place of ``name``; None: it does not match.

        Raises:
            BadNameError: it matches, and what would take its place is no name.
        """


class TextRenaming(msgspec.Struct, frozen=True):
    """Puts ``new`` where ``old`` is found; both are presentation form in lower case."""

    kind: Kind
    old: str
    new: str

    def matches(self, name: Name) -> bool:
        """Whether ``old`` is where ``kind`` wants it."""
        text = text_of(name)
        match self.kind:
            case Kind.EXACT:
                return text == self.old
            case Kind.PREFIX:
                return text.startswith(self.old)
            case Kind.SUFFIX:
                return text.endswith(self.old)
            case _:
                return self.old in text

    def renamed(self, name: Name) -> Name | None:
        """The name with ``new`` in it; see :class:`Renaming`."""
        if not self.matches(name):
            return None
        text = text_of(name)
        match self.kind:
            case Kind.PREFIX:
                return parse_name(self.new + text.removeprefix(self.old))
            case Kind.SUFFIX:
                return parse_name(text.removesuffix(self.old) + self.new)
            case _:
                return parse_name(text.replace(self.old, self.new))

    def inverse(self) -> TextRenaming:
        """Puts ``old`` where ``new`` is found: undoes this, but for a SUBSTRING that was there before."""
        return TextRenaming(self.kind, self.new, self.old)


class PatternRenaming(msgspec.Struct, frozen=True):
    """Puts ``new`` in place of a name that ``pattern`` is found in; ``{1}`` there is the first group, ``{0}`` all."""

    pattern: re.Pattern[str]
    new: str

    def matches(self, name: Name) -> bool:
        """Whether ``pattern`` is found in it."""
        return self.pattern.search(text_of(name)) is not None

    def renamed(self, name: Name) -> Name | None:
        """The name made of ``new`` and the groups; see :class:`Renaming`."""
        found = self.pattern.search(text_of(name))
        if found is None:
            return None
        return parse_name(_GROUP.sub(lambda mark: found[int(mark[1])] or "", self.new))


_GROUP = re.compile(r"\{([0-9]{1,2})\}")


def groups_of(text: str) -> set[int]:
    """The groups that ``text`` names as ``{1}``."""
    return {int(number) for number in _GROUP.findall(text)}


def text_of(name: Name) -> str:
    """The text that patterns are matched against."""
    return str(name).lower()


def with_owners(answer: Answer, rename: Rename) -> Answer:
    """The answer with its owners renamed, in every section."""
    return _changed(answer, lambda rrset: msgspec.structs.replace(rrset, owner=rename(rrset.owner)))


def with_targets(answer: Answer, rename: Rename) -> Answer:
    """The answer with the names in CNAME, NS, PTR and SRV records renamed, in every section.

    An alias still to be followed is followed to its new target.
    """

    def renamed(rrset: RRset) -> RRset:
        return RRset(rrset.owner, rrset.ttl, tuple([_with_target(rdata, rename) for rdata in rrset.rdatas]))

    follow = None if answer.follow is None else rename(answer.follow)
    return msgspec.structs.replace(_changed(answer, renamed), follow=follow)


def _with_target(rdata: Rdata, rename: Rename) -> Rdata:
    if isinstance(rdata, CNAME | NS | PTR | SRV):
        return msgspec.structs.replace(rdata, target=rename(rdata.target))
    return rdata


def _changed(answer: Answer, change: Callable[[RRset], RRset]) -> Answer:
    return msgspec.structs.replace(
        answer,
        answer=tuple(map(change, answer.answer)),
        authority=tuple(map(change, answer.authority)),
        additional=tuple(map(change, answer.additional)),
    )
