"""chaos: what is told in class CH, to whom, and that nobody else hears of the class."""

from __future__ import annotations

import asyncio
from pathlib import Path

import dns.message
import dns.rdataclass
import pytest

from kubedns.dns.question import Client, Transport
from kubedns.errors import ConfigurationErrors
from kubedns.observe.metrics import ResponderMetrics
from kubedns.resolver.responder import Responder
from tests.plugins.test_file import built

CASES = [
    ("chaos", "hostname.bind.", "TXT", "NOERROR", 1),
    ("chaos", "ID.server.", "TXT", "NOERROR", 1),
    ("chaos v1 ann bob", "version.bind.", "TXT", "NOERROR", 1),
    ("chaos v1 ann bob", "authors.bind.", "TXT", "NOERROR", 2),
    ("chaos", "authors.bind.", "TXT", "REFUSED", 0),
    ("chaos", "version.bind.", "A", "REFUSED", 0),
    ("chaos", "other.bind.", "TXT", "REFUSED", 0),
    ("whoami", "version.bind.", "TXT", "REFUSED", 0),
    ("chaos\nacl {\nblock net 10.0.0.0/8\n}", "version.bind.", "TXT", "REFUSED", 0),
    ("chaos\nforward . 192.0.2.1", "other.bind.", "TXT", "REFUSED", 0),
]


def exchange(folder: Path, body: str, query: dns.message.Message, times: int = 1) -> list[dns.message.Message]:
    server = built(folder, body)
    resolver = next(iter(server.resolvers.values()))
    counters = ResponderMetrics("dns://:53", "udp", 1)
    responder = Responder(resolver, Transport.UDP, server.lasting.cache, counters, lambda: 0.5, lambda: 1.0)
    client = Client(bytes((10, 1, 2, 3)), "10.1.2.3", 40212, Transport.UDP)

    async def run() -> list[dns.message.Message]:
        octets = query.to_wire()
        responses = []
        for _ in range(times):
            serve = responder.find(client.address)(octets[2:])
            response = octets[:2] + serve() if serve else await responder.resolve(octets, client)
            responses.append(dns.message.from_wire(response or b""))
        return responses

    return asyncio.run(run())


@pytest.mark.parametrize(("body", "name", "rdtype", "rcode", "count"), CASES)
def test_what_is_told(tmp_path: Path, body: str, name: str, rdtype: str, rcode: str, count: int) -> None:
    query = dns.message.make_query(name, rdtype, "CH")
    for response in exchange(tmp_path, body, query, times=2):
        assert dns.rcode.to_text(response.rcode()) == rcode
        assert sum(map(len, response.answer)) == count
        assert all(rrset.rdclass == dns.rdataclass.CH for rrset in response.answer)


def test_nothing_is_told_in_class_in(tmp_path: Path) -> None:
    (response,) = exchange(tmp_path, "chaos", dns.message.make_query("version.bind.", "TXT"))
    assert response.rcode() == dns.rcode.REFUSED


def test_texts_are_what_the_line_says(tmp_path: Path) -> None:
    (response,) = exchange(tmp_path, 'chaos "v 1"', dns.message.make_query("version.server.", "TXT", "CH"))
    assert response.answer[0].to_text() == 'version.server. 0 CH TXT "v 1"'
    with pytest.raises(ConfigurationErrors, match="a text of 256 octets"):
        built(tmp_path, f"chaos {'x' * 256}")
