"""Master files: text → Zone (RFC 1035 §5, RFC 2308 §4), read by dnspython. Pure."""

from __future__ import annotations

import re

import dns.exception
import dns.name
import dns.node
import dns.rdataset
import dns.zone

from kubedns.dns.names import Name, name_of
from kubedns.dns.record_text import rdata_of
from kubedns.dns.reply import UnreadableReplyError
from kubedns.dns.rrset import RRset
from kubedns.zones.zone import BadZoneError, Zone

_DIRECTIVES = ("$ORIGIN", "$TTL", "$GENERATE")
_PLACE = re.compile(r"(?:<file>:(\d+): )?(.*)", re.DOTALL)


class BadMasterFileError(ValueError):
    """Text that is no zone. ``line``: where it stops being one; 0: it is so as a whole."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


def parse_zone(text: str, origin: Name) -> Zone:
    """The zone ``origin`` that a master file describes; names without a final dot are below ``origin``.

    ``$ORIGIN``, ``$TTL`` and ``$GENERATE`` are known; ``$INCLUDE`` is not, since nothing else is read.

    Raises:
        BadMasterFileError: it describes none.
    """
    try:
        found = dns.zone.from_text(
            text,
            origin=dns.name.Name((*origin.labels, b"")),
            relativize=False,
            zone_factory=_Read,
            filename="<file>",
            check_origin=False,
            allow_directives=_DIRECTIVES,
        )
        return Zone(
            origin,
            [
                RRset(name_of(name.labels[:-1]), rdataset.ttl, tuple(map(rdata_of, rdataset)))
                for name, rdataset in found.iterate_rdatasets()
            ],
        )
    except dns.exception.DNSException as error:
        place = _PLACE.fullmatch(str(error) or type(error).__name__)
        assert place is not None
        raise BadMasterFileError(int(place[1] or 0), place[2]) from error
    except (BadZoneError, UnreadableReplyError, ValueError) as error:
        raise BadMasterFileError(0, str(error)) from error


class _Node(dns.node.Node):
    """Refuses what dnspython would settle in silence, by forgetting the one or the other."""

    def _append_rdataset(self, rdataset: dns.rdataset.Rdataset) -> None:
        kinds = {dns.node.NodeKind.classify_rdataset(each) for each in (*self.rdatasets, rdataset)}
        if {dns.node.NodeKind.CNAME, dns.node.NodeKind.REGULAR} <= kinds:
            raise dns.exception.SyntaxError("a CNAME beside other records of its name")  # type: ignore[no-untyped-call]
        self.rdatasets.append(rdataset)


class _Read(dns.zone.Zone):
    node_factory = _Node
