"""Logs: one line an event, in the form that CoreDNS's readers expect or as JSON, and never a flood of the like.

``[LEVEL] plugin/WORD: text`` for plugins, ``[INFO] text`` for queries and everything else. As JSON a line is an object
with ``time`` (RFC 3339), ``level``, ``logger``, ``message`` and, for a query, the fields of ``log``.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from enum import Enum
from typing import TextIO

from kubedns.observe.log_sink import Sink

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


class JsonFormatter(logging.Formatter):
    """An object a line; a traceback is its ``traceback``."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        when = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, object] = {"time": when.replace("+00:00", "Z"), "level": record.levelname.lower()}
        line |= {"logger": record.name, "message": record.getMessage()}
        fields = getattr(record, "fields", None)
        if callable(fields):
            line |= fields()
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


class LogFormat(Enum):
    """How a line is written."""

    TEXT = "text"
    JSON = "json"


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


def set_up(
    clock: Callable[[], float],
    stream: TextIO = sys.stdout,
    level: int = logging.INFO,
    form: LogFormat = LogFormat.TEXT,
) -> Sink:
    """Send the process's log lines of at least ``level`` to ``stream``; ``clock`` gives monotonic seconds.

    What comes back writes them, and knows how many could not be written.
    """
    sink = Sink(stream)
    sink.setFormatter(JsonFormatter() if form is LogFormat.JSON else LineFormatter())
    sink.addFilter(FloodLimit(clock))
    logging.getLogger("watchfiles").setLevel(logging.WARNING)
    root = logging.getLogger()
    root.handlers[:] = [sink]
    root.setLevel(level)
    return sink
