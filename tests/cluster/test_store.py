from __future__ import annotations

import random
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from weakref import ref

import pytest
from msgspec.structs import replace

from kubedns.cluster.lister import (
    ANY_ADDRESS,
    ANY_SYNC,
    Key,
    Lister,
    address_key,
    namespace_key,
    node_key,
    service_key,
)
from kubedns.cluster.objects import EndpointSlice, Kind, Namespace, Object, ObjectKey, Pod
from kubedns.cluster.store import KINDS, Store, key_of
from tests.cluster.model import Model, Reading, random_object, read
from tests.support.clusters import change, endpoint, endpoint_slice, node, packed, pod, service, store_of

WEB, DB = service("shop/web", "10.0.0.1"), service("shop/db", "None")
ONE, TWO = endpoint("10.1.0.1"), endpoint("10.1.0.2")
SLICE = endpoint_slice("shop/db-1", "db", ONE, TWO)
DB_0 = pod("shop/db-0", "10.1.0.1")


def at(address: str) -> Key:
    return address_key(packed(address))


@dataclass(frozen=True)
class Case:
    """What is told when ``old`` becomes ``new`` beside the ``others``."""

    id: str
    old: Object | None
    new: Object | None
    told: Collection[Key]
    others: Sequence[Object] = ()


SHOP, DB_KEY, WEB_KEY = namespace_key("shop"), service_key("shop", "db"), service_key("shop", "web")
CASES = [
    Case("first of its namespace", None, WEB, {WEB_KEY, at("10.0.0.1"), ANY_ADDRESS, SHOP}),
    Case("second of its namespace", None, WEB, {WEB_KEY, at("10.0.0.1"), ANY_ADDRESS}, [DB]),
    Case("last of its namespace", DB, None, {DB_KEY, SHOP}),
    Case("the same again", WEB, service("shop/web", "10.0.0.1"), ()),
    Case("other ports", WEB, service("shop/web", "10.0.0.1", ""), {WEB_KEY, at("10.0.0.1")}),
    Case("other address", WEB, service("shop/web", "10.0.0.2"), {WEB_KEY, at("10.0.0.1"), at("10.0.0.2"), ANY_ADDRESS}),
    Case("address of another", None, WEB, {WEB_KEY, at("10.0.0.1")}, [service("shop/api", "10.0.0.1")]),
    Case("new slice", None, SLICE, {DB_KEY, at("10.1.0.1"), at("10.1.0.2"), ANY_ADDRESS}),
    Case("slice of its own service name", None, replace(SLICE, endpoints=()), {DB_KEY}),
    Case("endpoint no longer ready", SLICE, replace(SLICE, endpoints=(ONE, replace(TWO, ready=False))),
         {DB_KEY, at("10.1.0.2")}),
    Case("endpoint gone", SLICE, replace(SLICE, endpoints=(ONE,)), {DB_KEY, at("10.1.0.2"), ANY_ADDRESS}),
    Case("endpoint gone to another slice", SLICE, replace(SLICE, endpoints=(ONE,)), {DB_KEY, at("10.1.0.2")},
         [endpoint_slice("shop/db-2", "db", TWO)]),
    Case("ports of a slice", SLICE, replace(SLICE, ports=()), {DB_KEY}),
    Case("slice of another service now", SLICE, replace(SLICE, service="web"),
         {DB_KEY, WEB_KEY, at("10.1.0.1"), at("10.1.0.2")}),
    Case("pod without service", None, DB_0, {at("10.1.0.1"), SHOP}),
    Case("pod behind an endpoint", None, DB_0, {at("10.1.0.1"), DB_KEY}, [SLICE, WEB]),
    Case("pod with a subdomain", None, replace(DB_0, subdomain="web"), {at("10.1.0.1"), WEB_KEY}, [WEB]),
    Case("pod moves", DB_0, replace(DB_0, addresses=(packed("10.1.0.2"),)),
         {at("10.1.0.1"), at("10.1.0.2"), DB_KEY}, [SLICE]),
    Case("pod gone", DB_0, None, {at("10.1.0.1"), DB_KEY, SHOP}, [SLICE]),
    Case("node", None, node("n.zone", "10.9.0.1"), {node_key("n.zone"), node_key("zone"), node_key("")}),
    Case("namespace", None, Namespace("shop", {}), {SHOP}),
    Case("labels of a namespace", Namespace("shop", {}), Namespace("shop", {"a": "b"}), {SHOP}),
    Case("what is not there", None, None, ()),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_what_is_told(case: Case) -> None:
    store = store_of([*case.others, *([case.old] if case.old else [])])
    version = store.version
    told = change(store, case.old, case.new)
    assert told == set(case.told)
    assert store.version == version + bool(case.told)


def test_delete_of_what_is_not_there_is_nothing() -> None:
    store = Store()
    store.delete(ObjectKey(Kind.POD, "shop", "db-0"))
    assert store.version == 0


def test_listeners_are_told_when_it_is_done_and_before_the_next_begins() -> None:
    store = Store()
    seen: list[tuple[str | None, int]] = []
    store.subscribe(lambda _: seen.append((getattr(store.service("shop", "web"), "origin", None), store.version)))
    for origin in ("1", "2"):
        store.upsert(replace(WEB, origin=origin))
    store.delete(key_of(WEB))
    assert seen == [("1", 1), ("2", 2), (None, 3)]


def test_sync_is_told_once_with_the_last_required_kind() -> None:
    store = Store([Kind.SERVICE, Kind.POD])
    told: list[Collection[Key]] = []
    store.subscribe(lambda keys: told.append(set(keys)))
    for kind, has_synced in ((Kind.POD, False), (Kind.NODE, False), (Kind.SERVICE, True), (Kind.POD, True)):
        store.replace(kind, [])
        assert store.has_synced is has_synced
    assert told == [{ANY_SYNC}]


def test_what_is_remembered_counts_and_is_stale_until_each_missing_kind_is_listed() -> None:
    store = Store([Kind.SERVICE, Kind.POD])
    store.upsert(WEB)
    told: list[Collection[Key]] = []
    store.subscribe(lambda keys: told.append(set(keys)))
    assert not store.has_synced
    store.recalled()
    assert store.has_synced
    assert store.frozen().is_stale
    for kind, is_stale in ((Kind.NODE, True), (Kind.POD, True), (Kind.SERVICE, False)):
        store.replace(kind, [WEB] if kind is Kind.SERVICE else [])
        assert (store.has_synced, store.is_stale, store.frozen().is_stale) == (True, is_stale, is_stale)
    assert told == [{ANY_SYNC}, {ANY_SYNC}]


def test_replace_is_a_difference() -> None:
    api = service("shop/api", "10.0.0.3")
    store = store_of([WEB, DB, DB_0])
    told: list[Collection[Key]] = []
    store.subscribe(lambda keys: told.append(set(keys)))
    store.replace(Kind.SERVICE, [service("shop/web", "10.0.0.1"), api])
    assert told == [{DB_KEY, service_key("shop", "api"), at("10.0.0.3"), ANY_ADDRESS}]
    assert {each.name for each in store.services("shop")} == {"web", "api"}
    assert store.pod("shop", "db-0") == DB_0


def test_a_service_made_anew_under_its_old_name_is_the_new_one_alone() -> None:
    store = store_of([service("shop/old", "10.0.0.9"), WEB])
    store.replace(Kind.SERVICE, [service("shop/web", "10.0.0.2")])
    assert list(store.services()) == [service("shop/web", "10.0.0.2")]
    assert not [each for gone in ("10.0.0.1", "10.0.0.9") for each in store.services_at(packed(gone))]


BOTH = endpoint_slice("shop/db-2", "db", ONE)
DUAL = [endpoint_slice("shop/db-v4", "db", endpoint("10.1.0.1", pod="db-0")),
        endpoint_slice("shop/db-v6", "db", endpoint("fd00::1", pod="db-0"))]  # fmt: skip
MOVES: dict[str, tuple[list[Object], list[Object], str]] = {
    # Each write must leave the address with an endpoint: what stays in one slice is never lost with another.
    "it is in the second before it leaves the first": ([SLICE], [BOTH, replace(SLICE, endpoints=(TWO,))], "10.1.0.1"),
    "it stays while its neighbour goes": ([SLICE], [replace(SLICE, endpoints=(ONE,))], "10.1.0.1"),
    "its slice is listed under another service": ([SLICE], [replace(SLICE, service="web")], "10.1.0.1"),
    "the other family of its pod goes": (list(DUAL), [replace(DUAL[1], endpoints=())], "10.1.0.1"),
    "the other family of its pod comes": ([DUAL[1]], [DUAL[0]], "fd00::1"),
}  # fmt: skip


@pytest.mark.parametrize(("before", "writes", "address"), MOVES.values(), ids=MOVES)
def test_an_address_in_several_slices_is_never_lost(before: list[Object], writes: list[Object], address: str) -> None:
    store = store_of(before)
    seen: list[int] = []
    store.subscribe(lambda _: seen.append(len(list(store.endpoints_at(packed(address))))))
    for item in writes:
        store.upsert(item)
    assert len(seen) == len(writes)
    assert min(seen) >= 1
    assert list(store.addresses_within(packed(address), 8 * len(packed(address)), len(packed(address))))


def test_slices_are_the_union_in_the_order_of_their_names() -> None:
    store = store_of([BOTH, SLICE])
    assert [each.name for each in store.slices("shop", "db")] == ["db-1", "db-2"]
    assert [(each.name, end) for each, end in store.endpoints_at(packed("10.1.0.1"))] == [("db-1", ONE), ("db-2", ONE)]
    store.delete(key_of(SLICE))
    assert [each.name for each in store.slices("shop", "db")] == ["db-2"]
    assert store.slices("shop", "nosuch") == ()


def test_an_address_that_is_used_again_belongs_to_its_new_pod() -> None:
    old, new = pod("a/job", "10.1.0.1"), pod("b/web", "10.1.0.1")
    store = store_of([old, new])
    store.upsert(replace(old, addresses=()))
    assert list(store.pods_at(packed("10.1.0.1"))) == [new]


@pytest.mark.parametrize("seed", range(16))
def test_the_store_reads_like_its_objects_and_tells_every_difference(seed: int) -> None:
    source = random.Random(seed)
    store = Store()
    told: set[Key] = set()
    store.subscribe(told.update)
    objects: dict[ObjectKey, Object] = {}
    before = readable(Model([]))
    for _ in range(60):
        frozen = store.frozen()
        _write(source, store, objects)
        assert readable(frozen) == before
        after = readable(store)
        assert after == readable(Model(list(objects.values())))
        assert {key for key in after if after[key] != before[key]} <= told
        before = after
        told.clear()


def test_those_who_want_the_same_moment_share_it() -> None:
    store = store_of([pod("a/web", "10.1.0.1")])
    first = store.frozen()
    assert store.frozen() is first
    assert first.frozen() is first
    store.upsert(pod("a/web", "10.1.0.2"))
    assert store.frozen() is not first
    assert [each.addresses for each in first.pods()] == [(packed("10.1.0.1"),)]
    gone = ref(first)
    del first
    assert gone() is None


def _write(source: random.Random, store: Store, objects: dict[ObjectKey, Object]) -> None:
    item = random_object(source)
    match source.choice(("upsert", "upsert", "upsert", "delete", "replace")):
        case "upsert":
            objects[key_of(item)] = item
            store.upsert(item)
        case "delete":
            objects.pop(key_of(item), None)
            store.delete(key_of(item))
        case _:
            kind = KINDS[type(item)]
            listed = [random_object(source) for _ in range(8)]
            found = {key_of(each): each for each in listed if KINDS[type(each)] is kind}
            for key in [key for key in objects if key.kind is kind]:
                del objects[key]
            objects.update(found)
            store.replace(kind, found.values())


def readable(lister: Lister) -> Reading:
    return read(lister)


def test_churn_leaves_nothing_behind() -> None:
    store = store_of([WEB, SLICE, DB_0, node("n", "10.9.0.1")])
    before = size_of(store)
    for turn in range(10_000):
        address = f"10.{turn % 200}.{turn % 250}.{turn % 240 + 1}"
        objects: list[Object] = [
            service(f"ns-{turn}/svc-{turn}", address),
            endpoint_slice(f"ns-{turn}/slice-{turn}", f"svc-{turn}", endpoint(address), endpoint("10.1.0.1")),
            pod(f"ns-{turn}/pod-{turn}", f"{address} fd00::{turn % 9999}", subdomain=f"svc-{turn}"),
            node(f"node-{turn}.zone-{turn}", address),
            Namespace(f"ns-{turn}", {}),
        ]
        item = objects[turn % len(objects)]
        store.upsert(item)
        store.upsert(replace(item, origin="changed"))
        store.delete(key_of(item))
    assert size_of(store) == before


def size_of(item: object, seen: frozenset[int] = frozenset()) -> int:
    """How many values all containers in ``item`` hold together."""
    if isinstance(item, EndpointSlice | Pod | str | bytes | int) or id(item) in seen:
        return 1
    seen |= {id(item)}
    if isinstance(item, dict):
        return len(item) + sum(size_of(each, seen) for each in item.values())
    if isinstance(item, list | set | tuple):
        return len(item) + sum(size_of(each, seen) for each in item)
    names = [*getattr(item, "__dict__", ()), *getattr(type(item), "__slots__", ())]
    return 1 + sum(size_of(getattr(item, name), seen) for name in names if not name.startswith("__"))


def test_an_endpoint_is_kept_in_few_octets() -> None:
    """What the tables add to an endpoint's own octets: one entry by address, shared with the slice's address."""
    store = store_of([SLICE])
    [(_, found)] = store.endpoints_at(packed("10.1.0.1"))
    assert found is ONE
    assert sys.getsizeof(found) <= 120
