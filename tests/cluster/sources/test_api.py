"""The API source beside a server with faults: after each, the store is as the server, and it was never emptied."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest

from kubedns.cluster.access import ApiAccess
from kubedns.cluster.sources.api import ApiOptions, ApiSource
from kubedns.cluster.sources.pace import Pace
from kubedns.cluster.sources.programming import TRIGGER_TIME
from kubedns.cluster.store import Store
from kubedns.observe.metrics import Metrics
from kubedns.observe.rows import API_LISTS, API_REPAIRS, API_REQUESTS, API_SKIPPED, PROGRAMMING_DURATION
from tests.support.api_server import FakeApiServer, Fault, Streaming, endpoint_slice, refusing, saying, service, stuck

QUICK = Pace(idle=1.0, initial=0.2, watch=60, verify=3600, first=0.02, longest=0.1, forbidden=0.05)
BRISK = Pace(idle=60, watch=60, verify=3600, first=0.001, longest=0.01, forbidden=0.05)
Act = Callable[["Scene"], Awaitable[None]]


class Scene:
    """A server, and a source that follows it. ``gaps``: how often a Service was seen to be missing."""

    def __init__(self, server: FakeApiServer, pace: Pace, options: ApiOptions) -> None:
        self.server = server
        self.store = Store(options.required)
        self.metrics = Metrics()
        self.source = ApiSource(options, self.store, self.metrics, pace)
        self.store.subscribe(self._look)
        self.losses = 0

    def _look(self, keys: object) -> None:
        if self.store.has_synced and self.store.service("shop", "stays") is None:
            self.losses += 1

    def ips(self) -> dict[str, str]:
        """The Services of namespace shop, each with its address."""
        found = self.store.services("shop")
        return {each.name: ".".join(map(str, each.cluster_ips[0])) for each in found if each.cluster_ips}

    def counted(self, resource: str = "services") -> tuple[float, float, float]:
        """Lists, repairs, objects left out."""
        rows = (API_LISTS, API_REPAIRS, API_SKIPPED)
        return tuple(self.metrics.cell(row, resource).value for row in rows)  # type: ignore[return-value]


async def until(holds: Callable[[], bool], seconds: float = 30) -> None:
    async with asyncio.timeout(seconds):
        while not holds():
            await asyncio.sleep(0.005)


def play(
    act: Act,
    pace: Pace = QUICK,
    prepare: Callable[[FakeApiServer], None] = lambda server: None,
    startup_seconds: float = 20,
    imports: bool = False,
    namespace: str = "",
) -> None:
    async def run() -> None:
        server = FakeApiServer()
        server.put(service("stays", "10.96.0.9"))
        server.put(endpoint_slice("stays-1", "stays", "10.0.0.9"))
        prepare(server)
        async with server.open():
            access = ApiAccess(endpoint=server.url)
            made = ApiOptions(access, imports=imports, startup_seconds=startup_seconds, namespace=namespace)
            scene = Scene(server, pace, made)
            await scene.source.load()
            following = asyncio.create_task(scene.source.run())
            try:
                await act(scene)
            finally:
                following.cancel()
                with suppress(asyncio.CancelledError):
                    await following
                await asyncio.sleep(0.01)

    asyncio.run(run())


async def follows(scene: Scene) -> None:
    """A change, and the end of a change, are seen."""
    scene.server.put(service("probe", "10.96.0.77"))
    await until(lambda: scene.ips().get("probe") == "10.96.0.77")
    scene.server.remove("Service", "shop", "probe")
    await until(lambda: "probe" not in scene.ips())
    assert not scene.losses


def test_objects_come_change_and_go() -> None:
    async def act(scene: Scene) -> None:
        assert scene.store.has_synced
        scene.server.put(service("web", "10.96.0.1"))
        await until(lambda: scene.ips().get("web") == "10.96.0.1")
        scene.server.put(service("web", "10.96.0.2"))
        scene.server.put(endpoint_slice("web-1", "web", "10.0.0.1"))
        await until(lambda: scene.ips().get("web") == "10.96.0.2" and bool(scene.store.slices("shop", "web")))
        assert scene.source.age_seconds < 30
        await follows(scene)
        assert scene.counted() == (1, 0, 0)

    play(act)


def test_a_long_list_comes_in_pages() -> None:
    async def act(scene: Scene) -> None:
        assert len(scene.ips()) == 1201
        pages = [query for path, query in scene.server.requests if path.endswith("/services") and "watch" not in query]
        assert len(pages) == 3
        assert all(query["limit"] == "500" for query in pages)
        await follows(scene)

    def many(server: FakeApiServer) -> None:
        server.streaming = Streaming.REFUSED
        for number in range(1200):
            server.put(service(f"s{number}", f"10.97.{number // 200}.{number % 200}"))

    play(act, prepare=many)


def failing(*faults: Fault) -> Callable[[FakeApiServer], None]:
    """Requests for Services that fail, from the next one on, which comes at once."""

    def act(server: FakeApiServer) -> None:
        server.fail("Service", *faults)
        server.cut()

    return act


def telling(line: bytes) -> Callable[[FakeApiServer], None]:
    """A line to those who watch Services."""
    return lambda server: server.say("Service", line)


def half_a_line(server: FakeApiServer) -> None:
    server.say("Service", b'{"type": "ADDED", "obj')
    server.cut()


def forgetting(server: FakeApiServer) -> None:
    server.compact()
    server.cut()


def event(kind: str, body: dict[str, Any], version: int, **metadata: object) -> bytes:
    """A line of a watch."""
    found = {**body, "metadata": {**body.get("metadata", {}), **metadata, "resourceVersion": str(version)}}
    return json.dumps({"type": kind, "object": found}).encode() + b"\n"


END = {"annotations": {"k8s.io/initial-events-end": "true"}}
EXPIRED = b'{"type": "ERROR", "object": {"kind": "Status", "code": 410, "message": "too old"}}\n'
STREAM = (
    event("ADDED", service("stays", "10.96.0.9"), 101),
    event("ADDED", service("fleeting", "10.96.0.8"), 102),
    event("ADDED", service("changed", "10.96.0.1"), 103),
    event("DELETED", service("fleeting", "10.96.0.8"), 104),
    event("MODIFIED", service("changed", "10.96.0.2"), 105),
    event("BOOKMARK", {}, 105, **END),
)
"""A list as a stream, into which changes fall."""

FAULTS: dict[str, Callable[[FakeApiServer], None]] = {
    "watches are cut": lambda server: server.cut(),
    "500 to the next watch": failing(refusing(500)),
    "many 500s": failing(*[refusing(500)] * 5),
    "429 with Retry-After": failing(refusing(429, "slow", {"Retry-After": "0"})),
    "410 as a status": failing(refusing(410)),
    "410 as an event": forgetting,
    "an unknown ERROR": telling(b'{"type": "ERROR", "object": {"message": "odd"}}\n'),
    "an ERROR that is none": telling(b'{"type": "ERROR", "object": 5}\n'),
    "an unknown event": telling(b'{"type": "ODD", "object": {}}\n'),
    "a line that is cut": half_a_line,
    "garbage in a watch": telling(b"<html>no</html>\n"),
    "garbage for a list": failing(refusing(410), saying(b"<html>", "text/html")),
    "half a list": failing(refusing(410), saying(b'{"items": [')),
    "a watch that is stuck": failing(stuck),
    "a list that is stuck": failing(refusing(410), stuck),
    "a bookmark": telling(b'{"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "5000"}}}\n'),
    "too large a version": failing(refusing(504)),
    "a list that is cut": failing(refusing(410), saying(b"".join(STREAM[:2]))),
    "lists that are cut, each as a stream": failing(refusing(410), *[saying(STREAM[0])] * 3),
    "a list that becomes too old": failing(refusing(410), saying(STREAM[0] + EXPIRED)),
    "400 to a list": failing(refusing(410), refusing(400)),
    "422 to a list, without end": failing(refusing(410), *[refusing(422)] * 3),
}


@pytest.mark.parametrize("streaming", Streaming)
@pytest.mark.parametrize("name", FAULTS)
def test_after_a_fault_the_store_is_as_the_server(name: str, streaming: Streaming) -> None:
    def prepare(server: FakeApiServer) -> None:
        server.streaming = streaming

    async def act(scene: Scene) -> None:
        FAULTS[name](scene.server)
        await follows(scene)
        assert scene.ips() == {"stays": "10.96.0.9"}

    play(act, prepare=prepare)


def lists_of(server: FakeApiServer) -> tuple[int, int]:
    """How often Services were asked for as a stream, and in pages."""
    asked = [query for path, query in server.requests if path.endswith("/services")]
    return sum("sendInitialEvents" in query for query in asked), sum("watch" not in query for query in asked)


STREAMED_LISTS = {Streaming.DONE: (1, 0), Streaming.REFUSED: (1, 1), Streaming.UNKNOWN: (1, 1)}


@pytest.mark.parametrize("streaming", Streaming)
def test_a_list_comes_as_a_stream_where_the_server_can(streaming: Streaming, caplog: pytest.LogCaptureFixture) -> None:
    def prepare(server: FakeApiServer) -> None:
        server.streaming = streaming

    async def act(scene: Scene) -> None:
        assert lists_of(scene.server) == STREAMED_LISTS[streaming]
        await follows(scene)
        assert not caplog.records
        scene.server.fail("Service", refusing(410))
        scene.server.cut()
        await follows(scene)
        streams, pages = STREAMED_LISTS[streaming]
        assert lists_of(scene.server) == (streams + (not pages), 2 * pages)

    with caplog.at_level(logging.WARNING):
        play(act, prepare=prepare)


def test_a_plain_bookmark_tells_a_server_that_streams_no_lists() -> None:
    """Nothing but a bookmark comes, so that the wait for the end of a list would last for a minute."""

    def old(server: FakeApiServer) -> None:
        server.streaming = Streaming.UNKNOWN
        server.bookmark_seconds = 0.05

    async def act(scene: Scene) -> None:
        assert scene.store.has_synced
        assert lists_of(scene.server) == (1, 1)
        await follows(scene)

    patient = Pace(idle=60, initial=60, watch=60, verify=3600, first=0.02, longest=0.1, forbidden=0.05)
    play(act, patient, prepare=old)


def test_a_streamed_list_takes_the_place_of_what_was_there() -> None:
    async def act(scene: Scene) -> None:
        await until(lambda: "goes" in scene.ips())
        scene.server.fail("Service", refusing(410), saying(b"".join(STREAM)), stuck)
        scene.server.cut()
        await until(lambda: scene.ips() == {"stays": "10.96.0.9", "changed": "10.96.0.2"})
        await until(lambda: not scene.server.faults["/api/v1/services"])
        assert scene.server.requests[-1][1]["resourceVersion"] == "105"
        assert not scene.losses

    pace = Pace(idle=20, watch=60, verify=3600, first=0.02, longest=0.1, forbidden=0.05)
    play(act, pace, prepare=lambda server: server.put(service("goes", "10.96.0.4")))


def test_what_goes_while_nobody_watches_is_gone_after_the_list() -> None:
    async def act(scene: Scene) -> None:
        await until(lambda: "goes" in scene.ips())
        scene.server.fail("Service", refusing(500), refusing(500))
        scene.server.cut()
        scene.server.remove("Service", "shop", "goes")
        scene.server.put(service("comes", "10.96.0.5"))
        scene.server.compact()
        await until(lambda: "goes" not in scene.ips() and "comes" in scene.ips())
        await follows(scene)

    play(act, prepare=lambda server: server.put(service("goes", "10.96.0.4")))


def test_what_a_watch_lost_is_repaired_by_a_list() -> None:
    async def act(scene: Scene) -> None:
        await until(lambda: "old" in scene.ips())
        scene.server.put(service("lost", "10.96.0.3"), silently=True)
        scene.server.remove("Service", "shop", "old", silently=True)
        scene.server.put(service("heard", "10.96.0.6"))
        await until(lambda: "heard" in scene.ips())
        assert "lost" not in scene.ips()
        scene.server.cut()
        await until(lambda: "lost" in scene.ips() and "old" not in scene.ips())
        assert scene.counted()[1] >= 1
        await follows(scene)

    pace = Pace(idle=1.0, watch=60, verify=0.0, first=0.02, longest=0.1, forbidden=0.05)
    play(act, pace, prepare=lambda server: server.put(service("old", "10.96.0.4")))


def test_one_bad_object_is_left_out_by_name(caplog: pytest.LogCaptureFixture) -> None:
    async def act(scene: Scene) -> None:
        assert scene.ips() == {"stays": "10.96.0.9"}
        scene.server.put(service("worse", "10.96.0.999"))
        scene.server.put({**service("worst"), "spec": {"ports": 5}})
        await follows(scene)
        assert scene.counted()[2] == 3

    with caplog.at_level(logging.WARNING):
        play(act, prepare=lambda server: server.put(service("bad", "nonsense")))
    for name in ("shop/bad", "shop/worse", "shop/worst"):
        assert f"services {name} is left out" in caplog.text


def test_a_forbidden_kind_denies_nothing_until_it_is_allowed(caplog: pytest.LogCaptureFixture) -> None:
    async def act(scene: Scene) -> None:
        await until(lambda: "services: 403" in caplog.text)
        assert not scene.store.has_synced
        assert caplog.text.count("services: 403") == 1
        assert 'allow it with {apiGroups: [""], resources: ["services"], verbs: [list, watch]}' in caplog.text
        await until(lambda: scene.store.has_synced)
        await follows(scene)

    with caplog.at_level(logging.WARNING):
        play(
            act, prepare=lambda server: server.fail("Service", *[refusing(403, "forbidden")] * 30), startup_seconds=0.5
        )


def test_nodes_that_are_forbidden_are_done_without(caplog: pytest.LogCaptureFixture) -> None:
    async def act(scene: Scene) -> None:
        assert scene.store.has_synced
        await follows(scene)
        assert "names that need them are not served" in caplog.text
        await asyncio.sleep(0.5)
        for number in range(1000):
            for body in (service("web", f"10.96.1.{number % 250}"), _labelled("Namespace", "shop", number)):
                scene.server.put(body)
            scene.server.put(endpoint_slice("web-1", "web", f"10.0.0.{number % 250}"))
            scene.server.put(_labelled("Pod", "db-0", number))
            await asyncio.sleep(0.01)
            if scene.source.age_seconds < 0.5:
                break
        else:
            raise AssertionError("what is not followed makes the source look old")

    with caplog.at_level(logging.WARNING):
        play(act, prepare=lambda server: server.fail("Node", *[refusing(403, "forbidden")] * 1000))


def _labelled(kind: str, name: str, number: int) -> dict[str, object]:
    """An object that differs from the one before it, and that every selector takes."""
    labels = {"number": str(number), "statefulset.kubernetes.io/pod-name": name}
    return {"kind": kind, "metadata": {"name": name, "labels": labels, "uid": "u"}, "spec": {}, "status": {}}


def test_changes_of_headless_services_are_timed_and_lists_are_not() -> None:
    def noted(number: int, seconds_ago: float = 5.0) -> dict[str, object]:
        when = datetime.fromtimestamp(time.time() - seconds_ago, UTC)  # noqa: TID251
        body = endpoint_slice("db-1", "db", f"10.0.0.{number}")
        return {**body, "metadata": {**body["metadata"], "annotations": {TRIGGER_TIME: when.isoformat()}}}

    def prepare(server: FakeApiServer) -> None:
        server.put(service("db", "None"))
        server.put(noted(1))

    async def act(scene: Scene) -> None:
        timed = scene.metrics.histogram(PROGRAMMING_DURATION, "headless_with_selector")
        scene.server.put(noted(1))
        scene.server.put(noted(2))
        await until(lambda: timed.count == 1)
        assert 5 <= timed.sum < 5 + 60
        scene.server.remove("EndpointSlice", "shop", "db-1")
        scene.server.put(noted(3))
        await until(lambda: timed.count == 2)
        scene.server.compact()
        scene.server.cut()
        await follows(scene)
        assert timed.count == 2

    play(act, prepare=prepare)


NARROWED = {"endpointslices": "metadata.namespace=shop", "pods": "metadata.namespace=shop", "services": ""}


def test_of_one_namespace_only_what_its_names_need_is_asked_for() -> None:
    async def act(scene: Scene) -> None:
        scene.server.put(endpoint_slice("hidden-1", "hidden", "10.0.0.7", namespace="other"))
        scene.server.put(service("hidden", namespace="other"))
        await until(lambda: scene.store.service("other", "hidden") is not None)
        await follows(scene)
        assert not scene.store.slices("other", "hidden")
        assert scene.store.slices("shop", "stays")
        for path, query in scene.server.requests:
            wanted = NARROWED.get(path.rpartition("/")[2], "")
            assert query.get("fieldSelector", "").rpartition("status.phase!=Unknown")[2].lstrip(",") == wanted

    play(act, namespace="shop")


def test_an_old_cluster_s_endpoints_stand_for_slices() -> None:
    def old(server: FakeApiServer) -> None:
        server.missing = {"EndpointSlice"}
        server.put(endpoints("10.0.0.1"))

    def endpoints(*addresses: str) -> dict[str, object]:
        subsets = [{"addresses": [{"ip": address} for address in addresses], "ports": [{"port": 80}]}]
        return {"kind": "Endpoints", "metadata": {"name": "web", "namespace": "shop"}, "subsets": subsets}

    async def act(scene: Scene) -> None:
        def found() -> list[str]:
            slices = scene.store.slices("shop", "web")
            return [".".join(map(str, each.addresses[0])) for part in slices for each in part.endpoints]

        await until(lambda: found() == ["10.0.0.1"])
        scene.server.put(endpoints("10.0.0.2", "10.0.0.3"))
        await until(lambda: found() == ["10.0.0.2", "10.0.0.3"])
        scene.server.remove("Endpoints", "shop", "web")
        await until(lambda: not found())

    play(act, prepare=old)


def test_imports_are_listed_in_place_of_services() -> None:
    def given(server: FakeApiServer) -> None:
        server.missing = set()
        spec = {"type": "ClusterSetIP", "ips": ["10.42.0.1"], "ports": [{"name": "http", "port": 80}]}
        server.put({"kind": "ServiceImport", "metadata": {"name": "stays", "namespace": "shop"}, "spec": spec})

    async def act(scene: Scene) -> None:
        await until(lambda: scene.ips() == {"stays": "10.42.0.1"})

    play(act, prepare=given, imports=True)


@pytest.mark.parametrize("is_compacted", [True, False])
def test_the_server_may_be_away_for_long_and_comes_back(is_compacted: bool, caplog: pytest.LogCaptureFixture) -> None:
    """An hour of it, in tries: with the pace that is kept by default there would be half as many.

    Where it still knows how things were, it says nothing of most kinds: nothing of them has changed.
    """

    async def run() -> None:
        server = FakeApiServer()
        server.put(service("stays", "10.96.0.9"))
        server.put(service("goes", "10.96.0.8"))
        async with server.open():
            port = server.port
            scene = Scene(server, BRISK, ApiOptions(ApiAccess(endpoint=server.url), startup_seconds=20))
            await scene.source.load()
            assert scene.store.has_synced
        following = asyncio.create_task(scene.source.run())
        tried = scene.metrics.cell(API_REQUESTS, "<error>", "GET", server.url.removeprefix("http://"))
        ages = []
        for tries in range(100, 1300, 100):
            await until(lambda: tried.value > tries)  # noqa: B023
            ages.append(scene.source.age_seconds)
            assert scene.ips() == {"stays": "10.96.0.9", "goes": "10.96.0.8"}
        assert ages == sorted(ages)
        assert ages[-1] > ages[0] > 0
        (loss,) = caplog.messages
        assert "what is known stays in force" in loss
        server.put(service("new", "10.96.0.10"))
        server.remove("Service", "shop", "goes")
        if is_compacted:
            server.compact()
        async with server.open(port):
            await until(lambda: scene.ips() == {"stays": "10.96.0.9", "new": "10.96.0.10"})
            await until(lambda: len(caplog.messages) == 2)
            await until(lambda: scene.source.age_seconds < ages[-1])
            assert caplog.messages[1] == f"{server.url}: it is followed again"
            following.cancel()
            with suppress(asyncio.CancelledError):
                await following

    with caplog.at_level(logging.WARNING, "plugin/kubernetes"):
        asyncio.run(run())


def test_a_list_from_before_is_believed_in_the_end() -> None:
    async def act(scene: Scene) -> None:
        scene.server.put(service("later", "10.96.0.5"))
        await until(lambda: "later" in scene.ips())
        scene.server.remove("Service", "shop", "later", silently=True)
        scene.server.version = 50
        scene.server.forget()
        scene.server.fail("Service", refusing(410))
        scene.server.cut()
        await until(lambda: "later" not in scene.ips())

    play(act)


def test_a_required_kind_that_the_server_lacks_is_waited_for(caplog: pytest.LogCaptureFixture) -> None:
    async def act(scene: Scene) -> None:
        lists = sum(path.endswith("/services") for path, _ in scene.server.requests)
        await until(lambda: sum(path.endswith("/services") for path, _ in scene.server.requests) > lists + 1100)
        assert caplog.text.count("it has no services") == 1
        scene.server.missing.discard("Service")
        await until(lambda: scene.store.has_synced)

    eager = Pace(idle=1.0, watch=60, verify=3600, first=0.02, longest=0.1, forbidden=0.0)
    with caplog.at_level(logging.WARNING):
        play(act, eager, prepare=lambda server: server.missing.add("Service"), startup_seconds=0.01)


def test_slices_that_a_server_does_not_find_for_a_while_are_not_replaced_by_endpoints() -> None:
    async def act(scene: Scene) -> None:
        scene.server.fail("EndpointSlice", refusing(410), refusing(404), refusing(404))
        scene.server.cut()
        scene.server.put(endpoint_slice("stays-2", "stays", "10.0.0.10"))
        await until(lambda: len(list(scene.store.slices("shop", "stays"))) == 2)
        assert not any(path.endswith("/endpoints") for path, _ in scene.server.requests)

    play(act)


def test_how_often_is_tried_is_the_reflector_s_to_decide() -> None:
    """The kubernetes package would try a 5xx again by itself, with waits of its own."""

    async def act(scene: Scene) -> None:
        scene.server.fail("Service", refusing(503))
        scene.server.cut()
        await until(lambda: not scene.server.faults["/api/v1/services"])
        served = scene.metrics.cell(API_REQUESTS, "503", "GET", scene.server.url.removeprefix("http://"))
        await until(lambda: served.value == 1)
        await follows(scene)

    play(act)
