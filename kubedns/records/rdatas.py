"""Rdata that several kinds of names are given: addresses, and SRV with the addresses of its targets."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from kubedns.dns.names import Labels, Name
from kubedns.dns.rdata import SRV, Rdata, RecordType, address_rdata
from kubedns.dns.rrset import RRset

_OCTETS = {RecordType.A: 4, RecordType.AAAA: 16}


def address_rdatas(addresses: Iterable[bytes], rtype: int) -> tuple[Rdata, ...]:
    """A or AAAA rdata for each address of that family, each once, in order; nothing for other types."""
    octets = _OCTETS.get(rtype)
    if octets is None:
        return ()
    return tuple([address_rdata(address) for address in dict.fromkeys(addresses) if len(address) == octets])


def address_rrsets(owner: Name, ttl: int, addresses: Iterable[bytes]) -> tuple[RRset, ...]:
    """The A and the AAAA RRset of ``owner``, as far as there are addresses."""
    unique = list(dict.fromkeys(addresses))
    families = (address_rdatas(unique, RecordType.A), address_rdatas(unique, RecordType.AAAA))
    return tuple([RRset(owner, ttl, rdatas) for rdatas in families if rdatas])


class Listener(msgspec.Struct, frozen=True, gc=False):
    """One address of ``target`` where a port is listened on; ``port`` is its name, ``protocol`` as in the API."""

    port: str
    protocol: str
    number: int
    target: Name
    address: bytes


def srv_rdatas(listeners: Iterable[Listener]) -> tuple[Rdata, ...]:
    """SRV for each target and port, each once. Weights share 100 among all addresses, and are at least 1 (RFC 2782)."""
    pairs = {(each.number, each.target.key, each.address): each for each in listeners}
    unique = {(number, target): each for (number, target, _), each in pairs.items()}
    weight = max(1, 100 // max(1, len(pairs)))
    return tuple([SRV(0, weight, each.number, each.target) for each in unique.values()])


def target_rrsets(listeners: Iterable[Listener], ttl: int) -> tuple[RRset, ...]:
    """A and AAAA of every target, for the additional section (RFC 2782)."""
    families: dict[tuple[Labels, int], dict[bytes, Rdata]] = {}
    for each in listeners:
        family = families.setdefault((each.target.labels, len(each.address)), {})
        if each.address not in family:
            family[each.address] = address_rdata(each.address)
    return tuple([RRset(Name(labels, labels), ttl, tuple(found.values())) for (labels, _), found in families.items()])
