"""rewrite edns0: what upstreams are sent, and for whom the answers are kept."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import dns.edns
import dns.message
import pytest

from kubedns.corefile.parser import parse_corefile
from kubedns.dns.answer import Answer
from kubedns.dns.edns import Edns
from kubedns.dns.names import parse_name
from kubedns.dns.question import Client, Query, Question, Transport
from kubedns.errors import ConfigurationErrors
from kubedns.server.build import Settings, build_server
from kubedns.server.files import DiskFiles
from kubedns.server.server import Server
from tests.upstream.fakes import FakeUpstream, reply

IPV4 = Client(bytes((10, 1, 2, 3)), "10.1.2.3", 40212, Transport.UDP)
IPV6 = Client(bytes.fromhex("20010db8000a000b") + bytes(8), "2001:db8:a:b::", 1, Transport.TCP)
CASES: list[tuple[str, Client, dict[int, bytes], list[tuple[int, bytes]], bool]] = [
    ("edns0 local set 0xffee 0x61626364", IPV4, {}, [(0xFFEE, b"abcd")], False),
    ("edns0 local set 65518 abcd", IPV4, {0xFFEE: b"mine"}, [(0xFFEE, b"abcd")], False),
    ("edns0 local append 0xffee x", IPV4, {}, [(0xFFEE, b"x")], False),
    ("edns0 local append 0xffee x", IPV4, {0xFFEE: b"mine"}, [], False),
    ("edns0 local replace 0xffee x", IPV4, {}, [], False),
    ("edns0 local replace 0xffee x", IPV4, {0xFFEE: b"mine"}, [(0xFFEE, b"x")], False),
    ("edns0 local set 1 {client_ip}", IPV4, {}, [(1, b"10.1.2.3")], True),
    ("edns0 local set 1 {client_port}", IPV4, {}, [(1, b"40212")], True),
    ("edns0 local set 1 {protocol}", IPV6, {}, [(1, b"tcp")], True),
    ("edns0 local set 1 {qname}", IPV4, {}, [(1, b"www.test.")], False),
    ("edns0 local set 1 {qtype}", IPV4, {}, [(1, b"A")], False),
    ("edns0 nsid set", IPV4, {}, [(3, b"")], False),
    ("edns0 subnet set 24 56", IPV4, {}, [(8, bytes((0, 1, 24, 0, 10, 1, 2)))], True),
    ("edns0 subnet set 20 56", IPV4, {}, [(8, bytes((0, 1, 20, 0, 10, 1, 0)))], True),
    ("edns0 subnet set 24 56", IPV6, {}, [(8, bytes.fromhex("0002380020010db8000a00"))], True),
    ("edns0 subnet set 0 0", IPV4, {}, [(8, bytes((0, 1, 0, 0)))], True),
    ("type AAAA A", IPV4, {0xFFEE: b"mine"}, [], False),
    ("continue edns0 local set 1 a\nrewrite edns0 local set 2 b", IPV4, {}, [(1, b"a"), (2, b"b")], False),
    ("continue edns0 local set 1 a\nrewrite edns0 local set 1 b", IPV4, {}, [(1, b"b")], False),
    ("edns0 local set 1 a\nrewrite edns0 local set 2 b", IPV4, {}, [(1, b"a")], False),
]


def built(line: str, upstream: str) -> Server:
    text = f".:1053 {{\nrewrite {line}\nforward . {upstream}\n}}"
    return build_server(parse_corefile(text, "Corefile", DiskFiles(), {}).blocks, Settings())


@pytest.mark.parametrize(("line", "client", "sent", "expected", "varies"), CASES)
def test_what_upstreams_are_sent(
    line: str, client: Client, sent: dict[int, bytes], expected: list[tuple[int, bytes]], varies: bool
) -> None:
    got: list[list[tuple[int, bytes]]] = []

    def script(query: dns.message.Message, transport: str) -> Iterable[bytes]:
        got.append([(int(option.otype), option.to_wire() or b"") for option in query.options])
        return [reply(query, "www.test. 300 IN A 192.0.2.1")]

    async def run() -> Answer:
        fake = FakeUpstream(script)
        await fake.start()
        server = built(line, str(fake.address))
        edns = Edns(0, 1232, False, tuple(sent.items()))
        question = Question(parse_name("www.test."), 1)
        try:
            return await next(iter(server.resolvers.values())).answer(Query(1, 0x0100, question, edns, 60, client))
        finally:
            server.close()
            await fake.stop()

    answer = asyncio.run(run())
    assert answer.answer
    assert got == [expected]
    assert answer.varies_by_client is varies


FAULTS = [
    ("edns0", "too few words"),
    ("edns0 local", "too few words"),
    ("edns0 local set 1", "no option by `local` and 1 words"),
    ("edns0 other set 1 2", "no option by `other`"),
    ("edns0 local put 1 x", "put"),
    ("edns0 local set 70000 x", "no option code"),
    ("edns0 local set x x", "no option code"),
    ("edns0 local set 1 0x123", "no octets in hex"),
    ("edns0 local set 1 {server_ip}", "no variable"),
    ("edns0 subnet set 33 56", "33"),
]


@pytest.mark.parametrize(("line", "fault"), FAULTS)
def test_what_is_no_rule_is_refused(line: str, fault: str) -> None:
    with pytest.raises(ConfigurationErrors, match=fault):
        built(line, "192.0.2.1")
