"""What ``kubedns records`` prints: a master file, a table, or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from kubedns.cli.explain_json import records_json
from kubedns.dns.rdata import SOA, type_name
from kubedns.dns.rrset import RRset

_HEADINGS = ("NAME", "TTL", "TYPE", "DATA")


def master_file(rrsets: Iterable[RRset]) -> Iterator[str]:
    """A line for each record (RFC 1035 §5.1), every name absolute; a comment stands before each zone's SOA."""
    for rrset in rrsets:
        if rrset.type == SOA.type:
            yield f"; zone {rrset.owner}"
        yield from rrset.lines()


def table(rrsets: Iterable[RRset]) -> Iterator[str]:
    """Columns, as wide as what stands in them."""
    rows = [_HEADINGS, *_rows(rrsets)]
    name_columns, ttl_columns, type_columns, _ = (max(map(len, column)) for column in zip(*rows, strict=True))
    for name, ttl, rtype, data in rows:
        yield f"{name:<{name_columns}}  {ttl:>{ttl_columns}}  {rtype:<{type_columns}}  {data}"


def json_array(rrsets: Iterable[RRset]) -> Iterator[str]:
    """A JSON array with one record a line; the keys, ``name ttl type data``, are an interface."""
    lines = [json.dumps(record) for record in records_json(rrsets)]
    yield "[\n" + ",\n".join(lines) + "\n]" if lines else "[]"


def _rows(rrsets: Iterable[RRset]) -> Iterator[tuple[str, str, str, str]]:
    for rrset in rrsets:
        for rdata in rrset.rdatas:
            yield str(rrset.owner), str(rrset.ttl), type_name(rrset.type), str(rdata)
