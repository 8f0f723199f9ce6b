"""Master files: text → Zone (RFC 1035 §5, RFC 2308 §4), read by dnspython. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left

import dns.exception
import dns.name
import dns.zone

from kubedns.dns.names import Name, name_of
from kubedns.dns.record_text import rdata_of
from kubedns.dns.reply import UnreadableReplyError
from kubedns.dns.rrset import RRset
from kubedns.zones.zone import BadZoneError, Zone

_DIRECTIVES = ("$ORIGIN", "$TTL", "$GENERATE")
_PLACE = re.compile(r"(?:<file>:(\d+): )?(.*?)\.?", re.DOTALL)
_SHOWN = 60
"""Characters of a line at fault that are shown."""
_REMEDIES = (
    ("no SOA record", "begin with one: `@ 3600 SOA ns hostmaster 1 3600 900 604800 300`"),
    ("CNAME", "an alias has no records beside it (RFC 1034 §3.6.2): leave the one or the others out"),
    ("zone file directive", f"put what it names here: {', '.join(_DIRECTIVES)} are known"),
    ("rdatatype", "write a type such as A, AAAA or TYPE65280 after the name, the TTL and the class"),
    ("parentheses", "close what `(` opens"),
    ("label", "a label has 1 to 63 octets, a name at most 255"),
    ("TTL", "write seconds, or `$TTL 3600` above the first record"),
    ("UTF-8", "save the file as UTF-8, or write an octet like \\228"),
    ("", "write `NAME [TTL] [IN] TYPE` and the fields of that type (RFC 1035 §5)"),
)
"""What to do about a message that has these words in it; the first that fits."""


class BadMasterFileError(ValueError):
    """Text that is no zone. ``line``: where it stops being one; 0: it is so as a whole. ``remedy``: what to do."""

    def __init__(self, line: int, message: str, shown: str = "") -> None:
        """``shown``: the text at fault, if it can be shown."""
        super().__init__(f"`{shown}`: {message}" if shown else message)
        self.line = line
        self.remedy = next(remedy for words, remedy in _REMEDIES if words in message)


def read_zone(octets: bytes, origin: Name) -> Zone:
    """The same as :func:`parse_zone`, of a file's octets."""
    try:
        text = octets.decode()
    except UnicodeDecodeError as error:
        line = 1 + octets.count(b"\n", 0, error.start)
        raise BadMasterFileError(line, f"the octet {octets[error.start]} is no UTF-8") from error
    return parse_zone(text, origin)


def parse_zone(text: str, origin: Name) -> Zone:
    """The zone ``origin`` that a master file describes; names without a final dot are below ``origin``.

    ``$ORIGIN``, ``$TTL`` and ``$GENERATE`` are known; ``$INCLUDE`` is not, since nothing else is read.

    Raises:
        BadMasterFileError: it describes none.
    """
    top = dns.name.Name((*origin.labels, b""))
    try:
        found = _read(text, top)
        return Zone(
            origin,
            [
                RRset(name_of(name.labels[:-1]), rdataset.ttl, tuple(map(rdata_of, rdataset)))
                for name, rdataset in found.iterate_rdatasets()
            ],
        )
    except dns.exception.DNSException as error:
        raise _fault(error, text, top) from error
    except (BadZoneError, UnreadableReplyError, ValueError) as error:
        raise BadMasterFileError(0, str(error)) from error


def _read(text: str, top: dns.name.Name) -> dns.zone.Zone:
    return dns.zone.from_text(
        text,
        origin=top,
        relativize=False,
        filename="<file>",
        check_origin=False,
        allow_directives=_DIRECTIVES,
    )


def _fault(error: dns.exception.DNSException, text: str, top: dns.name.Name) -> BadMasterFileError:
    """The fault with its line: that which dnspython names, or the one before where it had read on to the next."""
    place = _PLACE.fullmatch(str(error) or type(error).__name__)
    assert place is not None
    lines = text.splitlines()

    def is_there(count: int) -> bool:
        """Whether it is in the first ``count`` lines."""
        try:
            _read("\n".join(lines[:count]) + "\n", top)
        except dns.exception.DNSException as other:
            return isinstance(other, type(error))
        return False

    if not place[1]:
        line = 1 + bisect_left(range(1, len(lines)), True, key=is_there)
    else:
        line = int(place[1])
        line -= is_there(line - 1)
    shown = lines[line - 1].strip() if line <= len(lines) else ""
    return BadMasterFileError(line, place[2], shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}...")
