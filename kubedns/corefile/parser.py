"""Words → server blocks, by CoreDNS's rules; every fault of a file and its imports is told at once.

A block is labels and directives between braces; a file's first block may do without braces and is the whole file then.
``(name) { }`` is a snippet; ``import`` puts a snippet or files in its place. What CoreDNS refuses although its meaning
is plain, a block that is closed within a line, is taken with a warning.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from kubedns.corefile.blocks import Corefile, Directive, ServerAddress, ServerBlock, Word
from kubedns.corefile.imports import Files, Reading
from kubedns.corefile.labels import address_warning, read_label
from kubedns.corefile.lexer import CLOSE, OPEN, Token
from kubedns.errors import ConfigurationError, ConfigurationErrors, Location

T = TypeVar("T")


def parse_corefile(text: str, file: str, files: Files, environment: Mapping[str, str]) -> Corefile:
    """The server blocks of ``text``, which stands in ``file``; imports are read through ``files``.

    Raises:
        ConfigurationErrors: all faults, those of imported files among them.
    """
    reading = Reading(files, environment)
    with reading.inside(file):
        blocks = _Parser(reading.lex(text, file), reading).blocks()
    if reading.faults:
        raise ConfigurationErrors(_each_once(sorted(reading.faults, key=lambda fault: _place(fault, file))))
    return Corefile(tuple(blocks), tuple(_each_once(reading.warnings)))


def _place(fault: ConfigurationError, file: str) -> tuple[bool, str, int, int]:
    """Sorts faults by line, those of the ``file`` itself before those of what it imports."""
    location = fault.location or Location("")
    return location.file != file, location.file, location.line, location.column


def _each_once(faults: Sequence[ConfigurationError]) -> list[ConfigurationError]:
    """Without repeating those of a snippet or file that is imported several times."""
    return list({str(fault): fault for fault in faults}.values())


class _Parser:
    """Reads one sequence of tokens: a file, or a snippet's inside."""

    def __init__(self, tokens: Sequence[Token], reading: Reading) -> None:
        self._tokens = tokens
        self._at = 0
        self._reading = reading

    def blocks(self) -> list[ServerBlock]:
        """All as server blocks."""
        blocks: list[ServerBlock] = []
        while token := self._peek():
            if token.is_import:
                blocks += self._import(_Parser.blocks)
            elif token.is_brace(CLOSE):
                self._unexpected(self._next())
            elif block := self._server_block():
                blocks.append(block)
        return blocks

    def directives(self) -> list[Directive]:
        """All as directives, of a block without braces or of an import inside a block."""
        directives: list[Directive] = []
        while token := self._peek():
            if token.is_brace(CLOSE):
                self._unexpected(self._next())
            else:
                directives += self._line()
        return directives

    def _peek(self) -> Token | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _next(self) -> Token:
        self._at += 1
        return self._tokens[self._at - 1]

    def _server_block(self) -> ServerBlock | None:
        """The next block; None for a snippet, and for what cannot be one."""
        start = self._at
        labels = self._labels()
        first = self._tokens[start].word
        opening = self._peek()
        has_braces = opening is not None and opening.is_brace(OPEN)
        if len(labels) == 1 and labels[0].text.startswith("(") and labels[0].text.endswith(")"):
            self._snippet(labels[0], has_braces)
            return None
        if not labels:
            self._fault(first, "a server block without a label", "put the zones it serves before its `{`")
        directives = self._braces(first) if has_braces else self.directives()
        return ServerBlock(tuple(self._addresses(labels)), tuple(directives), first.location)

    def _labels(self) -> list[Word]:
        """The words before ``{``, else those of the line, and of the next one after a comma."""
        labels: list[Word] = []
        comma: Word | None = None
        first = True
        while (token := self._peek()) and not token.is_brace(OPEN):
            if token.is_brace(CLOSE) or (token.starts_line and not first and not comma):
                break
            word, first = self._next().word, False
            text = word.text if word.quoted else word.text.removesuffix(",")
            comma = word if text != word.text else None
            if text:  # an unset variable leaves nothing
                labels.append(dataclasses.replace(word, text=text))
        if comma:
            self._fault(comma, f"no label follows the comma of `{comma.text}`")
        return labels

    def _addresses(self, labels: Sequence[Word]) -> list[ServerAddress]:
        addresses: list[ServerAddress] = []
        for label in labels:
            try:
                addresses += read_label(label)
            except ConfigurationError as fault:
                self._reading.faults.append(fault)
            else:
                if warning := address_warning(label):
                    self._reading.warnings.append(warning)
        return addresses

    def _snippet(self, label: Word, has_braces: bool) -> None:
        """Keep the words between the braces for later imports."""
        if not has_braces:
            self._fault(label, f"snippet {label.text} has no braces", f"write `{label.text} {{ ... }}`")
            return
        start = self._at + 1
        self._skip_braces(label)
        tokens = list(self._tokens[start : max(start, self._at - 1)])
        if tokens:
            tokens[0] = dataclasses.replace(tokens[0], starts_line=True)
        self._reading.define(label, tokens)

    def _line(self) -> list[Directive]:
        """The directives that the next line stands for: itself, or what it imports."""
        token = self._next()
        if token.is_import:
            self._at -= 1
            return self._import(_Parser.directives)
        if token.is_brace(OPEN):
            self._fault(token.word, "`{` without a word before it")
            self._at -= 1
            self._skip_braces(token.word)
            return []
        arguments = self._rest_of_line()
        following = self._peek()
        if following is None or not following.is_brace(OPEN):
            return [Directive(token.word, tuple(arguments))]
        return [Directive(token.word, tuple(arguments), tuple(self._braces(token.word)), has_block=True)]

    def _rest_of_line(self) -> list[Word]:
        words: list[Word] = []
        while (token := self._peek()) and not (token.starts_line or token.is_brace(OPEN) or token.is_brace(CLOSE)):
            words.append(self._next().word)
        return words

    def _braces(self, owner: Word) -> list[Directive]:
        """The directives between the braces that are next."""
        if self._reading.too_deep(owner):
            self._skip_braces(owner)
            return []
        directives: list[Directive] = []
        self._next()
        with self._reading.inside():
            while (token := self._peek()) and not token.is_brace(CLOSE):
                directives += self._line()
        self._close(owner, is_empty=not directives)
        return directives

    def _close(self, owner: Word, is_empty: bool) -> None:
        closing = self._peek()
        if closing is None:
            self._fault(owner, f"the block of `{owner.text}` is never closed", "put a `}` on a line of its own")
            return
        self._next()
        if not closing.starts_line and not is_empty:
            told = closing.word.fault(
                f"the block of `{owner.text}` is closed within a line, which CoreDNS refuses",
                "put the `}` on a line of its own",
            )
            self._reading.warnings.append(told)
        for word in self._rest_of_line()[:1]:
            self._fault(word, f"unexpected `{word.text}` after `}}`", "begin a new line")

    def _skip_braces(self, owner: Word) -> None:
        """Go past the brace that closes the one that is next."""
        depth = 0
        while self._peek():
            token = self._next()
            depth += token.is_brace(OPEN) - token.is_brace(CLOSE)
            if depth == 0:
                return
        self._fault(owner, f"the block of `{owner.text}` is never closed", "put a `}` on a line of its own")

    def _import(self, parse: Callable[[_Parser], list[T]]) -> list[T]:
        """What the import that is next stands for, each file or snippet read by ``parse``."""
        word, names = self._next().word, self._rest_of_line()
        following = self._peek()
        if len(names) != 1 or (following is not None and following.is_brace(OPEN)):
            self._fault(word, "import takes one file, glob or snippet", "write `import NAME`")
            if following is not None and following.is_brace(OPEN):
                self._skip_braces(word)
            return []
        found: list[T] = []
        if not self._reading.too_deep(word):
            for part in self._reading.imported(names[0]):
                with self._reading.inside(part.name):
                    found += parse(_Parser(part.tokens, self._reading))
        return found

    def _unexpected(self, token: Token) -> None:
        self._fault(token.word, f"unexpected `{token.word.text}`: nothing is open here")

    def _fault(self, word: Word, message: str, remedy: str = "") -> None:
        self._reading.faults.append(word.fault(message, remedy))
