"""Exit statuses, the same for every command."""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """What the program tells the shell.

    ``NOT_FOUND`` also stands for a bad configuration where CoreDNS's own flags are used, as it does there.
    """

    DONE = 0
    NOT_FOUND = 1
    BAD_CONFIGURATION = 2
    UNREACHABLE = 3
    PROGRAM_ERROR = 70
    INTERRUPTED = 130
    PIPE_CLOSED = 141
