r"""template: answers made from the question itself.

Syntax::

    template CLASS TYPE [ZONES...] {
        match REGEXP...
        answer RECORD
        additional RECORD
        authority RECORD
        rcode RCODE
        ederror CODE [TEXT...]
        fallthrough [ZONES...]
        upstream
    }

It answers for names in ZONES (the server block's, if none are named) asked with TYPE, ``ANY`` for all types; CLASS is
``IN`` or ``ANY``. The first ``match`` that is found in the name, in lower case with its final dot, counts; without one
every name does. A name that none is found in is SERVFAIL, and with ``fallthrough`` goes on down the chain.

``answer``, ``additional`` and ``authority`` each give one record as a master file has it, in which these are filled in:
``{{ .Name }}``, ``{{ .Type }}``, ``{{ .Class }}``, ``{{ .Zone }}``, ``{{ .Remote }}``, ``{{ .Question.Name }}``,
``{{ .Group.NAME }}``, ``{{ index .Match N }}`` and ``{{ parseInt .Group.NAME BASE BITS }}``. A CNAME is followed by the
server block's own plugins. ``ederror`` adds an extended error (RFC 8914); ``upstream`` has no effect.

Example::

    example:1053 {
        template IN A {
            match ^ip-(?P<a>[0-9]+)-(?P<b>[0-9]+)-(?P<c>[0-9]+)-(?P<d>[0-9]+)[.]example[.]$
            answer "{{ .Name }} 60 IN A {{ .Group.a }}.{{ .Group.b }}.{{ .Group.c }}.{{ .Group.d }}"
            fallthrough
        }
    }
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kubedns.corefile.options import PluginOptions, arguments, ignored, option, repeated
from kubedns.corefile.shapes import Many
from kubedns.corefile.values import Pattern
from kubedns.dns.answer import Answer, Rcode, servfail
from kubedns.dns.edns import ErrorCode, ExtendedError
from kubedns.dns.names import Name
from kubedns.dns.question import Query
from kubedns.dns.rdata import CNAME, RecordType, type_name
from kubedns.dns.record_text import BadRecordError, parse_record
from kubedns.dns.renaming import text_of
from kubedns.dns.rrset import RRset
from kubedns.errors import ConfigurationErrors
from kubedns.observe.rows import TEMPLATE_FAILURES, TEMPLATE_MATCHES, TEMPLATE_RECORD_FAILURES, Metric
from kubedns.plugins.fallthrough import FallthroughLine, falling_through, fallthrough_option
from kubedns.plugins.plugin import Context, Next
from kubedns.plugins.template_text import BadTemplateError, Filling, Template
from kubedns.plugins.template_words import ErrorLine, RcodeWord, RecordLine, Scope, ScopeWords, Written


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """template CLASS TYPE [ZONES...] { ... }: answers made from the question itself."""

    scope: Scope = arguments(ScopeWords(), help="which questions it answers")
    match: tuple[tuple[re.Pattern[str], ...], ...] = repeated(Many(Pattern(), 1), help="which names; the first counts")
    answer: tuple[Written, ...] = repeated(RecordLine(), help="a record of the answer")
    additional: tuple[Written, ...] = repeated(RecordLine(), help="a record of the additional section")
    authority: tuple[Written, ...] = repeated(RecordLine(), help="a record of the authority section")
    rcode: Rcode = option(RcodeWord(), default=Rcode.NOERROR, help="the rcode")
    ederror: ExtendedError | None = option(ErrorLine(), default=None, help="an extended error (RFC 8914)")
    fallthrough: FallthroughLine = fallthrough_option("other names")
    upstream: bool = ignored("aliases are followed by the server block's own plugins")


_EVERY_NAME = re.compile("^.*$", re.DOTALL)
_NO_MATCH = servfail(ErrorCode.OTHER, "no match of the template is found in the name")
_BAD_RECORD = servfail(ErrorCode.OTHER, "the template makes no record for this name")
_SERVFAIL = servfail(ErrorCode.OTHER, "SERVFAIL by template")


class TemplateAnswers:
    """Answers what ``options`` say, for ``zones``; ``fallthrough``: zones whose other names go on."""

    word = "template"

    def __init__(self, options: Options, zones: Sequence[Name], fallthrough: Sequence[Name], context: Context) -> None:
        self._options = options
        self._zones = sorted(zones, key=lambda zone: -len(zone.key))
        self._fallthrough = fallthrough
        self._matches = _patterns(options) or [_EVERY_NAME]
        self._sections = {name: [each.template for each in texts] for name, texts in _sections(options).items()}
        self._names_client = any(text.names_client for texts in self._sections.values() for text in texts)
        self._metrics = context.metrics
        self._server = context.servers[0]
        self._view = context.view
        self._type = type_name(options.scope.type)

    async def answer(self, query: Query, next_plugin: Next) -> Answer:
        """The records made for the question; what it is not for goes on."""
        question = query.question
        zone = next((zone for zone in self._zones if question.name.is_at_or_below(zone)), None)
        if zone is None or self._options.scope.type not in (RecordType.ANY, question.type):
            return await next_plugin(query)
        text = text_of(question.name)
        found = next((found for pattern in self._matches if (found := pattern.search(text))), None)
        if found is None:
            if question.name.is_within(self._fallthrough):
                return await next_plugin(query)
            query.trace.step(self.word, "no match is found in the name, and there is no fallthrough: SERVFAIL")
            return _NO_MATCH
        if query.trace.active:
            query.trace.step(self.word, f"`{found.re.pattern}` is found in the name")
        self._count(TEMPLATE_MATCHES, zone)
        return self._made(Filling(query, text_of(zone), found), zone)

    def _made(self, filling: Filling, zone: Name) -> Answer:
        """The answer, its records filled in; one of them that is none makes all of it SERVFAIL."""
        if self._options.rcode == Rcode.SERVFAIL:
            return _SERVFAIL
        sections: dict[str, tuple[RRset, ...]] = {}
        for section, texts in self._sections.items():
            rrsets: dict[tuple[Name, int], RRset] = {}
            for text in texts:
                record = self._record(text, filling, zone, section)
                if record is None:
                    return _BAD_RECORD
                known = rrsets.get((record.owner, record.type))
                rdatas = record.rdatas if known is None else known.rdatas + record.rdatas
                rrsets[record.owner, record.type] = RRset(record.owner, record.ttl, rdatas)
            sections[section] = tuple(rrsets.values())
        return Answer(
            rcode=self._options.rcode,
            answer=sections["answer"],
            authority=sections["authority"],
            additional=sections["additional"],
            varies_by_client=self._names_client,
            follow=_alias(sections["answer"], filling.query.question.type),
            plugin=self.word,
            extended_error=self._options.ederror,
        )

    def _record(self, text: Template, filling: Filling, zone: Name, section: str) -> RRset | None:
        try:
            return parse_record(text.filled(filling))
        except BadTemplateError as error:
            self._count(TEMPLATE_FAILURES, zone, section, text.text)
            why = str(error)
        except BadRecordError as error:
            self._count(TEMPLATE_RECORD_FAILURES, zone, section, text.text)
            why = str(error)
        if filling.query.trace.active:
            filling.query.trace.step(self.word, f"`{text.text}` makes no record ({why}): SERVFAIL")
        return None

    def _count(self, row: Metric, zone: Name, *more: str) -> None:
        self._metrics.cell(row, self._server, str(zone), self._view, "IN", self._type, *more).add()


def _alias(rrsets: Sequence[RRset], asked: int) -> Name | None:
    """The target still to be followed: that of a CNAME in the end, unless it was asked for."""
    last = rrsets[-1].rdatas[0] if rrsets and asked not in (RecordType.CNAME, RecordType.ANY) else None
    return last.target if isinstance(last, CNAME) else None


def _patterns(options: Options) -> list[re.Pattern[str]]:
    return [pattern for patterns in options.match for pattern in patterns]


def _sections(options: Options) -> dict[str, tuple[Written, ...]]:
    return {"answer": options.answer, "authority": options.authority, "additional": options.additional}


def make(options: Options, context: Context) -> TemplateAnswers:
    """The plugin.

    Raises:
        ConfigurationErrors: a record names a group that no ``match`` has.
    """
    patterns = _patterns(options)
    faults = [fault for texts in _sections(options).values() for text in texts for fault in text.faults(patterns)]
    if faults:
        raise ConfigurationErrors(faults)
    zones = options.scope.zones or context.zones
    fallthrough = falling_through(options.fallthrough, zones)
    return TemplateAnswers(options, zones, fallthrough, context)
