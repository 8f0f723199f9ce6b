"""bind: the addresses that a server block listens on.

Syntax::

    bind ADDRESS|INTERFACE... {
        except ADDRESS|INTERFACE...
    }

An interface stands for all its addresses. Without ``bind`` a block listens on every address of the machine.

Example::

    cluster.local:1053 {
        bind 127.0.0.1 ::1
    }
"""

from __future__ import annotations

from dataclasses import dataclass

from kubedns.corefile.blocks import Word
from kubedns.corefile.options import PluginOptions, arguments, option
from kubedns.corefile.shapes import Many, OneWord


class Place(OneWord[Word]):
    """An address or an interface, kept with its location: only the machine can tell which it is."""

    syntax = "ADDRESS|INTERFACE"

    def convert(self, word: Word) -> Word:
        """The word."""
        return word


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """bind ADDRESS|INTERFACE... { except ADDRESS|INTERFACE... }: where a server block listens."""

    places: tuple[Word, ...] = arguments(Many(Place(), 1), help="addresses, or interfaces with all of theirs")
    excepted: tuple[Word, ...] = option(
        Many(Place(), 1), default=(), word="except", help="addresses or interfaces to leave out"
    )
