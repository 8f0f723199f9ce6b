"""The errors that kubedns raises: one tree, each with its place and its remedy.

Expected outcomes (NXDOMAIN, a malformed query) are values; these are for what a caller cannot know beforehand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a file: ``file``, ``line`` and ``column`` count from 1 (0: unknown), ``word`` is what stands there."""

    file: str
    line: int = 0
    column: int = 0
    word: str = ""

    def __str__(self) -> str:
        """``file:line``, or the file alone where the line is unknown."""
        return f"{self.file}:{self.line}" if self.line else self.file


class KubednsError(Exception):
    """Root of the tree. ``str()`` gives the one line that a person needs: place, thing, remedy."""

    def __init__(self, message: str, *, location: Location | None = None, remedy: str = "") -> None:
        self.message = message
        self.location = location
        self.remedy = remedy
        super().__init__(message)

    def __str__(self) -> str:
        """``PLACE: MESSAGE; REMEDY``."""
        place = f"{self.location}: " if self.location else ""
        remedy = f"; {self.remedy}" if self.remedy else ""
        return f"{place}{self.message}{remedy}"


class ConfigurationError(KubednsError):
    """A fault in a Corefile or in flags."""


class ConfigurationErrors(KubednsError):
    """Every fault of one configuration, in the order of its lines; ``str()`` gives a line for each."""

    def __init__(self, faults: Sequence[ConfigurationError]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))


class ManifestError(KubednsError):
    """A document among the manifests that cannot be used; the others go on."""


class ListenError(KubednsError):
    """An address that cannot be listened on: taken, forbidden, or not this machine's."""


class NotServedError(KubednsError):
    """A command asked for something that the configuration does not serve."""


class NotFoundError(KubednsError):
    """What a command was asked to find is not there."""


class UnreachableError(KubednsError):
    """Whoever a command has to ask gave no usable response."""
