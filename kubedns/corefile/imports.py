"""``import``: which words a name stands for, those of a snippet or of files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from kubedns.corefile.blocks import Word
from kubedns.corefile.lexer import Lexed, Token, lex
from kubedns.corefile.suggestions import nearest
from kubedns.errors import ConfigurationError


class Files(Protocol):
    """Where imported files are."""

    def find(self, pattern: str, beside: str) -> Sequence[str]:
        """The files that ``pattern`` names, a path or a glob with ``*``, ``?`` or ``[ ]``, in alphabetical order.

        Relative to the folder of the file ``beside``; folders are no files. Empty: there is none.
        """

    def read(self, file: str) -> str:
        """The text of one of these.

        Raises:
            ConfigurationError: it cannot be read, or is no text.
        """


MAX_DEPTH = 32
"""How deep blocks and imports may nest; Corefiles in use need five."""

MAX_IMPORTS = 1000
"""How many imports one configuration may take, as in CoreDNS: snippets that import snippets can multiply."""


@dataclass(frozen=True, slots=True)
class Part:
    """What an import puts in its place: the ``tokens`` of the snippet or file ``name``."""

    name: str
    tokens: Sequence[Token]


@dataclass(slots=True)
class Reading:
    """What is known while a configuration is read. ``nesting``: the imports that are open, "" for a block."""

    files: Files
    environment: Mapping[str, str]
    faults: list[ConfigurationError] = field(default_factory=list)
    warnings: list[ConfigurationError] = field(default_factory=list)
    snippets: dict[str, Sequence[Token]] = field(default_factory=dict)
    nesting: list[str] = field(default_factory=list)
    imports: int = 0

    def lex(self, text: str, file: str) -> Sequence[Token]:
        """The tokens of a file's text; faults of its words are kept."""
        lexed: Lexed = lex(text, file, self.environment)
        self.faults += lexed.faults
        return lexed.tokens

    def define(self, word: Word, tokens: Sequence[Token]) -> None:
        """Keep a snippet, ``word`` being its name in parentheses."""
        name = word.text[1:-1]
        if name in self.snippets:
            self.faults.append(word.fault(f"snippet {word.text} is defined twice", "give one of them another name"))
        self.snippets[name] = tokens

    @contextmanager
    def inside(self, name: str = "") -> Iterator[None]:
        """While the import ``name``, or a block, is read."""
        self.nesting.append(name)
        yield
        self.nesting.pop()

    def too_deep(self, word: Word) -> bool:
        """Whether no more may be opened at ``word``; that is a fault."""
        if len(self.nesting) >= MAX_DEPTH:
            self.faults.append(word.fault(f"blocks and imports are nested more than {MAX_DEPTH} deep"))
        return len(self.nesting) >= MAX_DEPTH

    def imported(self, word: Word) -> list[Part]:
        """What importing ``word`` puts in its place; empty if that is a fault, or a glob without a match."""
        self.imports += 1
        if self.imports > MAX_IMPORTS:
            self.faults.append(word.fault(f"more than {MAX_IMPORTS} imports"))
            return []
        if word.text in self.snippets:
            parts = [Part(f"({word.text})", self.snippets[word.text])]
        else:
            parts = [Part(file, self._read(word, file)) for file in self._find(word)]
        return [part for part in parts if not self._loops(word, part)]

    def _loops(self, word: Word, part: Part) -> bool:
        if part.name in self.nesting:
            way = [*filter(None, self.nesting[self.nesting.index(part.name) :]), part.name]
            self.faults.append(word.fault(f"import loop: {' → '.join(way)}"))
            return True
        return False

    def _find(self, word: Word) -> Sequence[str]:
        if not word.text:
            self.faults.append(word.fault("import of an empty name", "write `import FILE` or `import SNIPPET`"))
            return ()
        found = self.files.find(word.text, word.location.file)
        if not found and any(sign in word.text for sign in "*?["):
            self.warnings.append(word.fault(f"no file matches `{word.text}`", "nothing is imported here"))
        elif not found:
            guess = nearest(word.text, self.snippets)
            remedy = f"did you mean `{guess}`?" if guess else "a snippet must stand above its import"
            self.faults.append(word.fault(f"no file and no snippet `{word.text}` to import", remedy))
        return found

    def _read(self, word: Word, file: str) -> Sequence[Token]:
        try:
            return self.lex(self.files.read(file), file)
        except ConfigurationError as fault:
            self.faults.append(word.fault(f"cannot import `{word.text}`: {fault}"))
            return ()
