"""What plugins with static zones give to those who want a zone whole (plugin.Transferable)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator

from kubedns.dns.answer import Key
from kubedns.dns.names import Name
from kubedns.dns.rrset import RRset
from kubedns.plugins.plugin import Context
from kubedns.zones.files import ZoneFile
from kubedns.zones.zone import Zone


class GivenZones(ABC):
    """Gives the zones that :meth:`zone_at` finds."""

    @abstractmethod
    def zone_at(self, apex: Name) -> Zone | None:
        """The zone that begins at ``apex``; None: there is none, or it is not to be given."""

    def soa(self, zone: Name) -> RRset | None:
        """The SOA of the zone that begins there."""
        found = self.zone_at(zone)
        return None if found is None else found.soa

    def zone_records(self, zone: Name) -> Iterator[RRset]:
        """Every RRset of it; a zone that takes its place meanwhile changes nothing of them."""
        found = self.zone_at(zone)
        return iter(()) if found is None else found.records()


class ZonesOfFiles(GivenZones):
    """Gives the zones that it reads from files."""

    @abstractmethod
    def zone_files(self) -> Iterable[ZoneFile]:
        """The files of its zones."""


def zones_before(context: Context) -> dict[Key, Zone]:
    """The zones of the configuration before, by the keys of their files: a broken one may stay in force for longer."""
    files = (file for each in context.before if isinstance(each, ZonesOfFiles) for file in each.zone_files())
    return {file.key: file.zone for file in files if file.zone is not None}
