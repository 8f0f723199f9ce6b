"""The text of a ``template``: what stands between ``{{`` and ``}}`` is filled in for each question.

Of Go's template language those expressions that make records: fields, groups, ``index`` and ``parseInt``.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass

from kubedns.dns.question import Query
from kubedns.dns.rdata import type_name
from kubedns.dns.renaming import text_of


@dataclass(frozen=True, slots=True)
class Filling:
    """What a text is filled in from: the query, the zone that it is in, and what the regular expression found."""

    query: Query
    zone: str
    found: re.Match[str]


class BadTemplateError(ValueError):
    """An expression that is not known, or has no value; ``str()`` says which."""


Expression = Callable[[Filling], str]

_FIELDS: dict[str, Expression] = {
    ".Name": lambda filling: text_of(filling.query.question.name),
    ".Question.Name": lambda filling: str(filling.query.question.name),
    ".Zone": lambda filling: filling.zone,
    ".Class": lambda _: "IN",
    ".Type": lambda filling: type_name(filling.query.question.type),
    ".Remote": lambda filling: filling.query.client.text,
}
_MARK = re.compile(r"(\s*\{\{- |\{\{)(.*?)( -\}\}\s*|\}\})", re.DOTALL)
_GROUP = re.compile(r"\.Group\.(\w+)")


class Template:
    """Text with expressions, read once. ``groups``, ``matches``: the groups that it names, and by number."""

    def __init__(self, text: str) -> None:
        """Read ``text``.

        Raises:
            BadTemplateError: an expression that is not known.
        """
        self.text = text
        self.groups: set[str] = set()
        self.matches: set[int] = set()
        self.names_client = False
        self._parts: list[Expression] = []
        at = 0
        for mark in _MARK.finditer(text):
            self._parts += [_constant(text[at : mark.start()]), self._expression(mark[2].strip())]
            at = mark.end()
        self.is_constant = not self._parts
        self._parts.append(_constant(text[at:]))

    def filled(self, filling: Filling) -> str:
        """The text with its values.

        Raises:
            BadTemplateError: one of them cannot be had.
        """
        return "".join([part(filling) for part in self._parts])

    def _expression(self, text: str) -> Expression:
        try:
            words = shlex.split(text)
        except ValueError as error:
            raise BadTemplateError(f"{{{{ {text} }}}}: {error}") from error
        match words:
            case ["index", ".Match", number] if number.isdecimal():
                self.matches.add(int(number))
                return _group(int(number))
            case ["index", ".Group", name]:
                self.groups.add(name)
                return _group(name)
            case ["parseInt", operand, base, bits] if base.isdecimal() and bits.isdecimal():
                return _number(self._expression(operand), int(base), int(bits))
            case [field] if field in _FIELDS:
                self.names_client = self.names_client or field == ".Remote"
                return _FIELDS[field]
            case [field] if group := _GROUP.fullmatch(field):
                self.groups.add(group[1])
                return _group(group[1])
        raise BadTemplateError(f"{{{{ {text} }}}} is not known here")


def _constant(text: str) -> Expression:
    return lambda _: text


def _group(group: int | str) -> Expression:
    def value(filling: Filling) -> str:
        try:
            return filling.found[group] or ""
        except IndexError as error:
            # In Go an unknown name is empty text, an unknown number an error.
            if isinstance(group, str):
                return ""
            raise BadTemplateError(f"there is no group {group}") from error

    return value


def _number(operand: Expression, base: int, bits: int) -> Expression:
    def value(filling: Filling) -> str:
        text = operand(filling)
        try:
            number = int(text, base) if text.isalnum() else -1
        except ValueError:
            number = -1
        if not 0 <= number < 2 ** (bits or 64):
            raise BadTemplateError(f"`{text}` is no number of {bits} bits in base {base}")
        return str(number)

    return value
