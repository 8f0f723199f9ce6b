"""Zone: a zone's canonical names, made in one place."""

from __future__ import annotations

from kubedns.dns.names import MAX_LABEL_OCTETS, MAX_NAME_OCTETS, Name, is_reverse, name_of
from kubedns.dns.rdata import SOA
from kubedns.dns.rrset import RRset
from kubedns.records.owner import Owner, Tree, parse_owner, parse_reverse_owner

_SERVICES = Tree.SERVICES.value.encode()
MAX_ZONE_OCTETS = MAX_NAME_OCTETS - 3 * (1 + MAX_LABEL_OCTETS) - 1 - len(_SERVICES)
"""The longest forward zone in which ``ENDPOINT.SERVICE.NAMESPACE.svc`` is a name, whatever the labels."""
_REFRESH, _RETRY, _EXPIRE = 7200, 1800, 86400


class Zone:
    """A zone as configured, in lower case. ``ttl`` in seconds."""

    __slots__ = ("_length", "_mname", "_rname", "_services", "_ttl", "is_reverse", "key", "name")

    def __init__(self, name: Name, ttl: int) -> None:
        self.name = name_of(name.key)
        self.key = name.key
        self.is_reverse = is_reverse(name)
        self._length = len(name.key)
        self._services = (_SERVICES, *name.key)
        self._mname = self.name.child(b"ns", b"dns")
        self._rname = self.name.child(b"hostmaster")
        self._ttl = ttl

    def holds(self, name: Name) -> bool:
        """Whether ``name`` is the zone's apex or below it."""
        return not self._length or name.key[-self._length :] == self.key

    def owner(self, name: Name) -> Owner:
        """What ``name``, which the zone holds, stands for."""
        labels = name.key[: len(name.key) - self._length]
        return parse_reverse_owner(labels, name.key) if self.is_reverse else parse_owner(labels)

    def soa(self, serial: int) -> RRset:
        """The SOA record; a denial may be kept as long as any record (RFC 2308 §4, §5)."""
        soa = SOA(self._mname, self._rname, serial, _REFRESH, _RETRY, _EXPIRE, self._ttl)
        return RRset(self.name, self._ttl, (soa,))

    @property
    def name_server(self) -> Name:
        """``ns.dns.<zone>``."""
        return self._mname

    def service_name(self, namespace: str, service: str) -> Name:
        """``SERVICE.NAMESPACE.svc.<zone>``."""
        octets = (service.encode(), namespace.encode(), *self._services)
        return Name(octets, octets)

    def service_child(self, namespace: str, service: str, *labels: str) -> Name:
        """The name with ``labels`` in front of the Service's."""
        return child_of(self.service_name(namespace, service), *labels)

    def child(self, *labels: str) -> Name:
        """The name with ``labels`` directly in front of the zone's."""
        return child_of(self.name, *labels)


def child_of(parent: Name, *labels: str) -> Name:
    """The name with ``labels`` in front of a canonical one."""
    octets = (*[label.encode() for label in labels], *parent.key)
    return Name(octets, octets)
