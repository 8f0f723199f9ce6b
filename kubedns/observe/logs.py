"""Logs: one line an event, in the form that CoreDNS's readers expect, and never a flood of the like.

``[LEVEL] plugin/WORD: text`` for plugins, ``[INFO] text`` for queries and everything else.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from typing import TextIO

QUERY_LOGGER = "plugin/log"
LINES_A_SECOND = 10
"""Lines that one logger may write in a second; query logs, which somebody asked for, are not limited."""


class LineFormatter(logging.Formatter):
    """CoreDNS's form of a line; a traceback follows on lines of its own."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        is_plugin = record.name.startswith("plugin/") and record.name != QUERY_LOGGER
        line = f"[{record.levelname}] {record.name + ': ' if is_plugin else ''}{record.getMessage()}"
        if record.exc_info:
            line += "\n" + self.formatException(record.exc_info)
        return line


class FloodLimit(logging.Filter):
    """Lets through so many lines a second of each logger, and says how many it left out."""

    def __init__(self, clock: Callable[[], float], lines_a_second: int = LINES_A_SECOND) -> None:
        super().__init__()
        self._clock = clock
        self._limit = lines_a_second
        self._windows: dict[str, tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the line is written."""
        if record.name == QUERY_LOGGER:
            return True
        now = self._clock()
        since, count = self._windows.get(record.name, (now, 0))
        if now - since >= 1.0:
            if count > self._limit:
                record.msg = f"{record.getMessage()} ({count - self._limit} lines before this one were left out)"
                record.args = None
            since, count = now, 0
        self._windows[record.name] = (since, count + 1)
        return count < self._limit


def set_up(clock: Callable[[], float], stream: TextIO = sys.stdout, level: int = logging.INFO) -> None:
    """Send the process's log lines of at least ``level`` to ``stream``; ``clock`` gives monotonic seconds."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(LineFormatter())
    handler.addFilter(FloodLimit(clock))
    logging.getLogger("watchfiles").setLevel(logging.WARNING)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
