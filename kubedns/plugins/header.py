"""header: sets or clears flags of responses.

Syntax::

    header {
        [response] set FLAG...
        [response] clear FLAG...
    }

FLAG is ``aa`` (the answer is authoritative) or ``ra`` (recursion is available). The last line that names a flag counts.
CoreDNS's ``rd`` is refused: RD is a copy of the query's (RFC 1035 §4.1.1).

Example::

    .:1053 {
        header {
            set ra
            clear aa
        }
    }
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from kubedns.corefile.blocks import Directive, Word
from kubedns.corefile.options import PluginOptions, repeated
from kubedns.corefile.shapes import Shape, convert_all, unfit
from kubedns.dns.answer import Answer
from kubedns.dns.question import Query
from kubedns.plugins.plugin import Context, Next

_FIELDS = {"aa": "authoritative", "ra": "recursion_available"}


class FlagLine(Shape[Mapping[str, bool]]):
    """``set FLAG...``, ``clear FLAG...``, with or without ``response`` in front."""

    syntax = "FLAG..."

    def read(self, line: Directive) -> Mapping[str, bool]:
        """The fields of an Answer, and what they become."""
        action, *flags = (line.word, *line.arguments)
        if action.text == "response" and flags:
            action, *flags = flags
        if action.text not in ("set", "clear"):
            raise unfit(action, "neither set nor clear", "write `set FLAG...` or `clear FLAG...`")
        if not flags:
            raise action.fault("flags are needed", f"write `{action.text} aa` or `{action.text} ra`")
        return dict.fromkeys(convert_all(flags, _field), action.text == "set")


def _field(word: Word) -> str:
    if word.text.lower() == "rd":
        raise unfit(word, "not changed", "leave it out: RD is a copy of the query's (RFC 1035 §4.1.1)")
    if word.text.lower() not in _FIELDS:
        raise unfit(word, "no flag", f"flags: {', '.join(_FIELDS)}")
    return _FIELDS[word.text.lower()]


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """header { set|clear FLAG... }: flags of responses."""

    lines: tuple[Mapping[str, bool], ...] = repeated(
        FlagLine(), words=["set", "clear", "response"], help="flags that responses have, or have not"
    )


class Header:
    """Puts ``fields`` into every answer."""

    word = "header"

    def __init__(self, fields: Mapping[str, bool]) -> None:
        self._fields = fields

    async def answer(self, query: Query, next_plugin: Next) -> Answer:
        """The rest of the chain's answer with its flags."""
        answer = await next_plugin(query)
        return msgspec.structs.replace(answer, **self._fields)


def make(options: Options, context: Context) -> Header:
    """The plugin."""
    return Header({name: value for line in options.lines for name, value in line.items()})
