"""The words of a ``template``'s lines, and the values they make."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kubedns.corefile.blocks import Directive, Word
from kubedns.corefile.shapes import OneWord, Shape, Zones, unfit
from kubedns.corefile.values import Count
from kubedns.dns.answer import Rcode
from kubedns.dns.edns import ExtendedError
from kubedns.dns.names import Name
from kubedns.dns.rdata import type_number
from kubedns.dns.record_text import BadRecordError, parse_record
from kubedns.errors import ConfigurationError
from kubedns.plugins.template_text import BadTemplateError, Template


@dataclass(frozen=True, slots=True)
class Scope:
    """The questions that a template is for: those of ``type`` (ANY: all) in ``zones`` (none: the server block's)."""

    type: int
    zones: tuple[Name, ...]


class ScopeWords(Shape[Scope]):
    """``CLASS TYPE [ZONES...]``."""

    syntax = "CLASS TYPE [ZONES...]"

    def read(self, line: Directive) -> Scope:
        """The scope."""
        rdclass, rdtype, *zones = self.words(line, 2)
        if rdclass.text.upper() not in ("IN", "ANY"):
            raise unfit(rdclass, "a class that is not served", "write IN or ANY")
        number = type_number(rdtype.text)
        if number is None:
            raise unfit(rdtype, "no record type", "write it like A, AAAA or ANY")
        return Scope(number, Zones().read(Directive(line.word, tuple(zones))))


@dataclass(frozen=True, slots=True)
class Written:
    """A record's text, and the ``word`` that it begins with in the file."""

    template: Template
    word: Word

    def faults(self, patterns: Sequence[re.Pattern[str]]) -> Iterator[ConfigurationError]:
        """A fault for each group that it names and none of ``patterns`` has."""
        numbers = max((pattern.groups for pattern in patterns), default=0)
        unknown = self.template.groups.difference(*(pattern.groupindex for pattern in patterns))
        for group in sorted(unknown) + sorted(str(each) for each in self.template.matches if each > numbers):
            yield self.word.fault(f"no match has a group {group}", "name one of those in `match`")


class RecordLine(Shape[Written]):
    """A record, with what is to be filled in."""

    syntax = "RECORD"

    def read(self, line: Directive) -> Written:
        """The text; one with nothing to fill in must be a record as it stands."""
        words = self.words(line, 1)
        try:
            text = Template(" ".join(word.text for word in words))
            if text.is_constant:
                parse_record(text.text)
        except BadTemplateError as error:
            raise words[0].fault(str(error), "write .Name, .Group.NAME, index .Match N or the like") from error
        except BadRecordError as error:
            raise words[0].fault(f"no record: {error}", "write it like `example. 60 IN A 10.0.0.1`") from error
        return Written(text, words[0])


class RcodeWord(OneWord[Rcode]):
    """An rcode by its name."""

    syntax = "RCODE"

    def convert(self, word: Word) -> Rcode:
        """The rcode."""
        if word.text.upper() not in Rcode.__members__:
            raise unfit(word, "no rcode", f"rcodes: {', '.join(Rcode.__members__)}")
        return Rcode[word.text.upper()]


class ErrorLine(Shape[ExtendedError]):
    """``CODE [TEXT...]``."""

    syntax = "CODE [TEXT...]"

    def read(self, line: Directive) -> ExtendedError:
        """The extended error."""
        code, *text = self.words(line, 1)
        return ExtendedError(Count(at_most=65535).convert(code), " ".join(word.text for word in text))
