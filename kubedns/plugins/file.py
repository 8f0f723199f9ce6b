"""file: a zone from a master file.

Syntax::

    file FILE [ZONES...] {
        reload DURATION
        fallthrough [ZONES...]
        upstream
    }

FILE is a master file (RFC 1035 §5), looked for beside the Corefile or below ``root``. ZONES, by default those of the
server block, are each read from it, its relative names being below the zone. The file is looked at every DURATION (1m;
0s: never again), and taken up whenever its records have changed. A serial that is not above the last is warned of,
since other servers go by it. While the file cannot be read, the last good zone stays in force. A file that is missing
is SERVFAIL until it appears, unless it is never looked at again. Aliases that lead out of the zone are followed as any
other name is asked; ``upstream`` has no effect. With ``fallthrough`` missing names go on to the next plugin.

Example::

    example.org:1053 {
        file example.org.zone {
            reload 10s
        }
    }
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from kubedns.corefile.blocks import Directive, Word
from kubedns.corefile.options import PluginOptions, arguments, ignored, option
from kubedns.corefile.shapes import Shape, Zones
from kubedns.corefile.values import Duration
from kubedns.dns.answer import Answer, Rcode, servfail
from kubedns.dns.edns import ErrorCode
from kubedns.dns.names import Name
from kubedns.dns.question import Query
from kubedns.plugins.fallthrough import FallthroughLine, falling_through, fallthrough_option
from kubedns.plugins.given_zones import ZonesOfFiles, zones_before
from kubedns.plugins.plugin import Context, Next, Plugin
from kubedns.plugins.root import folder_of
from kubedns.zones.files import ZoneFile
from kubedns.zones.zone import Zone

_UNREAD = servfail(ErrorCode.NOT_READY, "the zone's file cannot be read")


@dataclass(frozen=True, slots=True)
class Place:
    """The file, and the zones that it holds (empty: the server block's)."""

    file: Word
    zones: tuple[Name, ...]


class PlaceWords(Shape[Place]):
    """``FILE [ZONES...]``."""

    syntax = "FILE [ZONES...]"

    def read(self, line: Directive) -> Place:
        """File and zones."""
        words = self.words(line, 1)
        return Place(words[0], Zones().read(Directive(line.word, words[1:])))


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """file FILE [ZONES...] { ... }: a zone from a master file."""

    place: Place = arguments(PlaceWords(), help="the file, and the zones that it holds")
    reload: float = option(Duration(), default=60.0, help="time between looks at the file; 0s: it is read once")
    fallthrough: FallthroughLine = fallthrough_option()
    upstream: bool = ignored("aliases are followed as any other name is asked")


class File(ZonesOfFiles):
    """Answers from ``files``, by the longest zone that a name is in."""

    word = "file"

    def __init__(self, files: dict[Name, ZoneFile], reload_seconds: float, fallthrough: Sequence[Name]) -> None:
        self._files = dict(sorted(files.items(), key=lambda each: -len(each[0].key)))
        self._reload_seconds = reload_seconds
        self._fallthrough = fallthrough

    def start(self, plugins: Sequence[Plugin]) -> None:
        """Follow changes of the files."""
        if self._reload_seconds:
            for file in self._files.values():
                file.follow(self._reload_seconds)

    def close(self) -> None:
        """Follow them no more."""
        for file in self._files.values():
            file.close()

    def zone_files(self) -> Iterable[ZoneFile]:
        """The files of its zones."""
        return self._files.values()

    def apexes(self) -> Iterable[Name]:
        """Where the files' zones begin."""
        return list(self._files)

    def zone_at(self, apex: Name) -> Zone | None:
        """The zone that begins there, if its file has ever been read."""
        file = self._files.get(apex)
        return None if file is None else file.zone

    async def answer(self, query: Query, next_plugin: Next) -> Answer:
        """What the zone says; other zones' names go on, and so does a missing one that may."""
        name = query.question.name
        for origin, file in self._files.items():
            if name.is_at_or_below(origin):
                return await answer_from(file, query, next_plugin, self._fallthrough)
        return await next_plugin(query)


async def answer_from(file: ZoneFile, query: Query, next_plugin: Next, fallthrough: Sequence[Name]) -> Answer:
    """What the zone in ``file`` says; a missing name in one of ``fallthrough`` goes on."""
    if file.zone is None:
        return _UNREAD
    if query.trace.active:
        query.trace.step("file", f"zone {file.zone.origin}, serial {file.zone.serial}")
    answer = file.zone.answer(query.question)
    keys = frozenset({file.key})
    if answer.rcode == Rcode.NXDOMAIN and query.question.name.is_within(fallthrough):
        return (await next_plugin(query)).also_on(keys)
    return msgspec.structs.replace(answer, depends_on=keys, plugin="file")


def make(options: Options, context: Context) -> File:
    """The plugin.

    Raises:
        ConfigurationError: the file is no zone, or is missing and never looked for again.
    """
    word = options.place.file
    zones = options.place.zones or context.zones
    path = folder_of(context) / word.text
    before = zones_before(context)
    files = {zone: ZoneFile(path, zone, context.changed, before) for zone in zones}
    for file in files.values():
        file.look()
        if file.fault and (path.exists() or not options.reload):
            place = f"{file.fault.location}: " if file.fault.location else ""
            remedy = file.fault.remedy or "name a master file beside the Corefile or below `root`"
            raise word.fault(f"file: {place}{file.fault.message}", remedy)
    fallthrough = falling_through(options.fallthrough, zones)
    return File(files, options.reload, fallthrough)
