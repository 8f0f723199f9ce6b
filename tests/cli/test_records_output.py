from __future__ import annotations

import json

import dns.zone

from kubedns.cli.record_rows import read, rows, written
from kubedns.cli.records_output import json_array, master_file, table
from kubedns.dns.names import parse_name
from kubedns.dns.rdata import NS, SOA, SRV, TXT, A
from kubedns.dns.rrset import RRset
from tests.support.golden import assert_golden

ZONE = parse_name("cluster.local.")
SERVER = ZONE.child(b"ns", b"dns")
WEB = ZONE.child(b"web", b"shop", b"svc")
RRSETS = (
    RRset(ZONE, 5, (SOA(SERVER, ZONE.child(b"hostmaster"), 1, 7200, 1800, 86400, 5),)),
    RRset(ZONE, 5, (NS(SERVER),)),
    RRset(SERVER, 5, (A(bytes([10, 96, 0, 10])),)),
    RRset(WEB, 5, (A(bytes([10, 0, 0, 1])), A(bytes([10, 0, 0, 2])))),
    RRset(WEB.child(b"_http", b"_tcp"), 28800, (SRV(0, 100, 80, WEB),)),
    RRset(ZONE.child(b'odd;."name'), 5, (TXT((b'a "quoted" string', b"\x00\xff")),)),
)


def test_forms_stay_as_they_are() -> None:
    assert_golden("records.zone", "\n".join(master_file(rows(RRSETS))) + "\n")
    assert_golden("records.table.txt", "\n".join(table(rows(RRSETS))) + "\n")
    assert_golden("records.json", "\n".join(json_array(rows(RRSETS))) + "\n")


def test_the_master_file_is_read_by_dnspython_with_every_record() -> None:
    zone = dns.zone.from_text("\n".join(master_file(rows(RRSETS))), "cluster.local.", relativize=False)
    assert sum(len(rdataset) for _, rdataset in zone.iterate_rdatasets()) == sum(len(each.rdatas) for each in RRSETS)


def test_json_is_one_array() -> None:
    assert [record["type"] for record in json.loads("".join(json_array(rows(RRSETS))))] == [
        "SOA",
        "NS",
        "A",
        "A",
        "A",
        "SRV",
        "TXT",
    ]
    assert json.loads("".join(json_array(()))) == []


def test_a_table_of_nothing_has_its_headings() -> None:
    assert list(table(())) == ["NAME  TTL  TYPE  DATA"]


def test_what_a_running_server_writes_is_read_as_the_same_rows() -> None:
    lines = [written(row).encode() for row in rows(RRSETS)]
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in lines)
    assert list(read(lines)) == list(rows(RRSETS))
