"""Records as master-file text → RRset (RFC 1035 §5)."""

from __future__ import annotations

import dns.exception
import dns.name
import dns.rdata
import dns.rdataclass
import dns.rdatatype
import dns.tokenizer
import dns.ttl

from kubedns.dns.names import name_of
from kubedns.dns.rdata import Rdata
from kubedns.dns.reply import UnreadableReplyError, read_rdata
from kubedns.dns.rrset import RRset

_DEFAULT_TTL = 3600
"""The TTL of a record that states none, as CoreDNS has it."""


class BadRecordError(ValueError):
    """Text that is no record of class IN; ``str()`` says why."""


def parse_record(text: str) -> RRset:
    """Read one record: owner, TTL and class in any order, type, rdata. A name without its final dot gets one.

    Raises:
        BadRecordError: it is none.
    """
    try:
        return _read(dns.tokenizer.Tokenizer(text))
    except (dns.exception.DNSException, UnreadableReplyError, ValueError) as error:
        raise BadRecordError(str(error) or type(error).__name__) from error


def _read(tokens: dns.tokenizer.Tokenizer) -> RRset:
    owner = tokens.get_name(dns.name.root)
    ttl, word = _DEFAULT_TTL, tokens.get_string()
    for _ in range(2):
        if word[:1].isdigit():
            ttl, word = dns.ttl.from_text(word), tokens.get_string()
        elif word.upper() == "IN":
            word = tokens.get_string()
    rdtype = dns.rdatatype.from_text(word)
    rdata = dns.rdata.from_text(dns.rdataclass.IN, rdtype, tokens, origin=dns.name.root, relativize=False)
    if not tokens.get().is_eof():
        raise ValueError("more than one record")
    return RRset(name_of(owner.labels[:-1]), ttl, (rdata_of(rdata),))


def rdata_of(rdata: dns.rdata.Rdata) -> Rdata:
    """The rdata that dnspython has read, its names absolute.

    Raises:
        UnreadableReplyError: it is broken in a way that dnspython lets pass.
    """
    octets = rdata.to_wire(origin=dns.name.root) or b""
    return read_rdata(octets, 0, len(octets), rdata.rdtype)
