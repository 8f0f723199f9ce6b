"""What ``kubedns records`` prints: a master file, a table, or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from kubedns.cli.record_rows import Row

_HEADINGS = ("NAME", "TTL", "TYPE", "DATA")


def master_file(rows: Iterable[Row]) -> Iterator[str]:
    """A line for each record (RFC 1035 §5.1), every name absolute; a comment stands before each zone's SOA."""
    for row in rows:
        if row.type == "SOA":
            yield f"; zone {row.name}"
        yield f"{row.name} {row.ttl} IN {row.type} {row.data}"


def table(rows: Iterable[Row]) -> Iterator[str]:
    """Columns, as wide as what stands in them."""
    shown = [_HEADINGS, *((name, str(ttl), rtype, data) for name, ttl, rtype, data in rows)]
    name_columns, ttl_columns, type_columns, _ = (max(map(len, column)) for column in zip(*shown, strict=True))
    for name, ttl, rtype, data in shown:
        yield f"{name:<{name_columns}}  {ttl:>{ttl_columns}}  {rtype:<{type_columns}}  {data}"


def json_array(rows: Iterable[Row]) -> Iterator[str]:
    """A JSON array with one record a line; the keys, ``name ttl type data``, are an interface."""
    lines = [json.dumps(row._asdict()) for row in rows]
    yield "[\n" + ",\n".join(lines) + "\n]" if lines else "[]"
