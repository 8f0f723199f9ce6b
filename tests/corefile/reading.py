"""Parses text with files that are not on any disk, and shows what came of it in a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from posixpath import dirname, join, normpath

from kubedns.corefile.blocks import Corefile, Directive, ServerBlock
from kubedns.corefile.parser import parse_corefile
from kubedns.errors import ConfigurationError, ConfigurationErrors

FILE = "/etc/Corefile"


class FakeFiles:
    """Texts by path; a text of None cannot be read."""

    def __init__(self, texts: Mapping[str, str | None]) -> None:
        self._texts = texts

    def find(self, pattern: str, beside: str) -> Sequence[str]:
        wanted = normpath(join(dirname(beside), pattern))
        return sorted(path for path in self._texts if fnmatchcase(path, wanted))

    def read(self, file: str) -> str:
        text = self._texts[file]
        if text is None:
            raise ConfigurationError(f"{file}: permission denied")
        return text


def parse(
    text: str, files: Mapping[str, str | None] | None = None, environment: Mapping[str, str] | None = None
) -> Corefile:
    return parse_corefile(text, FILE, FakeFiles(files or {}), environment or {})


def faults_of(text: str, files: Mapping[str, str | None] | None = None) -> list[str]:
    try:
        parse(text, files)
    except ConfigurationErrors as error:
        return str(error).replace(FILE, "Corefile").splitlines()
    return []


def warnings_of(text: str, files: Mapping[str, str | None] | None = None) -> list[str]:
    return [str(warning).replace(FILE, "Corefile") for warning in parse(text, files).warnings]


def shown(corefile: Corefile) -> list[str]:
    """A line for each block: ``ZONE ... | PLUGIN WORDS | PLUGIN WORDS { OPTION; OPTION }``."""
    return [shown_block(block) for block in corefile.blocks]


def shown_block(block: ServerBlock) -> str:
    labels = []
    for address in block.addresses:
        scheme = "" if address.scheme.value == "dns" else f"{address.scheme.value}://"
        port = "" if address.port is None else f":{address.port}"
        labels.append(f"{scheme}{address.zone}{port}")
    return " | ".join([" ".join(labels), *map(shown_directive, block.directives)])


def shown_directive(directive: Directive) -> str:
    words = [directive.word, *directive.arguments]
    text = " ".join(f'"{word.text}"' if word.quoted else word.text for word in words)
    if not directive.has_block:
        return text
    inside = "; ".join(map(shown_directive, directive.block))
    return f"{text} {{ {inside} }}" if inside else f"{text} {{ }}"
