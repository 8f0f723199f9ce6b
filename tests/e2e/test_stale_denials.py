"""A name that was denied a moment before it came to be: every way to it shows it at once, whatever is kept meanwhile.

All that could heal a stale answer by age lives for an hour here, far longer than the test waits.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dns.message
import dns.query
import dns.rcode
import dns.rdatatype
import dns.rrset
import pytest

from tests.cli.servers import answering
from tests.e2e.test_live import Api
from tests.e2e.test_probes import page
from tests.e2e.test_reload import until
from tests.support.api_server import endpoint_slice, service
from tests.support.process import PATIENCE_SECONDS, Running, free_port, running

POD = "127.0.0.9"
COREFILE = """
.:{port} {{
    bind 127.0.0.1
    ready 127.0.0.1:{pages}
    rewrite name exact fresh.corp.example fresh.data.svc.cluster.local
    autopath cluster.local @kubernetes
    cache 3600 {{
        success 9000 3600 3600
        denial 9000 3600 3600
    }}
    kubernetes cluster.local in-addr.arpa {{
        endpoint {url}
        pods verified
        ttl 3600
        fallthrough in-addr.arpa
    }}
    forward . 127.0.0.1:{upstream}
}}
"""
FRESH = "fresh.data.svc.cluster.local."
DENIED = ["NXDOMAIN"]


def ways(*addresses: str, is_headless: bool = False) -> dict[tuple[str, str, str], list[str]]:
    """What each question gets when the Service has these addresses: by client, name and type."""
    found = list(addresses) or DENIED
    reverse = [f"10-96-1-8.{FRESH}" if is_headless else FRESH] if "10.96.1.8" in addresses else DENIED
    return {
        ("127.0.0.1", FRESH, "A"): found,
        ("127.0.0.1", FRESH, "AAAA"): [] if addresses else DENIED,
        ("127.0.0.1", FRESH.upper(), "A"): found,
        ("127.0.0.1", "alias.shop.svc.cluster.local.", "A"): found,
        ("127.0.0.1", "fresh.corp.example.", "A"): found,
        ("127.0.0.1", "outside.example.com.", "A"): found,
        ("127.0.0.1", "8.1.96.10.in-addr.arpa.", "PTR"): reverse,
        (POD, "fresh.data.shop.svc.cluster.local.", "A"): found,
        (POD, "fresh.data.shop.svc.cluster.local.", "AAAA"): [] if addresses else DENIED,
    }


def respond(asked: dns.message.Message, tcp: bool) -> bytes:
    """Nothing exists outside but an alias that leads back in."""
    response = dns.message.make_response(asked, recursion_available=True)
    name = asked.question[0].name.to_text()
    if name == "outside.example.com.":
        response.answer.append(dns.rrset.from_text(name, 3600, "IN", "CNAME", FRESH))
    else:
        response.set_rcode(dns.rcode.NXDOMAIN)
        response.authority.append(dns.rrset.from_text(".", 3600, "IN", "SOA", "a. b. 1 2 3 4 3600"))
    return response.to_wire()


@contextmanager
def scene(folder: Path, api: Api) -> Iterator[Running]:
    port, pages = free_port(), free_port()
    alias: dict[str, Any] = service("alias")
    alias["spec"] = {"type": "ExternalName", "externalName": FRESH}
    pod = {
        "kind": "Pod",
        "metadata": {"name": "asking", "namespace": "shop"},
        "status": {"phase": "Running", "podIP": POD, "podIPs": [{"ip": POD}]},
    }
    namespaces = ({"kind": "Namespace", "metadata": {"name": name}} for name in ("shop", "data"))
    for body in (alias, pod, *namespaces):
        api.call(lambda body=body: api.server.put(body))  # type: ignore[misc]
    with api.open(), answering(respond) as upstream:
        text = COREFILE.format(port=port, pages=pages, url=json.dumps(api.server.url), upstream=upstream)
        (folder / "Corefile").write_text(text)
        with running(["-conf", str(folder / "Corefile")], port, folder / "log") as server:
            until(lambda: page(pages, "ready")[0] == 200)
            yield server
    assert "Traceback" not in (folder / "log").read_text()


def answers(server: Running) -> dict[tuple[str, str, str], list[str]]:
    """What each of the ways gives now: addresses or names, without the aliases before them."""
    found = {}
    for client, name, rdtype in ways():
        asked = dns.message.make_query(name, rdtype)
        response = dns.query.udp(asked, server.address, PATIENCE_SECONDS, server.port, source=client)
        rdatas = [str(rdata) for rrset in response.answer for rdata in rrset if rrset.rdtype != dns.rdatatype.CNAME]
        rcode = dns.rcode.to_text(response.rcode())
        found[client, name, rdtype] = sorted(rdatas) if rcode == "NOERROR" else [rcode]
    return found


def shown(server: Running, expected: dict[tuple[str, str, str], list[str]]) -> None:
    """Wait until all ways show what is ``expected``; each is asked for again afterwards, to be kept so."""
    until(lambda: answers(server) == expected)
    assert answers(server) == expected


@pytest.mark.parametrize("is_headless", [False, True])
def test_every_way_to_a_name_follows_it_at_once(is_headless: bool, tmp_path: Path) -> None:
    api = Api()

    def put(*addresses: str) -> None:
        ip = "None" if is_headless else addresses[0]
        api.call(lambda: api.server.put(service("fresh", ip, "data")))
        if is_headless:
            api.call(lambda: api.server.put(endpoint_slice("fresh-1", "fresh", *addresses, namespace="data")))

    def remove() -> None:
        api.call(lambda: api.server.remove("Service", "data", "fresh"))
        if is_headless:
            api.call(lambda: api.server.remove("EndpointSlice", "data", "fresh-1"))

    with scene(tmp_path, api) as server:
        shown(server, ways(is_headless=is_headless))
        for _ in range(2):
            put("10.96.1.8")
            shown(server, ways("10.96.1.8", is_headless=is_headless))
            put("10.96.1.9")
            shown(server, ways("10.96.1.9", is_headless=is_headless))
            remove()
            shown(server, ways(is_headless=is_headless))
        if is_headless:
            put("10.96.1.8", "10.96.1.9")
            shown(server, ways("10.96.1.8", "10.96.1.9", is_headless=is_headless))
        assert server.stop() == 0
    api.close()
