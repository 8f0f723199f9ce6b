"""The records that ``kubedns records`` lists, as rows of text: of a cluster, or as a running server wrote them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import click
import msgspec

from kubedns.dns.names import BadNameError, Name, parse_name
from kubedns.dns.rdata import type_name
from kubedns.dns.rrset import RRset
from kubedns.errors import NotServedError
from kubedns.records.cluster_zone import ClusterZone
from kubedns.records.listing import records


class Row(NamedTuple):
    """A record: its owner, TTL in seconds, type and rdata, as a master file has them."""

    name: str
    ttl: int
    type: str
    data: str


_DECODER = msgspec.json.Decoder(Row)


def rows(rrsets: Iterable[RRset]) -> Iterator[Row]:
    """A row for each record."""
    for rrset in rrsets:
        for rdata in rrset.rdatas:
            yield Row(str(rrset.owner), rrset.ttl, type_name(rrset.type), str(rdata))


def listed(clusters: Iterable[ClusterZone], only: Name | None) -> Iterator[Row]:
    """The records of the clusters, or of one of their zones ``only``."""
    for cluster in clusters:
        for rrset in records(cluster):
            zone = cluster.zone_of(rrset.owner)
            if only is None or (zone is not None and zone.name == only):
                yield from rows([rrset])


def zone_of(clusters: Iterable[ClusterZone], text: str) -> Name:
    """The zone that is meant.

    Raises:
        click.BadParameter: it is no name.
        NotServedError: no cluster has it.
    """
    try:
        zone = parse_name(text)
    except BadNameError as error:
        raise click.BadParameter(str(error), param_hint="--only") from error
    zones = [each.name for cluster in clusters for each in cluster.zones]
    if zone not in zones:
        known = ", ".join(str(each).rstrip(".") for each in zones)
        raise NotServedError(f"{text} is none of the cluster's zones", remedy=f"there is {known}")
    return zone


def written(row: Row) -> str:
    """The row as a line, a JSON array."""
    return msgspec.json.encode(row).decode() + "\n"


def read(lines: Iterable[bytes]) -> Iterator[Row]:
    """The rows of the lines.

    Raises:
        msgspec.DecodeError: a line is none.
    """
    return map(_DECODER.decode, lines)
