"""What holds of the reaction to any octets whatever: the reader raises nothing, and what is written is sound."""

from __future__ import annotations

import dns.message
import dns.rcode

from kubedns.dns.answer import Answer, Rcode, data, nxdomain, servfail
from kubedns.dns.edns import ErrorCode, udp_limit
from kubedns.dns.message import MAX_MESSAGE_OCTETS, write_rejection, write_response
from kubedns.dns.names import parse_name
from kubedns.dns.question import Client, Query, Transport
from kubedns.dns.rdata import SOA, SRV, TXT, A
from kubedns.dns.reader import read_query
from kubedns.dns.rrset import RRset

_CLIENT = Client(b"\x7f\0\0\1", "127.0.0.1", 53053, Transport.UDP)
_ZONE = parse_name("cluster.local.")
_SOA = RRset(_ZONE, 5, (SOA(parse_name("ns.dns.cluster.local."), parse_name("root.cluster.local."), 1, 2, 3, 4, 5),))


def check_reaction(octets: bytes) -> None:
    """Read a message and write each kind of response to it.

    Raises:
        AssertionError: a response is not what a client could read.
    """
    query = read_query(octets, _CLIENT)
    if query is None:
        return
    if not isinstance(query, Query):
        _check(write_rejection(query), octets, MAX_MESSAGE_OCTETS)
        return
    for answer in _answers(query):
        for limit in (udp_limit(query.edns), MAX_MESSAGE_OCTETS):
            response = write_response(query, answer, limit)
            _check(response, octets, limit)
            end = 12 + query.question.name.octets() + 4
            assert response[12:end] == octets[12:end]


def _answers(query: Query) -> tuple[Answer, ...]:
    owner = query.question.name
    addresses = RRset(owner, 5, tuple(A(number.to_bytes(4)) for number in range(90)))
    services = RRset(owner, 5, (SRV(0, 100, 53, owner), SRV(0, 100, 53, _ZONE)))
    return (
        data((addresses, RRset(owner, 5, (TXT((b"x" * 255, b"")),))), frozenset(), (services,)),
        nxdomain(_SOA, frozenset()),
        servfail(ErrorCode.NOT_READY, "not ready"),
        Answer(rcode=Rcode.REFUSED, authoritative=False),
    )


def _check(response: bytes, octets: bytes, limit: int) -> None:
    assert len(response) <= limit
    assert response[:2] == octets[:2]
    assert response[2] & 0x80, "QR is clear"
    dns.message.from_wire(response, keyring=False, one_rr_per_rrset=True)
