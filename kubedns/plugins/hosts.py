"""hosts: names and addresses from a file in the form of /etc/hosts, or from the Corefile itself.

Syntax::

    hosts [FILE [ZONES...]] {
        ADDRESS NAME...
        ttl SECONDS
        no_reverse
        reload DURATION
        fallthrough [ZONES...]
    }

FILE is ``/etc/hosts`` unless given. Lines of ADDRESS and names in the block stand beside the file; a name that they
give is not looked for in it. Addresses have PTR records too, unless ``no_reverse`` is set. The file is looked at every
DURATION (5s; 0s: never again). Names that are in neither go on with ``fallthrough``; else they are SERVFAIL, for a
hosts file has no SOA with which a denial could be proved. A missing file is empty until it appears.

Example::

    .:1053 {
        hosts example.hosts {
            192.0.2.1 host.laptop.example
            ttl 60
            fallthrough
        }
    }
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kubedns.corefile.blocks import Directive
from kubedns.corefile.options import PluginOptions, arguments, flag, option, others
from kubedns.corefile.shapes import Shape, Zones
from kubedns.corefile.suggestions import nearest
from kubedns.corefile.values import Duration, Seconds
from kubedns.dns.answer import Answer, servfail
from kubedns.dns.edns import ErrorCode
from kubedns.dns.names import Name
from kubedns.dns.question import Query
from kubedns.dns.rdata import PTR, Rdata, RecordType, address_rdata
from kubedns.dns.rrset import RRset
from kubedns.observe.rows import HOSTS_ENTRIES, HOSTS_RELOAD
from kubedns.plugins.fallthrough import FallthroughLine, falling_through, fallthrough_option
from kubedns.plugins.plugin import Context, Next, Plugin
from kubedns.zones.files import WatchedFile
from kubedns.zones.hosts import Entry, Hosts, entry_of, hosts_of, parse_hosts

_log = logging.getLogger("plugin/hosts")
_OCTETS = {RecordType.A: 4, RecordType.AAAA: 16}
_MISSING = servfail(ErrorCode.OTHER, "not in the hosts file, which cannot deny a name")


@dataclass(frozen=True, slots=True)
class Place:
    """The file, and the zones whose names it is asked for (empty: the server block's)."""

    file: str = "/etc/hosts"
    zones: tuple[Name, ...] = ()


class PlaceWords(Shape[Place]):
    """``[FILE [ZONES...]]``."""

    syntax = "[FILE [ZONES...]]"

    def read(self, line: Directive) -> Place:
        """File and zones."""
        words = self.words(line)
        return Place(words[0].text, Zones().read(Directive(line.word, words[1:])))


class EntryLine(Shape[Entry]):
    """``ADDRESS NAME...``."""

    syntax = "NAME..."

    def read(self, line: Directive) -> Entry:
        """The entry."""
        names = self.words(line)
        try:
            entry = entry_of(line.word.text, [word.text for word in names])
        except ValueError as error:
            guess = nearest(line.word.text, ("ttl", "no_reverse", "reload", "fallthrough"))
            remedy = f"did you mean `{guess}`?" if guess else "write an address, then its names"
            raise line.word.fault(f"{error}, and no option", remedy) from error
        if not entry.names:
            raise line.word.fault(f"{line.word.text} has no name", "write an address, then its names")
        return entry


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """hosts [FILE [ZONES...]] { ... }: names and addresses from a hosts file."""

    place: Place = arguments(PlaceWords(), default=Place(), help="the file, and the zones whose names it is asked for")
    entries: tuple[Entry, ...] = others(EntryLine(), word="ADDRESS", help="names of an address, beside the file")
    ttl: int = option(Seconds(at_most=65535), default=3600, help="TTL of every record")
    no_reverse: bool = flag(help="addresses have no PTR records")
    reload: float = option(Duration(), default=5.0, help="time between looks at the file; 0s: it is read once")
    fallthrough: FallthroughLine = fallthrough_option()


class HostsPlugin:
    """Answers from ``file`` and the inline entries, for names in ``zones``."""

    word = "hosts"

    def __init__(self, options: Options, zones: Sequence[Name], file: Path, context: Context) -> None:
        self._options = options
        self._zones = zones
        self._fallthrough = falling_through(options.fallthrough, zones)
        self._inline = hosts_of(options.entries)
        self._read = Hosts()
        self._key = ("hosts", str(file))
        self._changed = context.changed
        self._metrics = context.metrics
        self._file = WatchedFile(file, _read, self._take)
        self._file.look()

    def start(self, plugins: Sequence[Plugin]) -> None:
        """Follow changes of the file."""
        if self._options.reload:
            self._file.follow(self._options.reload)

    def close(self) -> None:
        """Follow it no more."""
        self._file.close()

    async def answer(self, query: Query, next_plugin: Next) -> Answer:
        """The records of the name; what is not known goes on, or cannot be answered."""
        question = query.question
        if question.type == RecordType.PTR and not self._options.no_reverse:
            names = self._inline.names.get(question.name.key) or self._read.names.get(question.name.key)
            if names:
                return self._found(query, tuple(PTR(name) for name in names))
        if not question.name.is_within(self._zones):
            return await next_plugin(query)
        addresses = self._inline.addresses.get(question.name.key) or self._read.addresses.get(question.name.key)
        if addresses:
            octets = _OCTETS.get(question.type)
            return self._found(query, tuple(address_rdata(each) for each in addresses if len(each) == octets))
        if question.type == RecordType.PTR or question.name.is_within(self._fallthrough):
            return (await next_plugin(query)).also_on(frozenset({self._key}))
        return _MISSING

    def _found(self, query: Query, rdatas: tuple[Rdata, ...]) -> Answer:
        if query.trace.active:
            query.trace.step(self.word, f"the name stands in {self._file.path} or in the hosts block")
        rrsets = (RRset(query.question.name, self._options.ttl, rdatas),) if rdatas else ()
        return Answer(answer=rrsets, depends_on=frozenset({self._key}), plugin=self.word)

    def _take(self, found: Hosts | None) -> None:
        """What the file says now; None: it is not there."""
        if found is None:
            _log.warning("%s: there is no such file; its names are taken up when it appears", self._file.path)
        self._read = Hosts() if found is None else found
        for fault in self._read.faults[:1]:
            _log.warning("%s:%s; %d lines are left out", self._file.path, fault, len(self._read.faults))
        self._metrics.cell(HOSTS_ENTRIES).value = len(self._read) + len(self._inline)
        self._metrics.cell(HOSTS_RELOAD).value = self._file.modified_seconds
        self._changed([self._key])


def _read(octets: bytes | None) -> Hosts | None:
    return None if octets is None else parse_hosts(octets.decode(errors="replace"))


def make(options: Options, context: Context) -> HostsPlugin:
    """The plugin."""
    beside = context.folder / options.place.file
    return HostsPlugin(options, options.place.zones or context.zones, beside, context)
