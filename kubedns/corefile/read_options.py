"""A directive → its plugin's options, or every fault of it at once."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import MISSING
from typing import TypeVar

from kubedns.corefile.blocks import Directive
from kubedns.corefile.options import Declaration, Place, PluginOptions, declarations
from kubedns.corefile.suggestions import nearest
from kubedns.errors import ConfigurationError, ConfigurationErrors

Options = TypeVar("Options", bound=PluginOptions)


def read_options(options: type[Options], directive: Directive) -> Options:
    """The ``options`` that ``directive`` sets, defaults for the rest; with ``warnings`` of what has no effect.

    Raises:
        ConfigurationErrors: all faults of the directive, in the order of its lines.
    """
    reading = _Reading(directive, declarations(options))
    reading.sort_lines()
    values = reading.values()
    if reading.faults:
        raise ConfigurationErrors(sorted(reading.faults, key=_line))
    return options(warnings=tuple(sorted(reading.warnings, key=_line)), **values)


def _line(fault: ConfigurationError) -> int:
    return fault.location.line if fault.location else 0


class _Reading:
    def __init__(self, directive: Directive, declared: Sequence[Declaration]) -> None:
        self._directive = directive
        self._plugin = directive.word.text
        self._declared = declared
        self._lines: dict[str, list[Directive]] = {each.name: [] for each in declared}
        self.faults: list[ConfigurationError] = []
        self.warnings: list[ConfigurationError] = []

    def sort_lines(self) -> None:
        """Put each line to the option it belongs to."""
        by_word = {word: each for each in self._declared if each.place is not Place.ARGUMENTS for word in each.words}
        others = next((each for each in self._declared if each.place is Place.OTHERS), None)
        for line in self._directive.block:
            declared = by_word.get(line.word.text) or by_word.get(line.word.text.lower()) or others
            if declared is None:
                self.faults.append(_unknown(line, self._plugin, by_word))
            elif line.has_block:
                self.faults.append(line.word.fault(f"{self._plugin} {line.word.text} takes no block"))
            else:
                self._lines[declared.name].append(line)

    def values(self) -> dict[str, object]:
        """The value of each option that is set."""
        values: dict[str, object] = {}
        own_line = dataclasses.replace(self._directive, block=(), has_block=False)
        takes_arguments = False
        for each in self._declared:
            lines = self._lines[each.name]
            if each.place is Place.ARGUMENTS:
                takes_arguments = True
                lines = [own_line] if own_line.arguments or each.default is MISSING else []
            if lines:
                values[each.name] = self._value(each, lines)
            elif each.default is MISSING:
                remedy = f"write `{each.written()}` in its block"
                self.faults.append(self._directive.word.fault(f"{self._plugin} needs `{each.words[0]}`", remedy))
        if own_line.arguments and not takes_arguments:
            extra = own_line.arguments[0]
            self.faults.append(
                extra.fault(f"unexpected `{extra.text}` after {self._plugin}", f"write `{self._plugin}`")
            )
        return values

    def _value(self, declared: Declaration, lines: Sequence[Directive]) -> object:
        match declared.place:
            case Place.IGNORED:
                self.warnings += [line.word.fault(f"{line.word.text} has no effect: {declared.help}") for line in lines]
                return True
            case Place.REPEATED | Place.OTHERS:
                return tuple([self._read(declared, line) for line in lines])
            case Place.ONE | Place.ARGUMENTS:
                return self._read(declared, self._one(declared, lines))

    def _one(self, declared: Declaration, lines: Sequence[Directive]) -> Directive:
        """Several lines of an option: joined where their words add up, else the last counts, as in CoreDNS."""
        if declared.shape.joins:
            return dataclasses.replace(lines[0], arguments=tuple(word for line in lines for word in line.arguments))
        for line in lines[:-1]:
            self.warnings.append(line.word.fault(f"{line.word.text} is set again below", "the last one counts"))
        return lines[-1]

    def _read(self, declared: Declaration, line: Directive) -> object:
        where = self._plugin if declared.place is Place.ARGUMENTS else f"{self._plugin} {line.word.text}"
        try:
            return declared.shape.read(line)
        except ConfigurationErrors as error:
            self.faults += [_placed(fault, where) for fault in error.faults]
        except ConfigurationError as fault:
            self.faults.append(_placed(fault, where))
        return None


def _placed(fault: ConfigurationError, where: str) -> ConfigurationError:
    return ConfigurationError(f"{where}: {fault.message}", location=fault.location, remedy=fault.remedy)


def _unknown(line: Directive, plugin: str, known: dict[str, Declaration]) -> ConfigurationError:
    word = line.word.text
    if guess := nearest(word, known):
        remedy = f"did you mean `{guess}`? ({known[guess].written(guess)})"
    else:
        remedy = f"options: {', '.join(_useful(known.items()))}" if known else f"{plugin} has none"
    return line.word.fault(f"unknown option `{word}` in {plugin}", remedy)


def _useful(known: Iterable[tuple[str, Declaration]]) -> list[str]:
    return [word for word, declared in known if declared.place is not Place.IGNORED]
