"""Faults that watches have had in other clients of the API: what comes in odd parts, late, twice, or with an error."""

from __future__ import annotations

import json
import logging
import os

import pytest

from kubedns.cluster.sources.pace import Pace
from kubedns.observe.rows import API_FAILURES
from tests.cluster.sources.test_api import QUICK, Scene, event, follows, play, until
from tests.support.api_server import FakeApiServer, Streaming, endpoint_slice, refusing, saying, sending, service, stuck

PATIENT = Pace(idle=60, initial=60, watch=60, verify=3600, first=0.02, longest=0.1, forbidden=0.05)
EAGER = Pace(idle=60, initial=60, watch=60, verify=3600, first=0.0005, longest=0.001, forbidden=0.05)
NOTED = event("ADDED", service("hello", "10.96.1.7"), 111, annotations={"note": "你好"}).replace(
    b"\\u4f60\\u597d", "你好".encode()
)
MIDDLE = NOTED.index("你".encode()) + 2
LONG = event("ADDED", service("hello", "10.96.1.7"), 111, annotations={"note": "x" * (3 << 20)})
OTHER = event("ADDED", service("other", "10.96.1.8"), 112)
PARTS: dict[str, tuple[bytes, ...]] = {
    "cut inside a character": (NOTED[:MIDDLE], NOTED[MIDDLE:]),
    "octet by octet": tuple(NOTED[at : at + 1] for at in range(len(NOTED))),
    "two events and a half": (OTHER + NOTED + OTHER[:30], OTHER[30:]),
    "a line of 3 MiB": (LONG,),
    "lines that end in CR LF": (NOTED.replace(b"\n", b"\r\n"),),
    "blank lines": (b"\n\n" + NOTED,),
}


def watches_of(server: FakeApiServer) -> list[dict[str, str]]:
    """The parameters of all that was asked about Services, in order."""
    return [query for path, query in server.requests if path.endswith("/services")]


def addresses_of(scene: Scene) -> list[bytes]:
    """Those of the endpoints of the Service that stays."""
    return [each.addresses[0] for part in scene.store.slices("shop", "stays") for each in part.endpoints]


def in_pages(server: FakeApiServer) -> None:
    server.streaming = Streaming.REFUSED


@pytest.mark.parametrize("name", PARTS)
def test_an_event_is_read_however_it_is_cut(name: str) -> None:
    async def act(scene: Scene) -> None:
        scene.server.fail("Service", sending(*PARTS[name]))
        scene.server.cut()
        await until(lambda: scene.ips().get("hello") == "10.96.1.7")
        asked = len(watches_of(scene.server))
        if "two" in name:
            await until(lambda: scene.ips().get("other") == "10.96.1.8")
        assert len(watches_of(scene.server)) == asked
        assert scene.counted() == (1, 0, 0)

    play(act, PATIENT)


ERRORS = {
    "410 Gone": (b'{"type": "ERROR", "object": {"kind": "Status", "code": 410, "reason": "Expired"}}\n', True),
    "504 Timeout": (b'{"type": "ERROR", "object": {"kind": "Status", "code": 504, "reason": "Timeout"}}\n', True),
    "500 InternalError": (b'{"type": "ERROR", "object": {"kind": "Status", "code": 500}}\n', False),
    "no JSON at all": (b"not JSON at all\n", False),
}


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_inside_a_watch_loses_no_change(name: str) -> None:
    """A list follows where the server says that it cannot go on; else the watch does, from what was heard last."""
    line, is_listed = ERRORS[name]
    gone_on = [("list", ""), ("watch", "300")] if is_listed else [("watch", "120")]

    async def act(scene: Scene) -> None:
        server = scene.server
        await until(lambda: "doomed" in scene.ips())
        server.version = 109
        added, bookmark = event("ADDED", service("a", "10.96.1.2"), 110), event("BOOKMARK", {}, 120)
        asked = len(watches_of(server))
        server.fail("Service", sending(added, bookmark, line))
        server.cut()
        server.put(service("a", "10.96.1.2"), silently=True)
        server.version = 297
        server.remove("Service", "shop", "doomed", silently=is_listed)
        server.put(service("b", "10.96.1.3"), silently=is_listed)
        server.version = 300
        await until(lambda: scene.ips() == {"stays": "10.96.0.9", "a": "10.96.1.2", "b": "10.96.1.3"})
        await until(lambda: len(watches_of(server)) >= asked + 1 + len(gone_on))
        later = watches_of(server)[asked + 1 :][: len(gone_on)]
        assert [("watch" if "watch" in each else "list", each.get("resourceVersion", "")) for each in later] == gone_on
        await follows(scene)

    def prepare(server: FakeApiServer) -> None:
        in_pages(server)
        server.put(service("doomed", "10.96.1.1"))

    play(act, PATIENT, prepare=prepare)


def test_a_peer_that_vanishes_without_a_word_is_noticed_and_its_age_is_seen() -> None:
    async def act(scene: Scene) -> None:
        scene.server.fail("Service", stuck)
        scene.server.cut()
        await until(lambda: not scene.server.faults["/api/v1/services"])
        scene.server.put(service("new", "10.96.1.5"))
        ages = [0.0]

        def is_known() -> bool:
            ages.append(scene.source.age_seconds)
            return "new" in scene.ips()

        await until(is_known)
        assert max(ages) > QUICK.idle / 2
        await until(lambda: scene.source.age_seconds < QUICK.idle / 2)
        await follows(scene)

    def talkative(server: FakeApiServer) -> None:
        server.bookmark_seconds = 0.05

    play(act, QUICK, prepare=talkative)


def test_what_is_told_again_never_goes_back() -> None:
    async def act(scene: Scene) -> None:
        server = scene.server
        server.version = 200
        server.put(service("web", "10.96.1.9"))
        await until(lambda: scene.ips().get("web") == "10.96.1.9")
        old = event("MODIFIED", service("web", "10.96.1.5"), 150)
        gone = event("DELETED", service("web", "10.96.1.5"), 160)
        server.fail("Service", sending(old, gone, event("ADDED", service("last", "10.96.1.6"), 170)))
        server.cut()
        await until(lambda: "last" in scene.ips())
        assert scene.ips()["web"] == "10.96.1.9"

    play(act, PATIENT)


def odd(name: object, **more: object) -> dict[str, object]:
    return {"metadata": {"name": name, "namespace": "shop", "resourceVersion": "7"}, "spec": {}, **more}


ODD_ITEMS: dict[str, object] = {
    "null": None,
    "a number": 5,
    "no metadata": {"spec": {}},
    "metadata that are null": {"metadata": None},
    "a name that is null": odd(None),
    "a name that is empty": odd(""),
    "a name of 64 octets": odd("x" * 64),
    "a name with a NUL": odd("a\0b"),
    "a name with a dot": odd("a.b"),
    "a version that is a number": {"metadata": {"name": "odd", "namespace": "shop", "resourceVersion": 7}},
    "a port that is a word": odd("odd", spec={"clusterIP": "10.96.0.3", "ports": [{"port": "http"}]}),
    "a port that is too high": odd("odd", spec={"clusterIP": "10.96.0.3", "ports": [{"port": 70000}]}),
    "an address that is none": odd("odd", spec={"clusterIP": "999.1.1.1"}),
    "an address of another kind": odd("odd", spec={"clusterIP": "10.96.0.0/24"}),
    "a text for a spec": odd("odd", spec="none"),
}


@pytest.mark.parametrize("name", ODD_ITEMS)
def test_an_odd_item_of_a_list_is_left_out_and_told_of(name: str, caplog: pytest.LogCaptureFixture) -> None:
    def prepare(server: FakeApiServer) -> None:
        in_pages(server)
        good = {**service("stays", "10.96.0.9"), "metadata": {"name": "stays", "namespace": "shop"}}
        page = {"metadata": {"resourceVersion": str(server.version)}, "items": [ODD_ITEMS[name], good]}
        server.fail("Service", refusing(422), saying(json.dumps(page).encode()))

    async def act(scene: Scene) -> None:
        await until(lambda: scene.ips() == {"stays": "10.96.0.9"})
        await follows(scene)
        assert [each.name for each in scene.store.services()] == ["stays"]
        assert scene.counted() == (2, 0, 1)
        assert caplog.text.count("is left out") == 1

    with caplog.at_level(logging.WARNING):
        play(act, PATIENT, prepare=prepare)


def test_of_two_items_with_one_name_the_newer_counts() -> None:
    def versioned(address: str, version: str) -> dict[str, object]:
        body = service("stays", address)
        return {**body, "metadata": {**body["metadata"], "resourceVersion": version}}

    def prepare(server: FakeApiServer) -> None:
        in_pages(server)
        items = [versioned("10.96.0.9", "90"), versioned("10.96.0.1", "80")]
        page = {"metadata": {"resourceVersion": str(server.version)}, "items": items}
        server.fail("Service", refusing(422), saying(json.dumps(page).encode()))

    async def act(scene: Scene) -> None:
        await until(lambda: scene.ips() == {"stays": "10.96.0.9"})
        await follows(scene)

    play(act, PATIENT, prepare=prepare)


def test_who_is_asked_to_wait_waits() -> None:
    """For an hour here; other kinds are followed meanwhile."""

    async def act(scene: Scene) -> None:
        scene.server.fail("Service", refusing(429, "slow", {"Retry-After": "3600"}))
        scene.server.cut()
        await until(lambda: not scene.server.faults["/api/v1/services"])
        asked = len(watches_of(scene.server))
        for turn in range(1, 20):
            scene.server.put(endpoint_slice("stays-1", "stays", f"10.0.0.{turn}"))
            scene.server.cut()
            address = bytes((10, 0, 0, turn))
            await until(lambda address=address: addresses_of(scene) == [address])  # type: ignore[misc]
        assert len(watches_of(scene.server)) == asked

    play(act)


def test_a_server_that_sends_elsewhere_is_not_believed(caplog: pytest.LogCaptureFixture) -> None:
    """Whoever it names would get the token (CVE-2020-8559)."""
    other = FakeApiServer()

    async def act(scene: Scene) -> None:
        async with other.open():
            for status in (301, 302, 307, 308):
                scene.server.fail("Service", refusing(status, "there", {"Location": f"{other.url}/api/v1/services"}))
                scene.server.cut()
                await until(lambda: not scene.server.faults["/api/v1/services"])
                await follows(scene)
        assert not other.requests
        assert "it sends elsewhere" in caplog.text

    with caplog.at_level(logging.WARNING):
        play(act)


def test_a_thousand_failures_leave_no_connections_behind() -> None:
    async def act(scene: Scene) -> None:
        server = scene.server
        counts = []
        for left in (900, 0):
            await until(lambda left=left: len(server.faults["/api/v1/services"]) <= left)  # type: ignore[misc]
            counts.append(len(os.listdir("/proc/self/fd")))
        assert counts[1] <= counts[0] + 4
        await follows(scene)

    play(act, EAGER, prepare=lambda server: server.fail("Service", *[refusing(500)] * 1000), startup_seconds=0.01)


def test_an_error_in_the_program_is_told_once_and_the_resource_is_followed_anew(
    caplog: pytest.LogCaptureFixture,
) -> None:
    failed: list[object] = []

    async def act(scene: Scene) -> None:
        def fail_twice(keys: object) -> None:
            if len(failed) < 2:
                failed.append(keys)
                raise RuntimeError("a listener stumbled")

        scene.store.subscribe(fail_twice)
        await follows(scene)
        scene.server.put(service("late", "10.96.1.6"))
        await until(lambda: "late" in scene.ips())
        assert caplog.text.count("error while following services") == 1
        assert caplog.text.count("RuntimeError: a listener stumbled") == 1
        assert scene.metrics.cell(API_FAILURES, "services").value == 2

    with caplog.at_level(logging.ERROR):
        play(act)
