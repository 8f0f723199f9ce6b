r"""A Corefile's text → its words, by the rules of CoreDNS's Caddyfile lexer.

Blanks separate words. ``#`` outside quotes begins a comment, also inside a word. A word that begins with ``"`` goes on
to the next ``"``, over lines too; there ``\"`` is a quote and every other backslash is itself. A backslash at a line's
end continues the line. ``{$VAR}`` and ``{%VAR%}`` are filled in after that, so a value with blanks stays one word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kubedns.corefile.blocks import Word
from kubedns.errors import ConfigurationError, Location

OPEN, CLOSE = "{", "}"


@dataclass(frozen=True, slots=True)
class Token:
    """A word, and whether it is the first of its line."""

    word: Word
    starts_line: bool

    def is_brace(self, brace: str) -> bool:
        """Whether this is ``brace`` itself, not text that looks like it."""
        return not self.word.quoted and self.word.location.word == brace

    @property
    def is_import(self) -> bool:
        """Whether this is ``import`` itself, which is one where a line or a block begins."""
        return not self.word.quoted and self.word.text == "import"


@dataclass(frozen=True, slots=True)
class Lexed:
    """All tokens of a file, and what is wrong with its words."""

    tokens: tuple[Token, ...]
    faults: tuple[ConfigurationError, ...]


_PIECE = re.compile(
    r"""
      (?P<newline> \n )
    | (?P<continued> \\ \r? \n )
    | (?P<blank> [^\S\n]+ )
    | (?P<comment> \# [^\n]* )
    | " (?P<quoted> (?: [^"\\] | \\ . | \\ \Z )* ) (?P<end> "? )
    | (?P<glued> [^\s\#\\"{}]++ (?= \{ (?: \s | \Z ) ) | [^\s\#\\"{}]++ (?= \} (?: \s | \Z ) ) )
    | (?P<plain> (?: [^\s\#\\] | \\ (?! \r? \n ) )+ )
    """,
    re.VERBOSE | re.DOTALL,
)


def lex(text: str, file: str, environment: Mapping[str, str]) -> Lexed:
    """The tokens of ``text``, read from ``file``; variables are looked up in ``environment``, unset ones are empty."""
    tokens: list[Token] = []
    faults: list[ConfigurationError] = []
    line, line_start, starts_line = 1, 0, True
    for piece in _PIECE.finditer(text.removeprefix("\ufeff")):
        written = piece[0]
        if piece.lastgroup == "newline":
            starts_line = True
        elif piece.lastgroup in ("plain", "glued", "end"):
            location = Location(file, line, piece.start() - line_start + 1, written)
            tokens.append(Token(_word(piece, location, environment), starts_line))
            faults += _faults(piece, tokens[-1].word)
            starts_line = False
        if breaks := written.count("\n"):
            line += breaks
            line_start = piece.start() + written.rindex("\n") + 1
    return Lexed(tuple(tokens), tuple(faults))


def _word(piece: re.Match[str], location: Location, environment: Mapping[str, str]) -> Word:
    """The word of a piece, its variables filled in."""
    quoted = piece.lastgroup == "end"
    text = piece["quoted"].replace('\\"', '"') if quoted else piece[0]
    return Word(_VARIABLE.sub(lambda found: environment.get(_name(found), ""), text), location, quoted)


_VARIABLE = re.compile(r"\{%([^{}%]+)%\}|\{\$([^{}]+)\}")


def _name(variable: re.Match[str]) -> str:
    return variable[1] or variable[2]


def _faults(piece: re.Match[str], word: Word) -> Iterator[ConfigurationError]:
    if piece.lastgroup == "end" and not piece["end"]:
        yield word.fault("a quote is opened and never closed", 'put `"` at the end of the text')
    if piece.lastgroup == "glued":
        yield word.fault(f"a brace stands right after `{word.text}`", "put a blank between them")
    for variable in _VARIABLE.finditer(piece[0]):
        if ":" in _name(variable):
            yield word.fault(f"`{variable[0]}` has a default, which variables cannot have", "set the variable")
