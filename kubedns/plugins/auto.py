r"""auto: a zone from each master file of a folder; files come and go while the server runs.

Syntax::

    auto [ZONES...] {
        directory FOLDER [REGEXP ORIGIN]
        reload DURATION
        fallthrough [ZONES...]
    }

Every file in FOLDER and below whose name is REGEXP is a zone; ORIGIN names it, ``{1}``, ``{2}`` ... standing for the
groups of REGEXP. Without them it is ``db\.(.*)`` and ``{1}``: the file ``db.example.org`` is the zone example.org.
Only zones in ZONES, by default those of the server block, are served. FOLDER, without a ``directory`` line the one that
``root`` names, is looked at every DURATION (1m).

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
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kubedns.corefile.blocks import Directive, Word
from kubedns.corefile.options import PluginOptions, arguments, option
from kubedns.corefile.shapes import Shape, Zones, unfit
from kubedns.corefile.values import Duration
from kubedns.dns.answer import Answer, Key
from kubedns.dns.names import BadNameError, Name, parse_name
from kubedns.dns.question import Query
from kubedns.plugins.fallthrough import FallthroughLine, falling_through, fallthrough_option
from kubedns.plugins.file import answer_from
from kubedns.plugins.given_zones import GivenZones
from kubedns.plugins.plugin import Context, Next, Plugin
from kubedns.plugins.root import folder_of
from kubedns.zones.files import ZoneFile
from kubedns.zones.zone import Zone

_PLACEHOLDER = re.compile(r"\{(\d+)\}")
_log = logging.getLogger("plugin/auto")

Files = dict[Name, tuple[Path, ZoneFile]]


@dataclass(frozen=True, slots=True)
class Directory:
    """Files below ``folder`` (None: the server block's) whose name is ``pattern`` are zones named by ``origin``."""

    folder: Word | None = None
    pattern: re.Pattern[str] = re.compile(r"db\.(.*)")
    origin: str = "{1}"


class DirectoryWords(Shape[Directory]):
    """``FOLDER [REGEXP ORIGIN]``."""

    syntax = "FOLDER [REGEXP ORIGIN]"

    def read(self, line: Directive) -> Directory:
        """Folder, pattern and template."""
        folder, *rest = self.words(line, 1, 3)
        if not rest:
            return Directory(folder)
        if len(rest) == 1:
            raise unfit(rest[0], "a pattern without the zone's name", f"write `directory {self.syntax}`")
        try:
            pattern = re.compile(rest[0].text)
        except re.error as error:
            raise unfit(rest[0], f"no regular expression: {error}") from error
        groups = {int(number) for number in _PLACEHOLDER.findall(rest[1].text)}
        if any(number > pattern.groups for number in groups):
            raise unfit(rest[1], f"of more groups than the {pattern.groups} of the pattern")
        return Directory(folder, pattern, rest[1].text)


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """auto [ZONES...] { ... }: a zone from each master file of a folder."""

    zones: tuple[Name, ...] = arguments(Zones(), default=(), help="what zones are in; else the server block's")
    directory: Directory = option(DirectoryWords(), default=Directory(), help="the folder, and which files are zones")
    reload: float = option(Duration(at_least=0.001), default=60.0, help="time between looks at the folder")
    fallthrough: FallthroughLine = fallthrough_option()


class Auto(GivenZones):
    """Answers from the zones in ``folder``, by the longest one that a name is in."""

    word = "auto"

    def __init__(self, options: Options, folder: Path, context: Context) -> None:
        self._directory = options.directory
        self._folder = folder
        self._zones = options.zones or context.zones
        self._fallthrough = falling_through(options.fallthrough, self._zones)
        self._reload_seconds = options.reload
        self._changed = context.changed
        self._key: Key = ("auto", str(folder))
        self._files: Files = {}
        self._looking: asyncio.Task[None] | None = None
        self.look()

    def start(self, plugins: Sequence[Plugin]) -> None:
        """Follow changes of the folder."""
        self._looking = asyncio.get_running_loop().create_task(self._follow())

    def close(self) -> None:
        """Follow it no more."""
        if self._looking is not None:
            self._looking.cancel()

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

    def _files_of(self, found: dict[Name, Path]) -> Files:
        """The files of the zones ``found``; those that are new have not been read yet."""
        known = {(origin, path): file for origin, (path, file) in self._files.items()}
        return {
            origin: (path, known.get((origin, path)) or ZoneFile(path, origin, self._changed))
            for origin, path in found.items()
        }

    def _take(self, files: Files) -> None:
        before, self._files = self._files, files
        for origin in before.keys() - files.keys():
            _log.info("%s: gone, and zone %s with it", before[origin][0], origin)
        new = [origin for origin in files if before.get(origin) != files[origin]]
        for origin in new:
            _log.info("%s: zone %s", files[origin][0], origin)
        if new or len(before) != len(files):
            self._changed([self._key])

    def _found(self) -> dict[Name, Path]:
        """The zones there are; of two files for one, the first by name counts. May run in a thread."""
        found: dict[Name, Path] = {}
        for path in sorted(path for path in self._folder.rglob("*") if path.is_file()):
            match = self._directory.pattern.fullmatch(path.name)
            if match is None:
                continue
            text = _PLACEHOLDER.sub(lambda each, match=match: match[int(each[1])] or "", self._directory.origin)  # type: ignore[misc]
            try:
                origin = parse_name(text)
            except BadNameError:
                continue
            if origin.is_within(self._zones):
                found.setdefault(origin, path)
        return found

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
