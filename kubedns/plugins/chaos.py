"""chaos: who serves here, for those who ask in class CH (RFC 4892).

Syntax: ``chaos [VERSION] [AUTHORS...]``

``version.bind`` and ``version.server`` are VERSION, kubedns and its own unless given; ``hostname.bind`` and
``id.server`` this machine's name; ``authors.bind`` one record for each of AUTHORS. All are TXT records of class CH. The
server block must serve the names, as one for ``.`` or ``bind`` does.

Example::

    .:1053 {
        chaos kubedns-1 "the platform team"
        forward . 192.0.2.1
    }
"""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kubedns import __version__
from kubedns.corefile.blocks import Directive
from kubedns.corefile.options import PluginOptions, arguments
from kubedns.corefile.shapes import Shape
from kubedns.dns.answer import Answer
from kubedns.dns.names import Labels, parse_name
from kubedns.dns.question import Query
from kubedns.dns.rdata import TXT, RecordType
from kubedns.dns.rrset import CLASS_CH, RRset
from kubedns.plugins.plugin import Context, Next

_MAX_TEXT = 255


@dataclass(frozen=True, slots=True)
class Texts:
    """What is told: a ``version``, and ``authors``."""

    version: str = f"kubedns-{__version__}"
    authors: tuple[str, ...] = ()


class TextWords(Shape[Texts]):
    """``[VERSION] [AUTHORS...]``."""

    syntax = "[VERSION] [AUTHORS...]"

    def read(self, line: Directive) -> Texts:
        """Version and authors."""
        words = self.words(line)
        for word in words:
            if len(word.text.encode()) > _MAX_TEXT:
                raise word.fault(
                    f"a text of {len(word.text.encode())} octets", f"at most {_MAX_TEXT} fit into a record"
                )
        version = words[0].text if words else Texts().version
        return Texts(version, tuple(word.text for word in words[1:]))


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """chaos [VERSION] [AUTHORS...]: say who serves, in class CH."""

    texts: Texts = arguments(TextWords(), default=Texts(), help="the version and the authors that are told")


class Chaos:
    """Answers from ``texts`` by name."""

    word = "chaos"
    rdclass = CLASS_CH

    def __init__(self, texts: Mapping[Labels, Sequence[str]]) -> None:
        self._texts = texts

    async def answer(self, query: Query, next_plugin: Next) -> Answer:
        """The texts of the name, in class CH; all else goes on."""
        question = query.question
        texts = self._texts.get(question.name.key)
        if question.rdclass != CLASS_CH or question.type != RecordType.TXT or not texts:
            return await next_plugin(query)
        rdatas = tuple(TXT((text.encode(),)) for text in texts)
        return Answer(answer=(RRset(question.name, 0, rdatas),), plugin=self.word)


def make(options: Options, context: Context) -> Chaos:
    """The plugin."""
    told = {
        ("version.bind.", "version.server."): (options.texts.version,),
        ("hostname.bind.", "id.server."): (socket.gethostname()[:_MAX_TEXT],),
        ("authors.bind.",): options.texts.authors,
    }
    return Chaos({parse_name(name).key: texts for names, texts in told.items() for name in names})
