"""A zone's own records: SOA, NS, the name server's addresses, the version of the schema."""

from __future__ import annotations

from kubedns.cluster.lister import service_key
from kubedns.cluster.objects import Service
from kubedns.dns.rdata import NS, TXT, RecordType
from kubedns.records.lookup import EXISTS, Found, Lookup
from kubedns.records.rdatas import address_rdatas, address_rrsets

SCHEMA_VERSION = b"1.1.0"
SCHEMA_VERSION_TTL = 28800
DNS_SERVICE = ("kube-system", "kube-dns")
"""Namespace and name of the Service that clients reach the DNS servers by, whatever server is behind it."""


def find_apex(lookup: Lookup, serial: int) -> Found:
    """SOA and NS at the apex, the name server's addresses with the latter (RFC 1035 §3.3.11)."""
    if lookup.type == RecordType.SOA:
        return Found(lookup.zone.soa(serial).rdatas)
    if lookup.type == RecordType.NS:
        name_server = lookup.zone.name_server
        return Found((NS(name_server),), address_rrsets(name_server, lookup.options.ttl, _addresses(lookup)))
    return EXISTS


def find_name_server(lookup: Lookup) -> Found:
    """A and AAAA of ``ns.dns.<zone>``: the cluster IPs of the DNS Service, exposed or not, if there is one."""
    return Found(address_rdatas(_addresses(lookup), lookup.type))


def find_dns_version(lookup: Lookup) -> Found:
    """TXT of ``dns-version.<zone>`` (§2.2)."""
    if lookup.type == RecordType.TXT:
        return Found((TXT((SCHEMA_VERSION,)),), ttl=SCHEMA_VERSION_TTL)
    return EXISTS


def _addresses(lookup: Lookup) -> tuple[bytes, ...]:
    lookup.keys.add(service_key(*DNS_SERVICE))
    service: Service | None = lookup.lister.service(*DNS_SERVICE)
    return service.cluster_ips if service else ()
