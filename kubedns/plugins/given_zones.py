"""What plugins with static zones give to those who want a zone whole (plugin.Transferable)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

from kubedns.dns.names import Name
from kubedns.dns.rrset import RRset
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
