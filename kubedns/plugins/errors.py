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

from kubedns.dns.answer import Answer, Rcode
from kubedns.dns.question import Query
from kubedns.plugins.plugin import Later, Next

_log = logging.getLogger("plugin/errors")


@dataclass(frozen=True, slots=True)
class Consolidation:
    """Errors that match ``pattern`` within ``seconds`` of the first are one line at ``level``."""

    seconds: float
    pattern: re.Pattern[str]
    level: int = logging.ERROR
    show_first: bool = False


class Errors:
    """Logs what ends in SERVFAIL. ``later`` calls back after so many seconds."""

    word = "errors"
    observes_all = False

    def __init__(self, consolidations: Sequence[Consolidation], later: Later) -> None:
        self._consolidations = consolidations
        self._later = later
        self._counts: dict[Consolidation, int] = {}

    async def answer(self, query: Query, next_plugin: Next) -> Answer:
        """The rest of the chain's answer, as it is."""
        return await next_plugin(query)

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
