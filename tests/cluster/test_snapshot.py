"""What a snapshot holds is what went in; whatever else there may be in its file is refused."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from kubedns.cluster.objects import EndpointSlice, Namespace, Object
from kubedns.cluster.snapshot import FORMAT, SnapshotError, read_snapshot, written
from tests.support.clusters import endpoint, endpoint_slice, node, pod, service

SOURCE = "services of here"
OBJECTS: list[Object] = [
    service("shop/web", "10.96.0.1 fd00::1", "http/TCP/80 https/TCP/443"),
    service("shop/alias", external_name="www.example.com"),
    service("shop/db", "None"),
    endpoint_slice("shop/db-1", "db", endpoint("10.1.0.1", pod="db-0"), replace(endpoint("fd00::7"), ready=False)),
    EndpointSlice("shop", "none", "", (), (), "resourceVersion 7"),
    pod("shop/db-0", "10.1.0.1"),
    node("worker-1", "192.0.2.1"),
    Namespace("shop", {"team": "retail", "ключ": "€"}),
]


def octets(objects: list[Object], source: str = SOURCE) -> bytes:
    return b"".join(written(objects, source, 1e9))


@pytest.mark.parametrize("objects", [OBJECTS, [], OBJECTS * 300], ids=["all kinds", "none", "many"])
def test_what_went_in_comes_out_and_says_where_it_is_from(objects: list[Object]) -> None:
    found = read_snapshot(octets(objects), SOURCE)
    assert found.taken == 1e9
    assert found.objects == [replace(each, origin=f"snapshot, {each.origin}") for each in objects]


def test_every_part_that_is_missing_is_missed() -> None:
    whole = octets(OBJECTS)
    for length in range(len(whole) - 1):
        with pytest.raises(SnapshotError, match="damaged"):
            read_snapshot(whole[:length], SOURCE)


def test_every_bit_that_has_changed_is_noticed() -> None:
    whole = octets(OBJECTS)
    for place in range(len(whole) - 1):
        changed = bytearray(whole)
        changed[place] ^= 1 << place % 8
        with pytest.raises(SnapshotError):
            read_snapshot(bytes(changed), SOURCE)


def test_people_can_read_it() -> None:
    head, first, *_, tail = map(json.loads, octets(OBJECTS).splitlines())
    assert head == {"kubedns_snapshot": FORMAT, "source": SOURCE, "taken": 1e9}
    assert (first["type"], first["namespace"], first["name"]) == ("Service", "shop", "web")
    assert tail["objects"] == len(OBJECTS)


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (octets(OBJECTS, "services of elsewhere"), "it is of services of elsewhere, not of services of here"),
        (octets(OBJECTS).replace(b'_snapshot":1', b'_snapshot":9'), "its checksum is wrong"),
        (b"apiVersion: v1\nkind: List\n", "its end is missing"),
        (octets(OBJECTS) + b"\n", "its end is missing"),
    ],
)
def test_what_is_something_else_is_refused(found: bytes, why: str) -> None:
    with pytest.raises(SnapshotError, match=why):
        read_snapshot(found, SOURCE)


def test_another_format_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubedns.cluster.snapshot.FORMAT", FORMAT + 1)
    newer = octets(OBJECTS)
    monkeypatch.undo()
    with pytest.raises(SnapshotError, match=f"format {FORMAT + 1}, not {FORMAT}"):
        read_snapshot(newer, SOURCE)
