"""Directives from short text, without the parser: a word a line, a block by indentation."""

from __future__ import annotations

import shlex
from textwrap import dedent

from kubedns.corefile.blocks import Directive, Word
from kubedns.errors import Location


def words_of(text: str, line: int = 1) -> tuple[Word, ...]:
    return tuple(Word(word, Location("Corefile", line, word=word)) for word in shlex.split(text))


def directive(text: str) -> Directive:
    """The first line is the plugin's own, the others are its block."""
    own, *block = dedent(text).strip().splitlines()
    head, *arguments = words_of(own)
    lines = [words_of(each, number) for number, each in enumerate(block, 2)]
    inner = tuple(Directive(words[0], words[1:]) for words in lines)
    return Directive(head, tuple(arguments), inner, bool(inner))
