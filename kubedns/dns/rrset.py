"""RRsets: all records of one owner and type (RFC 2181 §5)."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from kubedns.dns.names import Name
from kubedns.dns.rdata import SOA, Rdata, type_name

CLASS_IN, CLASS_CH = 1, 3
CLASSES = {"IN": 1, "CS": 2, "CH": 3, "HS": 4, "NONE": 254, "ANY": 255}
"""Classes by their names (RFC 1035 §3.2.4, RFC 2136 §1.3); the last two are those of questions alone."""
_CLASS_NAMES = {number: name for name, number in CLASSES.items()}


def class_name(number: int) -> str:
    """The class as master files write it, ``CLASS5`` where it has no name (RFC 3597 §5)."""
    return _CLASS_NAMES.get(number, f"CLASS{number}")


class RRset(msgspec.Struct, frozen=True, gc=False):
    """The rdatas of one ``owner`` and type, class IN. ``ttl`` in seconds, 0..2**31-1; ``rdatas`` is never empty."""

    owner: Name
    ttl: int
    rdatas: tuple[Rdata, ...]

    @property
    def type(self) -> int:
        """The type's number, the same for every rdata."""
        return self.rdatas[0].type

    def lines(self) -> Iterator[str]:
        """A master-file line for each record (RFC 1035 §5)."""
        for rdata in self.rdatas:
            yield f"{self.owner} {self.ttl} IN {type_name(rdata.type)} {rdata}"


def soa_of(rrset: RRset) -> SOA:
    """The one rdata of a SOA's RRset (RFC 1035 §5.2)."""
    (soa,) = rrset.rdatas
    assert isinstance(soa, SOA)
    return soa
