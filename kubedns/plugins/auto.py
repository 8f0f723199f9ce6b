r"""auto: a zone from each master file of a folder; files come and go while the server runs.

Syntax::

    auto [ZONES...] {
        directory FOLDER [REGEXP ORIGIN]
        reload DURATION
        fallthrough [ZONES...]
    }

Every file in FOLDER and below whose name is REGEXP is a zone; ORIGIN names it, ``{1}``, ``{2}`` ... standing for the
groups of REGEXP. Without them it is ``db\.(.*)`` and ``{1}``: the file ``db.example.org`` is the zone example.org.
Only zones in ZONES, by default those of the server block, are served. FOLDER, without a ``directory`` line the one
that ``root`` names, is looked at every DURATION (1m); while it cannot be, what was there stays. A file that is no zone,
or is left out by the rules above, is told of once, with what to do about it. Entries that begin with two dots are
passed over: a mounted ConfigMap keeps its versions there.

Example::

    example.org:1053 {
        auto {
            directory .
            reload 30s
        }
    }
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kubedns.corefile.options import PluginOptions, arguments, option
from kubedns.corefile.shapes import Zones
from kubedns.corefile.values import Duration
from kubedns.dns.answer import Answer, Key
from kubedns.dns.names import Name
from kubedns.dns.question import Query
from kubedns.plugins.auto_files import Directory, DirectoryWords, Found, find_zones
from kubedns.plugins.fallthrough import FallthroughLine, falling_through, fallthrough_option
from kubedns.plugins.file import answer_from
from kubedns.plugins.given_zones import ZonesOfFiles, zones_before
from kubedns.plugins.plugin import Context, Next, Plugin
from kubedns.plugins.root import folder_of
from kubedns.zones.files import ZoneFile
from kubedns.zones.zone import Zone

_log = logging.getLogger("plugin/auto")

Files = dict[Name, tuple[Path, ZoneFile]]


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """auto [ZONES...] { ... }: a zone from each master file of a folder."""

    zones: tuple[Name, ...] = arguments(Zones(), default=(), help="what zones are in; else the server block's")
    directory: Directory = option(DirectoryWords(), default=Directory(), help="the folder, and which files are zones")
    reload: float = option(Duration(at_least=0.001), default=60.0, help="time between looks at the folder")
    fallthrough: FallthroughLine = fallthrough_option()


class Auto(ZonesOfFiles):
    """Answers from the zones in ``folder``, by the longest one that a name is in."""

    word = "auto"

    def __init__(self, options: Options, folder: Path, context: Context) -> None:
        self._directory = options.directory
        self._folder = folder
        self._zones = options.zones or context.zones
        self._fallthrough = falling_through(options.fallthrough, self._zones)
        self._reload_seconds = options.reload
        self._changed = context.changed
        self._before = zones_before(context)
        self._key: Key = ("auto", str(folder))
        self._files: Files = {}
        self._told: set[str] = set()
        self._looking: asyncio.Task[None] | None = None
        self.look()
        self._before.clear()

    def start(self, plugins: Sequence[Plugin]) -> None:
        """Follow changes of the folder."""
        self._looking = asyncio.get_running_loop().create_task(self._follow())

    def close(self) -> None:
        """Follow it no more."""
        if self._looking is not None:
            self._looking.cancel()

    def zone_files(self) -> Iterable[ZoneFile]:
        """The files of its zones."""
        return [file for _, file in self._files.values()]

    def apexes(self) -> Iterable[Name]:
        """Where the files' zones begin."""
        return list(self._files)

    def zone_at(self, apex: Name) -> Zone | None:
        """The zone that begins there, if its file has ever been read."""
        found = self._files.get(apex)
        return None if found is None else found[1].zone

    async def answer(self, query: Query, next_plugin: Next) -> Answer:
        """What a zone says; other names go on."""
        name = query.question.name
        for length in range(len(name.key), -1, -1):
            found = self._files.get(Name(name.labels[len(name.key) - length :], name.key[len(name.key) - length :]))
            if found is not None:
                return (await answer_from(found[1], query, next_plugin, self._fallthrough)).also_on(
                    frozenset({self._key})
                )
        answer = await next_plugin(query)
        return answer.also_on(frozenset({self._key})) if name.is_within(self._zones) else answer

    def look(self) -> None:
        """Take up new files and changed ones, and give up those that are gone."""
        files = self._files_of(self._found())
        for _, file in files.values():
            file.look()
        self._take(files)

    async def look_aside(self) -> None:
        """The same, while the loop goes on."""
        files = self._files_of(await asyncio.to_thread(self._found))
        for _, file in files.values():
            await file.look_aside()
        self._take(files)

    def _found(self) -> Found | OSError:
        return find_zones(self._folder, self._directory, self._zones)

    def _files_of(self, found: Found | OSError) -> Files:
        """The files of the zones ``found``; those that are new have not been read yet."""
        if isinstance(found, OSError):
            self._tell([f"{self._folder}: cannot be looked at: {found.strerror}; what was there stays in force"])
            return self._files
        self._tell(found.faults)
        known = {(origin, path): file for origin, (path, file) in self._files.items()}
        return {
            origin: (path, known.get((origin, path)) or ZoneFile(path, origin, self._changed, self._before))
            for origin, path in found.zones.items()
        }

    def _tell(self, faults: Sequence[str]) -> None:
        """Say what is wrong, unless it has been said and is so still."""
        for fault in faults:
            if fault not in self._told:
                _log.warning("%s", fault)
        self._told = set(faults)

    def _take(self, files: Files) -> None:
        before, self._files = self._files, files
        for origin in before.keys() - files.keys():
            _log.info("%s: gone, and zone %s with it", before[origin][0], origin)
        new = [origin for origin in files if before.get(origin) != files[origin]]
        for origin in new:
            _log.info("%s: zone %s", files[origin][0], origin)
        if new or len(before) != len(files):
            self._changed([self._key])

    async def _follow(self) -> None:
        while True:
            await asyncio.sleep(self._reload_seconds)
            await self.look_aside()


def make(options: Options, context: Context) -> Auto:
    """The plugin.

    Raises:
        ConfigurationError: the folder is missing.
    """
    word, folder = options.directory.folder, folder_of(context)
    if word is None:
        return Auto(options, folder, context)
    if not (folder / word.text).is_dir():
        raise word.fault(f"auto: no folder {word.text}", "name one that is there, beside the Corefile or below `root`")
    return Auto(options, folder / word.text, context)
