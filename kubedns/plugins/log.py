"""log: a line for each query.

Syntax::

    log [NAMES...] [FORMAT] {
        class CLASSES...
    }

NAMES limits it to names below them. CLASSES are ``all`` (default), ``success``, ``denial`` (NXDOMAIN and no data) and
``error`` (SERVFAIL, REFUSED, NOTIMP). FORMAT is text with ``{type}`` ``{name}`` ``{class}`` ``{proto}`` ``{remote}``
``{port}`` ``{local}`` (the address that was asked) ``{size}`` ``{rcode}`` ``{rsize}`` ``{duration}`` ``{>id}``
``{>do}`` ``{>bufsize}`` ``{>rflags}`` ``{>opcode}``, or the words ``{common}`` and ``{combined}``. ``{/LABEL}``,
metadata, is ``-``: nothing sets any.

Example::

    .:1053 {
        log cluster.local {
            class denial error
        }
    }
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial

from kubedns.corefile.blocks import Directive
from kubedns.corefile.options import PluginOptions, arguments, option
from kubedns.corefile.shapes import Many, Shape, Zones
from kubedns.corefile.values import Choice
from kubedns.dns.answer import Answer, Rcode
from kubedns.dns.names import Name
from kubedns.dns.question import Query
from kubedns.dns.rdata import type_name
from kubedns.dns.rrset import class_name
from kubedns.plugins.plugin import Context

_log = logging.getLogger("plugin/log")

COMMON = (
    '{remote}:{port} - {>id} "{type} {class} {name} {proto} {size} {>do} {>bufsize}" '
    "{rcode} {>rflags} {rsize} {duration}"
)
NO_VALUE = "-"
"""What stands for metadata, which nothing here sets; CoreDNS writes the same for a label that is not set."""
COMBINED = COMMON + ' "{>opcode}"'


class ResponseClass(Enum):
    """Kinds of responses that can be logged apart."""

    ALL = "all"
    SUCCESS = "success"
    DENIAL = "denial"
    ERROR = "error"


class BadFormatError(ValueError):
    """A format with a field that there is not."""


_Field = Callable[[Query, Answer, bytes, float], str]
_FLAGS = (
    (0x8000, "qr"),
    (0x0400, "aa"),
    (0x0200, "tc"),
    (0x0100, "rd"),
    (0x0080, "ra"),
    (0x0020, "ad"),
    (0x0010, "cd"),
)


def _address(text: str) -> str:
    return f"[{text}]" if ":" in text else text


def _flags(response: bytes) -> str:
    bits = int.from_bytes(response[2:4])
    return ",".join(name for bit, name in _FLAGS if bits & bit)


FIELDS: dict[str, _Field] = {
    "type": lambda query, answer, response, seconds: type_name(query.question.type),
    "name": lambda query, answer, response, seconds: str(query.question.name),
    "class": lambda query, answer, response, seconds: class_name(query.question.rdclass),
    "proto": lambda query, answer, response, seconds: query.client.transport.value,
    "remote": lambda query, answer, response, seconds: _address(query.client.text),
    "port": lambda query, answer, response, seconds: str(query.client.port),
    "local": lambda query, answer, response, seconds: _address(query.client.local) or NO_VALUE,
    "size": lambda query, answer, response, seconds: str(query.octets),
    "rcode": lambda query, answer, response, seconds: answer.rcode.name,
    "rsize": lambda query, answer, response, seconds: str(len(response)),
    "duration": lambda query, answer, response, seconds: f"{seconds:.9f}s",
    ">id": lambda query, answer, response, seconds: str(query.id),
    ">do": lambda query, answer, response, seconds: str(query.dnssec_ok).lower(),
    ">bufsize": lambda query, answer, response, seconds: str(512 if query.edns is None else query.edns.udp_octets),
    ">rflags": lambda query, answer, response, seconds: _flags(response),
    ">opcode": lambda query, answer, response, seconds: str(query.flags >> 11 & 0xF),
}
"""Every field of a format, by its name between the braces."""


class LineFormat:
    """A format, read once."""

    def __init__(self, text: str) -> None:
        self._parts: list[str | _Field] = []
        whole = text.replace("{common}", COMMON).replace("{combined}", COMBINED)
        for position, part in enumerate(re.split(r"\{([^{}]*)\}", whole)):
            if position % 2 == 0:
                self._parts.append(part)
            elif part in FIELDS:
                self._parts.append(FIELDS[part])
            elif part.startswith("/"):
                self._parts.append(NO_VALUE)
            else:
                raise BadFormatError(f"unknown field {{{part}}}; fields: {' '.join(map('{{{}}}'.format, FIELDS))}")

    def line(self, query: Query, answer: Answer, response: bytes, seconds: float) -> str:
        """The line for one response."""
        parts = self._parts
        return "".join(part if isinstance(part, str) else part(query, answer, response, seconds) for part in parts)


class Log:
    """Writes a line for each response of the wanted ``classes`` to a name at or below one of ``names`` (empty: all)."""

    word = "log"
    observes_all = True

    def __init__(self, names: Sequence[Name], line_format: LineFormat, classes: frozenset[ResponseClass]) -> None:
        self._names = names
        self._format = line_format
        self._classes = classes

    def observe(self, query: Query, answer: Answer, response: bytes, seconds: float) -> None:
        """Write the line."""
        if self._names and not query.question.name.is_within(self._names):
            return
        if ResponseClass.ALL in self._classes or response_class(answer) in self._classes:
            line = self._format.line(query, answer, response, seconds)
            _log.info(line, extra={"fields": partial(_fields, query, answer, response, seconds)})


def _fields(query: Query, answer: Answer, response: bytes, seconds: float) -> dict[str, object]:
    """Every field by its name, for lines in JSON; the duration as a number of seconds."""
    fields: dict[str, object] = {
        name.removeprefix(">"): field(query, answer, response, seconds) for name, field in FIELDS.items()
    }
    return fields | {"duration": seconds, "plugin": answer.plugin}


def response_class(answer: Answer) -> ResponseClass:
    """Which kind of response ``answer`` is."""
    if answer.is_denial:
        return ResponseClass.DENIAL
    return ResponseClass.SUCCESS if answer.rcode == Rcode.NOERROR else ResponseClass.ERROR


@dataclass(frozen=True, slots=True)
class Scope:
    """Which names are logged (empty: all), and how."""

    names: tuple[Name, ...] = ()
    line_format: str = COMMON


class ScopeWords(Shape[Scope]):
    """``[NAMES...] [FORMAT]``: a format is a word with a brace in it, at the end."""

    syntax = "[NAMES...] [FORMAT]"

    def read(self, line: Directive) -> Scope:
        """Names and format."""
        words = self.words(line)
        if not words or "{" not in words[-1].text:
            return Scope(Zones().read(line))
        try:
            LineFormat(words[-1].text)
        except BadFormatError as error:
            raise words[-1].fault(str(error)) from error
        return Scope(Zones().read(Directive(line.word, words[:-1])), words[-1].text)


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """log [NAMES...] [FORMAT] { class CLASSES... }: a line for each query."""

    scope: Scope = arguments(ScopeWords(), default=Scope(), help="names that are logged, and the form of a line")
    classes: tuple[ResponseClass, ...] = option(
        Many(Choice(ResponseClass), 1), default=(ResponseClass.ALL,), word="class", help="kinds of responses"
    )


def make(options: Options, context: Context) -> Log:
    """The plugin."""
    return Log(options.scope.names, LineFormat(options.scope.line_format), frozenset(options.classes))
