"""What users of other servers saw when their API server had a fault, each tried on a process of ours."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import dns.edns
import dns.flags
import dns.message
import dns.rcode
import pytest
from aiohttp import web

from tests.e2e.test_live import Api, asked
from tests.e2e.test_probes import page
from tests.e2e.test_reload import until
from tests.e2e.wires import WEB, query
from tests.support.api_server import Body, Fault, Streaming, endpoint_slice, refusing, service
from tests.support.footprint import footprint
from tests.support.process import PATIENCE_SECONDS, Running, free_port, running

COREFILE = """
.:{port} {{
    bind 127.0.0.1
    errors
    health 127.0.0.1:{pages}
    ready 127.0.0.1:{pages}
    prometheus 127.0.0.1:{pages}
    kubernetes cluster.local in-addr.arpa {{
        endpoint {url}
        startup_timeout {startup}
    }}
    forward . 127.0.0.1:{outside}
}}
.:{outside} {{
    bind 127.0.0.1
    template IN A {{
        answer "{{{{ .Name }}}} 60 IN A 198.51.100.7"
    }}
}}
"""
OUTSIDE = "www.outside.example."
NO_SUCH = "nosuch.shop.svc.cluster.local."


@pytest.fixture
def api() -> Iterator[Api]:
    made = Api()
    try:
        yield made
    finally:
        made.close()


@dataclass(frozen=True, slots=True)
class Scene:
    """A server; ``pages`` and ``admin`` are ports."""

    server: Running
    pages: int
    admin: int

    def found(self, name: str, rdtype: str = "A") -> list[str] | str:
        """The rdatas, or the rcode of what has none."""
        response = self.server.ask(name, rdtype)
        return [str(each) for rrset in response.answer for each in rrset] or dns.rcode.to_text(response.rcode())

    def metric(self, line: str) -> float:
        """The sum of what is reported on lines that begin so."""
        values = re.findall(rf"^{re.escape(line)}\S* (\S+)$", page(self.pages, "metrics")[1], re.MULTILINE)
        return sum(map(float, values))


@contextmanager
def served(folder: Path, url: str, startup: str = "1ms") -> Iterator[Scene]:
    port, pages, admin = free_port(), free_port(), free_port()
    text = COREFILE.format(port=port, pages=pages, outside=free_port(), url=url, startup=startup)
    (folder / "Corefile").write_text(text)
    words = ["serve", "--conf", str(folder / "Corefile"), "--admin", f"127.0.0.1:{admin}"]
    with running(words, port, folder / "log", probe=OUTSIDE) as server:
        yield Scene(server, pages, admin)
        assert server.stop() == 0
    assert "Traceback" not in (folder / "log").read_text()


def put(api: Api, *bodies: Body) -> None:
    def act() -> None:
        for body in bodies:
            api.server.put(body)

    api.call(act)


def test_what_went_and_what_was_made_anew_while_nobody_watched(api: Api, tmp_path: Path) -> None:
    put(api, service("old", "10.96.1.1"), service("web", "10.96.1.2"))

    def change() -> None:
        api.server.fail("Service", *[refusing(503)] * 2)
        api.server.cut()
        api.server.remove("Service", "shop", "old")
        api.server.remove("Service", "shop", "web")
        api.server.put(service("web", "10.96.1.9"))
        api.server.compact()

    with api.open(), served(tmp_path, api.server.url) as scene:
        until(lambda: scene.found("old.shop.svc.cluster.local.") == ["10.96.1.1"])
        api.call(change)
        until(lambda: scene.found(WEB) == ["10.96.1.9"])
        until(lambda: scene.found("old.shop.svc.cluster.local.") == "NXDOMAIN")
        assert scene.found("1.1.96.10.in-addr.arpa.", "PTR") == "NXDOMAIN"
        assert scene.found("2.1.96.10.in-addr.arpa.", "PTR") == "NXDOMAIN"
        assert scene.found("9.1.96.10.in-addr.arpa.", "PTR") == [WEB]


def test_slices_with_nulls_and_a_broken_one_cost_the_others_nothing(api: Api, tmp_path: Path) -> None:
    null = {**endpoint_slice("zero-1", "zero"), "endpoints": None, "ports": None}
    odd = {
        **endpoint_slice("odd-1", "odd"),
        "ports": [{"port": None}],
        "endpoints": [{"addresses": ["10.244.1.2"], "conditions": {"ready": None}}],
    }
    broken = {**endpoint_slice("broken-1", "broken"), "endpoints": [{"addresses": ["nowhere"]}]}
    put(api, null, broken, odd, endpoint_slice("good-1", "good", "10.244.1.1"))
    put(api, *[service(name, "None") for name in ("zero", "odd", "broken", "good")])
    with api.open(), served(tmp_path, api.server.url) as scene:
        until(lambda: page(scene.pages, "ready")[0] == 200)
        assert scene.found("good.shop.svc.cluster.local.") == ["10.244.1.1"]
        assert scene.found("odd.shop.svc.cluster.local.") == ["10.244.1.2"]
        assert scene.found("zero.shop.svc.cluster.local.") == "NXDOMAIN"
        assert scene.found("broken.shop.svc.cluster.local.") == "NXDOMAIN"
        until(lambda: "shop/broken-1 is left out" in scene.server.log.read_text())
        assert scene.metric("kubedns_api_objects_skipped_total") == 1


def test_two_slices_with_one_pod_are_two(api: Api, tmp_path: Path) -> None:
    def of_pod(name: str, family: str, address: str) -> Body:
        target = {"kind": "Pod", "name": "db-0", "uid": "u1"}
        found = endpoint_slice(name, "db")
        return {**found, "addressType": family, "endpoints": [{"addresses": [address], "targetRef": target}]}

    put(api, service("db", "None"), of_pod("db-v4", "IPv4", "10.0.0.1"), of_pod("db-v6", "IPv6", "fd00::1"))
    with api.open(), served(tmp_path, api.server.url) as scene:
        until(lambda: page(scene.pages, "ready")[0] == 200)
        name = "db.shop.svc.cluster.local."
        assert (scene.found(name), scene.found(name, "AAAA")) == (["10.0.0.1"], ["fd00::1"])
        api.call(lambda: api.server.remove("EndpointSlice", "shop", "db-v4"))
        until(lambda: scene.found(name) == "NOERROR")
        assert scene.found(name, "AAAA") == ["fd00::1"]


def held_until(release: asyncio.Event) -> Fault:
    async def fault(request: web.Request) -> None:
        await release.wait()

    return fault


def test_nothing_is_denied_and_nothing_is_ready_before_all_is_listed(api: Api, tmp_path: Path) -> None:
    put(api, service("peers", "None"), endpoint_slice("peers-1", "peers", "10.0.0.3"))
    release = asyncio.Event()
    api.call(lambda: api.server.fail("EndpointSlice", *[held_until(release)] * 5))
    peers = "peers.shop.svc.cluster.local."
    with api.open(), served(tmp_path, api.server.url) as scene:
        until(lambda: len({path for path, _ in api.server.requests}) >= 5)
        response = asked(scene.server, peers)
        assert response.rcode() == dns.rcode.SERVFAIL
        assert not response.flags & dns.flags.AA
        (why,) = [each for each in response.options if isinstance(each, dns.edns.EDEOption)]
        assert why.code == dns.edns.EDECode.NOT_READY
        assert scene.found(NO_SUCH) == "SERVFAIL"
        assert page(scene.pages, "ready") == (503, "kubernetes")
        assert page(scene.pages, "health")[0] == 200
        assert scene.found(OUTSIDE) == ["198.51.100.7"]
        missing = "not listed yet: .*endpointslices.*; names are SERVFAIL"
        until(lambda: re.search(missing, scene.server.log.read_text()) is not None)
        api.call(release.set)
        until(lambda: page(scene.pages, "ready")[0] == 200)
        assert scene.found(peers) == ["10.0.0.3"]
        assert scene.found(NO_SUCH) == "NXDOMAIN"


def test_without_an_api_server_other_names_are_answered_and_it_is_waited_for(api: Api, tmp_path: Path) -> None:
    put(api, service("web", "10.96.1.1"))
    port = free_port()
    with served(tmp_path, f"http://127.0.0.1:{port}") as scene:
        assert scene.found(OUTSIDE) == ["198.51.100.7"]
        assert scene.found(WEB) == "SERVFAIL"
        assert "which has not been listed yet" in page(scene.admin, "explain?name=web.shop")[1]
        with api.open(port):
            until(lambda: scene.found(WEB) == ["10.96.1.1"])
            assert page(scene.pages, "ready")[0] == 200


def test_names_of_the_cluster_wait_for_a_start_and_others_do_not(api: Api, tmp_path: Path) -> None:
    put(api, service("web", "10.96.1.1"))
    port = free_port()
    with served(tmp_path, f"http://127.0.0.1:{port}", "1h") as scene, ExitStack() as stack:
        waiting = [stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) for _ in range(20)]
        for number, each in enumerate(waiting):
            each.settimeout(PATIENCE_SECONDS)
            each.sendto(query(WEB, number=number), ("127.0.0.1", scene.server.port))
        assert scene.found(OUTSIDE) == ["198.51.100.7"]
        assert page(scene.pages, "ready") == (503, "kubernetes")
        with api.open(port):
            for number, each in enumerate(waiting):
                response = dns.message.from_wire(each.recv(4096))
                assert (response.id, [str(rrset[0]) for rrset in response.answer]) == (number, ["10.96.1.1"])
            until(lambda: page(scene.pages, "ready")[0] == 200)


def test_a_server_that_waits_for_its_start_can_be_stopped(tmp_path: Path) -> None:
    with served(tmp_path, f"http://127.0.0.1:{free_port()}", "1h") as scene:
        assert scene.server.process.poll() is None


def test_while_the_api_server_is_away_all_stays_as_it_was(api: Api, tmp_path: Path) -> None:
    put(api, service("web", "10.96.1.1"))
    with api.open():
        port, url = api.server.port, api.server.url
        with served(tmp_path, url) as scene:
            until(lambda: page(scene.pages, "ready")[0] == 200)
            asyncio.run_coroutine_threadsafe(api.server.stop(), api.loop).result(60)
            age = scene.metric("kubedns_source_age_seconds")

            def is_long_away() -> bool:
                assert scene.found(WEB) == ["10.96.1.1"]
                assert scene.found(NO_SUCH) == "NXDOMAIN"
                assert scene.found(OUTSIDE) == ["198.51.100.7"]
                assert page(scene.pages, "ready")[0] == page(scene.pages, "health")[0] == 200
                tried = scene.metric('coredns_kubernetes_rest_client_requests_total{code="<error>"')
                return tried >= 10 and scene.metric("kubedns_source_age_seconds") > age + 1

            until(is_long_away)
            assert re.search(f"{url}, last heard [1-9]", page(scene.admin, "explain?name=web.shop")[1])
            until(lambda: "what is known stays in force" in scene.server.log.read_text())
            assert scene.server.log.read_text().count("what is known stays in force") == 1
            put(api, service("web", "10.96.1.2"))
            with api.open(port):
                until(lambda: scene.found(WEB) == ["10.96.1.2"])
                until(lambda: "it is followed again" in scene.server.log.read_text())


CHURNED, AT_ONCE = 1000, 100


def test_objects_that_come_and_go_leave_nothing_behind(api: Api, tmp_path: Path) -> None:
    def churn(scene: Scene, numbers: range) -> tuple[float, int]:
        """How many answers are kept, and how many series reported, after so many have come, were asked for and gone."""
        names = [f"c{number}" for number in numbers]
        put(api, *[service(name, "None") for name in names])
        put(api, *[endpoint_slice(name, name, "10.0.0.1", "10.0.0.2", "10.0.0.3") for name in names])
        put(api, service("turn", f"10.96.{numbers[0] // 100}.1"))
        until(lambda: scene.found("turn.shop.svc.cluster.local.") == [f"10.96.{numbers[0] // 100}.1"])
        for name in names:
            until(lambda name=name: len(scene.found(f"{name}.shop.svc.cluster.local.")) == 3)  # type: ignore[misc]

        def remove() -> None:
            for name in names:
                api.server.remove("Service", "shop", name)
                api.server.remove("EndpointSlice", "shop", name)

        api.call(remove)
        until(lambda: scene.found(f"{names[-1]}.shop.svc.cluster.local.") == "NXDOMAIN")
        until(lambda: not re.search(r"^c\d+\.", page(scene.admin, "records")[1], re.MULTILINE))
        return scene.metric("kubedns_answers_kept"), len(page(scene.pages, "metrics")[1].splitlines())

    with api.open(), served(tmp_path, api.server.url) as scene:
        until(lambda: page(scene.pages, "ready")[0] == 200)
        rounds = [range(begin, begin + AT_ONCE) for begin in range(0, CHURNED, AT_ONCE)]
        churn(scene, rounds[0])
        start, lines = churn(scene, rounds[1])
        memory = footprint(scene.server.process.pid).memory_kib
        for numbers in rounds[2:]:
            kept, series = churn(scene, numbers)
        # The name that each round was seen to have ended by may be known as missing.
        assert kept <= start + len(rounds)
        assert series == lines
        assert footprint(scene.server.process.pid).memory_kib < memory * 1.1


LISTED, OCTETS_EACH = 4000, 10_000


@pytest.mark.parametrize("streaming", [Streaming.DONE, Streaming.REFUSED])
def test_a_list_is_never_whole_in_memory(api: Api, streaming: Streaming, tmp_path: Path) -> None:
    def peak_kib(scene: Scene) -> int:
        status = Path(f"/proc/{scene.server.process.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0])

    def list_anew() -> None:
        for number in range(LISTED):
            body = service(f"s{number}", f"10.{number >> 8}.{number & 255}.1")
            noted = {**body["metadata"], "annotations": {"note": "x" * OCTETS_EACH}}
            api.server.put({**body, "metadata": noted}, silently=True)
        api.server.compact()
        api.server.cut()

    api.server.streaming = streaming
    with api.open(), served(tmp_path, api.server.url) as scene:
        until(lambda: page(scene.pages, "ready")[0] == 200)
        before = peak_kib(scene)
        for lists in range(2):
            api.call(list_anew)
            put(api, service("last", f"10.96.1.{lists}"))
            listed = [f"10.96.1.{lists}"]
            until(lambda listed=listed: scene.found("last.shop.svc.cluster.local.") == listed)  # type: ignore[misc]
            assert scene.found(f"s{LISTED - 1}.shop.svc.cluster.local.") == [f"10.{LISTED >> 8}.{(LISTED - 1) & 255}.1"]
        assert peak_kib(scene) - before < LISTED * OCTETS_EACH / 1024 * 0.6
