"""``fallthrough [ZONES...]``: which missing names go on to the next plugin, for every plugin with such a line."""

from __future__ import annotations

from collections.abc import Sequence

from kubedns.corefile.options import option
from kubedns.corefile.shapes import Zones
from kubedns.dns.names import Name

FallthroughLine = tuple[Name, ...] | None
"""The zones of the line; empty: it names none; None: there is no line."""


def fallthrough_option(which: str = "missing names") -> FallthroughLine:
    """The line, as a field of a plugin's options; ``which`` names of the zones go on is what its help says."""
    return option(Zones(), default=None, help=f"zones whose {which} go on to the next plugin; without any: all")


def falling_through(written: FallthroughLine, zones: Sequence[Name]) -> tuple[Name, ...]:
    """The zones whose missing names go on, of a plugin that serves ``zones``."""
    return () if written is None else written or tuple(zones)
