"""errors: failed queries are logged, equal ones counted together.

Syntax::

    errors {
        stacktrace
        consolidate DURATION REGEXP [LEVEL] [show_first]
    }

A line reads ``[ERROR] plugin/errors: RCODE NAME. TYPE: reason``. With ``consolidate``, errors whose ``RCODE NAME. TYPE:
reason`` matches are counted for DURATION and reported as one line; LEVEL is debug, info, warning or error. Without
it, at most ten lines a second are written and the rest is counted.

Example::

    .:1053 {
        errors {
            consolidate 5m ".* i/o timeout$" warning
            consolidate 30s "^2 .*" error show_first
        }
    }
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from kubedns.corefile.options import PluginOptions, flag, repeated
from kubedns.corefile.shapes import Group
from kubedns.corefile.values import Choice, Duration, Pattern
from kubedns.dns.answer import Answer, Rcode
from kubedns.dns.question import Query
from kubedns.plugins.plugin import Context, Later

_log = logging.getLogger("plugin/errors")


@dataclass(frozen=True, slots=True)
class Consolidation:
    """Errors that match ``pattern`` within ``seconds`` of the first are one line at ``level``."""

    seconds: float
    pattern: re.Pattern[str]
    level: int = logging.ERROR
    show_first: bool = False


class Level(Enum):
    """Levels of a log line."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class ShowFirst(Enum):
    """The word that asks for the first error in full."""

    SHOW_FIRST = "show_first"


def _consolidation(
    seconds: float, pattern: re.Pattern[str], level: Level = Level.ERROR, first: ShowFirst | None = None
) -> Consolidation:
    return Consolidation(seconds, pattern, logging.getLevelNamesMapping()[level.name], first is not None)


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """errors { stacktrace; consolidate DURATION REGEXP [LEVEL] [show_first] }: log failed queries."""

    stacktrace: bool = flag(help="tracebacks of errors in the program are always logged; kept for CoreDNS's files")
    consolidate: tuple[Consolidation, ...] = repeated(
        Group(
            _consolidation,
            {"DURATION": Duration(at_least=0.001), "REGEXP": Pattern()},
            {"LEVEL": Choice(Level), "show_first": Choice(ShowFirst)},
        ),
        help="count errors that match within DURATION of the first and write one line",
    )


class Errors:
    """Logs what ends in SERVFAIL. ``later`` calls back after so many seconds."""

    word = "errors"
    observes_all = False

    def __init__(self, consolidations: Sequence[Consolidation], later: Later) -> None:
        self._consolidations = consolidations
        self._later = later
        self._counts: dict[Consolidation, int] = {}

    def observe(self, query: Query, answer: Answer, response: bytes, seconds: float) -> None:
        """Log a failure, or count it with its like."""
        if answer.rcode != Rcode.SERVFAIL:
            return
        reason = answer.extended_error.text if answer.extended_error else "no reason known"
        line = f"{answer.rcode.value} {query.question}: {reason}"
        for consolidation in self._consolidations:
            if consolidation.pattern.search(line):
                self._consolidate(consolidation, line)
                return
        _log.error(line)

    def _consolidate(self, consolidation: Consolidation, line: str) -> None:
        count = self._counts.get(consolidation, 0)
        self._counts[consolidation] = count + 1
        if count:
            return
        if consolidation.show_first:
            _log.log(consolidation.level, line)
        self._later(consolidation.seconds, lambda: self._report(consolidation))

    def _report(self, consolidation: Consolidation) -> None:
        count = self._counts.pop(consolidation) - consolidation.show_first
        if count:
            what, seconds = consolidation.pattern.pattern, consolidation.seconds
            _log.log(consolidation.level, "%d errors like %r occurred in last %gs", count, what, seconds)


def make(options: Options, context: Context) -> Errors:
    """The plugin."""
    return Errors(options.consolidate, context.later)
