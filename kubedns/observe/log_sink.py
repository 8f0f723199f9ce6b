"""Where log lines go: a thread of its own writes them, so that a reader who is stuck holds up nobody but himself."""

from __future__ import annotations

import logging
import queue
import threading
from typing import TextIO

MAX_LINES = 10_000
"""Lines that wait to be written; what comes on top of that is dropped and counted."""
_BATCH = 1_000
_LAST_WAIT_SECONDS = 1.0


class Sink(logging.Handler):
    """Hands formatted lines to the thread that writes them to ``stream``. ``dropped``: lines that found no room."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self.dropped = 0
        self._stream = stream
        self._lines: queue.Queue[str | None] = queue.Queue(MAX_LINES)
        self._thread = threading.Thread(target=self._write, name="logs", daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        """Have the record's line written."""
        try:
            self._lines.put_nowait(self.format(record) + "\n")
        except queue.Full:
            self.dropped += 1
        except Exception:
            self.handleError(record)

    def close(self) -> None:
        """Wait a little for what is to be written, then for nothing."""
        try:
            self._lines.put_nowait(None)
        except queue.Full:
            pass
        else:
            self._thread.join(_LAST_WAIT_SECONDS)
        super().close()

    def _write(self) -> None:
        while True:
            lines = [self._lines.get()]
            while lines[-1] is not None and len(lines) < _BATCH and not self._lines.empty():
                lines.append(self._lines.get())
            try:
                self._stream.write("".join(line for line in lines if line is not None))
                self._stream.flush()
            except (OSError, ValueError):
                # Whoever read it is gone, and there is nobody left to tell.
                self.dropped += len(lines)
            if lines[-1] is None:
                return
