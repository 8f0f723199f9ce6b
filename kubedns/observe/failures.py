"""Failures: errors in the program, of which the first of each kind is logged with its traceback."""

from __future__ import annotations

import logging


class Failures:
    """Logs to ``log`` what has not been logged yet. Errors of one type from one line of the program are of a kind."""

    def __init__(self, log: logging.Logger) -> None:
        self._log = log
        self._known: set[object] = set()

    def tell(self, error: BaseException, what: str) -> None:
        """``error`` came up while ``what`` was done."""
        kind = (type(error), _place(error))
        if kind not in self._known:
            self._known.add(kind)
            self._log.error("error while %s; others of its kind are only counted", what, exc_info=error)


def _place(error: BaseException) -> tuple[str, int] | None:
    """The file and line where ``error`` was raised."""
    traceback = error.__traceback__
    if traceback is None:
        return None
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback.tb_frame.f_code.co_filename, traceback.tb_lineno
