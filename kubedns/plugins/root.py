"""root: the folder that a server block's zone files are looked for in.

Syntax: ``root FOLDER``

FOLDER is looked for beside the Corefile; without the line, files are looked for beside the Corefile themselves.

Example::

    example.org:1053 {
        root zones
        file example.org.zone
    }
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kubedns.corefile.options import PluginOptions, arguments
from kubedns.corefile.shapes import Group
from kubedns.corefile.values import Text
from kubedns.plugins.plugin import Context

_FOLDER: Group[str] = Group(str, {"FOLDER": Text()})


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """root FOLDER: where zone files are."""

    folder: str = arguments(_FOLDER, help="the folder that files of the server block are looked for in")


class Root:
    """Holds the ``folder``."""

    word = "root"

    def __init__(self, folder: Path) -> None:
        self.folder = folder


def folder_of(context: Context) -> Path:
    """Where files of the server block are looked for."""
    return next((plugin.folder for plugin in context.block if isinstance(plugin, Root)), context.folder)


def make(options: Options, context: Context) -> Root:
    """The plugin."""
    return Root(context.folder / options.folder)
