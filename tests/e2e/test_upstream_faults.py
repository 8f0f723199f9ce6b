"""Faults around what upstreams say: kept for one client and given to another, options echoed, loops through outside."""

from __future__ import annotations

import socket
import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import dns.edns
import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdatatype
import dns.rrset
import pytest

from tests.cli.servers import answering
from tests.e2e.wires import WEB, connect, framed, over_udp, query, rest, send
from tests.support.process import PATIENCE_SECONDS, Running, free_port, running

ALLOWED, BLOCKED, FILTERED = "127.0.0.12", "127.0.0.13", "127.0.0.14"
OUR_LIMIT = 1232
COREFILE = """
.:{port} {{
    bind 127.0.0.1
    errors
    acl {{
        block net {blocked}
        filter net {filtered}
    }}
    rewrite edns0 local set 0xfde9 node-7
    kubernetes cluster.local {{
        manifests cluster.yaml
    }}
    cache
    forward . 127.0.0.1:{upstream}
}}
"""
CLUSTER = """
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {clusterIP: 10.96.10.1}
---
apiVersion: v1
kind: Service
metadata: {name: round, namespace: shop}
spec: {type: ExternalName, externalName: round.example.com}
"""
RECORDS = {
    "many": [f"{{name}} 300 IN A 203.0.113.{number}" for number in range(100)],
    "alias": [
        f"{{name}} 300 IN CNAME {'long-label-of-a-host.' * 8}example.net.",
        *[f"{'long-label-of-a-host.' * 8}example.net. 300 IN A 203.0.113.{number}" for number in range(60)],
    ],
    "text": [f'{{name}} 300 IN TXT "{number:02}{"x" * 200}"' for number in range(10)],
    "few": [f"{{name}} 300 IN A 203.0.113.{number}" for number in range(20)],
    "one": ["{name} 300 IN A 203.0.113.1"],
    "bare": ["{name} 300 IN A 203.0.113.1"],
    "signed": ["{name} 300 IN A 203.0.113.1"],
    "bad": ["{name} 300 IN A 203.0.113.66"],
    "round": ["{name} 300 IN CNAME round.shop.svc.cluster.local."],
}
SIGNATURE = "{name} 300 IN RRSIG A 8 3 300 20300101000000 20200101000000 1 example.com. c2lnbmVk"
ECHOED = [
    dns.edns.GenericOption(dns.edns.OptionType.make(3), b"upstream"),
    dns.edns.GenericOption(dns.edns.OptionType.make(8), bytes.fromhex("0001180018c00002")),
    dns.edns.GenericOption(dns.edns.OptionType.make(10), b"serverhalf-of-it"),
    dns.edns.GenericOption(dns.edns.OptionType.make(11), b"\0\x64"),
    dns.edns.GenericOption(dns.edns.OptionType.make(100), b"what is this"),
]


@dataclass(frozen=True, slots=True)
class Upstream:
    """A server outside that says by a name's first word what it gives, and echoes every option and flag it can."""

    heard: list[dns.message.Message] = field(default_factory=list)
    seen: Counter[tuple[str, bool]] = field(default_factory=Counter)

    def respond(self, asked: dns.message.Message, tcp: bool) -> bytes:
        name = asked.question[0].name.to_text()
        kind = name.lower().partition("-")[0].partition(".")[0]
        self.heard.append(asked)
        self.seen[name.lower(), tcp] += 1
        response = dns.message.make_response(asked, recursion_available=True)
        if kind == "bad" and not asked.flags & dns.flags.CD:
            response.set_rcode(dns.rcode.SERVFAIL)
            return response.to_wire()
        lines = list(RECORDS.get(kind, ()))
        if kind == "signed" and asked.ednsflags & dns.flags.DO:
            lines.append(SIGNATURE)
        if len(lines) > 20 and not tcp:
            lines, response.flags = lines[:3], response.flags | dns.flags.TC
        for line in lines:
            owner, ttl, rdclass, rdtype, rdata = line.format(name=name).split(None, 4)
            response.answer.append(dns.rrset.from_text(owner, int(ttl), rdclass, rdtype, rdata))
        if kind == "bare":
            response.use_edns(False)
        elif asked.edns >= 0:
            options = [*ECHOED, *asked.options]
            response.use_edns(0, asked.ednsflags | 0x4ABC, 4096, options=options)
        return response.to_wire(max_size=65535)


@pytest.fixture(scope="module")
def upstream() -> Upstream:
    return Upstream()


@pytest.fixture(scope="module")
def server(upstream: Upstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder, port = tmp_path_factory.mktemp("upstream"), free_port()
    (folder / "cluster.yaml").write_text(CLUSTER)
    with answering(upstream.respond) as outside:
        text = COREFILE.format(port=port, upstream=outside, blocked=BLOCKED, filtered=FILTERED)
        (folder / "Corefile").write_text(text)
        with running(["-conf", str(folder / "Corefile")], port, folder / "log", probe=WEB) as process:
            yield process
            log = (folder / "log").read_text()
    assert "Traceback" not in log
    assert all("plugin/errors: 2 " in line for line in log.splitlines() if line.startswith("[ERROR]"))


def over_tcp(server: Running, message: bytes) -> bytes:
    with connect(server) as client:
        send(client, framed(message), is_last=True)
        (octets,) = rest(client)
    return octets


CLIENTS = {"plain": None, "512": 512, "900": 900, "1232": 1232, "4096": 4096, "tcp": None, "tcp with 512": 512}


def asked_by(client: str, server: Running, name: str, rdtype: str) -> tuple[bytes, dns.message.Message]:
    size = CLIENTS[client]
    edns = {} if size is None else {"use_edns": 0, "payload": size}
    message = dns.message.make_query(name, rdtype, **edns)  # type: ignore[arg-type]
    exchange = over_tcp if client.startswith("tcp") else over_udp
    octets = exchange(server, message.to_wire())
    response = dns.message.from_wire(octets)
    assert message.is_response(response)
    return octets, response


def lines_of(response: dns.message.Message) -> set[str]:
    """The answer, without its TTLs, which count down."""
    return {f"{rrset.name} {rdata.to_text()}" for rrset in response.answer for rdata in rrset}


def expected_lines(kind: str, name: str) -> set[str]:
    split = (line.format(name=name).split(None, 4) for line in RECORDS[kind])
    return {f"{owner} {rdata}" for owner, _, _, _, rdata in split}


@pytest.mark.parametrize(("kind", "rdtype"), [("many", "A"), ("alias", "A"), ("text", "TXT"), ("few", "A")])
@pytest.mark.parametrize("first", CLIENTS)
def test_whoever_asked_first_each_gets_what_it_can_take(
    first: str, kind: str, rdtype: str, server: Running, upstream: Upstream
) -> None:
    for number, second in enumerate(CLIENTS):
        name = f"{kind}-{list(CLIENTS).index(first)}-{number}.example.com."
        whole = expected_lines(kind, name)
        for client in (first, second, first):
            octets, response = asked_by(client, server, name, rdtype)
            is_tcp, size = client.startswith("tcp"), CLIENTS[client]
            found = lines_of(response)
            assert response.rcode() == dns.rcode.NOERROR
            assert (response.edns == -1) == (size is None)
            assert found <= whole
            assert bool(response.flags & dns.flags.TC) == (found != whole)
            if is_tcp:
                assert found == whole
            else:
                assert len(octets) <= min(size or 512, OUR_LIMIT)
            # What can be had with the space that there is comes: an alias first, and an address with it.
            assert len(found) > (kind == "alias")
            if kind == "alias":
                assert response.answer[0].rdtype == dns.rdatatype.CNAME
        assert upstream.seen[name, False] <= 1
        assert upstream.seen[name, True] <= 1


@pytest.mark.parametrize("order", [(True, False, True), (False, True, False)])
def test_what_was_not_validated_is_for_those_who_asked_for_it(order: tuple[bool, ...], server: Running) -> None:
    name = f"bad-{order[0]}.example.com."
    for checking_disabled in order:
        message = dns.message.make_query(name, "A")
        if checking_disabled:
            message.flags |= dns.flags.CD
        response = dns.message.from_wire(over_udp(server, message.to_wire()))
        assert response.rcode() == (dns.rcode.NOERROR if checking_disabled else dns.rcode.SERVFAIL)
        assert bool(response.answer) == checking_disabled


@pytest.mark.parametrize("order", [("do", "", "edns", "do"), ("", "do", "edns", ""), ("edns", "do", "", "edns")])
def test_signatures_are_for_those_who_asked_for_them(order: tuple[str, ...], server: Running) -> None:
    name = f"signed-{'-'.join(order)}.example.com."
    for wish in order:
        message = dns.message.make_query(name, "A", use_edns=0 if wish else None, want_dnssec=wish == "do")
        response = dns.message.from_wire(over_udp(server, message.to_wire()))
        types = [dns.rdatatype.to_text(rrset.rdtype) for rrset in response.answer]
        assert types == (["A", "RRSIG"] if wish == "do" else ["A"])
        assert (response.edns >= 0) == bool(wish)
        assert bool(response.ednsflags & dns.flags.DO) == (wish == "do")


VERDICTS = {
    ALLOWED: (dns.rcode.NOERROR, True),
    BLOCKED: (dns.rcode.REFUSED, False),
    FILTERED: (dns.rcode.NOERROR, False),
}


@pytest.mark.parametrize("first", VERDICTS)
@pytest.mark.parametrize("tcp", [False, True])
def test_who_may_not_ask_is_told_nothing_that_another_has_asked(
    first: str, tcp: bool, server: Running, upstream: Upstream
) -> None:
    for name in (f"one-{first}-{tcp}.example.com.".replace(".", "-", 3), WEB):
        for client in (first, *VERDICTS, *VERDICTS):
            message = query(name)
            with socket.socket(type=socket.SOCK_STREAM if tcp else socket.SOCK_DGRAM) as asking:
                asking.settimeout(PATIENCE_SECONDS)
                asking.bind((client, 0))
                asking.connect((server.address, server.port))
                if tcp:
                    send(asking, framed(message), is_last=True)
                    (octets,) = rest(asking)
                else:
                    asking.send(message)
                    octets = asking.recv(65535)
            response = dns.message.from_wire(octets)
            assert (response.rcode(), bool(response.answer)) == VERDICTS[client], client


SPELLINGS = 200


@pytest.mark.parametrize("is_kept", [False, True])
@pytest.mark.parametrize("tcp", [False, True])
def test_each_of_many_at_once_gets_its_own_identifier_and_spelling(
    is_kept: bool, tcp: bool, server: Running, upstream: Upstream
) -> None:
    name = f"one-abcdefghijkl-{is_kept}-{tcp}.example.com.".lower()
    if is_kept:
        over_udp(server, query(name))
    spellings = {}
    for number in range(SPELLINGS):
        bits = number * 2654435761  # spread over the letters
        spellings[number] = "".join(
            letter.upper() if bits >> place & 1 else letter for place, letter in enumerate(name)
        )
    messages = [query(spelt, number=number) for number, spelt in spellings.items()]
    if tcp:
        with connect(server) as client:
            send(client, framed(*messages), is_last=True)
            replies = rest(client)
    else:
        replies = []
        with socket.socket(type=socket.SOCK_DGRAM) as client:
            client.settimeout(PATIENCE_SECONDS)
            client.connect((server.address, server.port))
            for start in range(0, SPELLINGS, 20):
                for message in messages[start : start + 20]:
                    client.send(message)
                replies += [client.recv(65535) for _ in range(20)]
    responses = [dns.message.from_wire(octets) for octets in replies]
    assert {response.id: response.question[0].name.to_text() for response in responses} == spellings
    for response in responses:
        (rrset,) = response.answer
        assert rrset.name.to_text() == spellings[response.id]
        assert rrset[0].to_text() == "203.0.113.1"
    assert upstream.seen[name, False] + upstream.seen[name, True] == 1


OPTS = [
    pytest.param("00004abc", "00640004010203040" + "00a00080102030405060708", id="unknown, cookie, Z bits"),
    pytest.param("00000000", "000b0000", id="keepalive"),
    pytest.param("00000000", "000b0002000a", id="keepalive with a time"),
    pytest.param("00008000", "0003000474657374", id="NSID"),
    pytest.param("00000000", "0008000700011800c00002", id="client subnet"),
    pytest.param("00000000", "000c0008" + "00" * 8, id="padding"),
    pytest.param("00000000", "", id="none"),
]


@pytest.mark.parametrize("exchange", [over_udp, over_tcp])
@pytest.mark.parametrize("kind", ["one", "bare"])
@pytest.mark.parametrize(("ttl", "options"), OPTS)
def test_options_end_here_both_ways(
    ttl: str, options: str, kind: str, exchange: object, server: Running, upstream: Upstream
) -> None:
    assert callable(exchange)
    name = f"{kind}-{ttl}-{options[:8]}-{exchange is over_tcp}.example.com."
    for _ in range(3):  # asked for, kept, and finished
        octets = exchange(server, with_opt(name, ttl, options))
        response = dns.message.from_wire(octets)
        assert response.rcode() == dns.rcode.NOERROR
        assert response.answer
        assert response.edns == 0
        assert not response.ednsflags & 0x7FFF
        assert response.options == ()
        plain = dns.message.from_wire(exchange(server, query(name)))
        assert plain.answer
        assert plain.edns == -1
    heard = [each for each in upstream.heard if each.question[0].name.to_text() == name]
    assert heard
    for each in heard:
        assert each.edns == 0
        assert not each.ednsflags & 0x7FFF
        (own,) = each.options
        assert (own.otype, own.to_wire()) == (0xFDE9, b"node-7")


@pytest.mark.parametrize("exchange", [over_udp, over_tcp])
def test_another_edns_version_is_refused_and_not_passed_on(
    exchange: object, server: Running, upstream: Upstream
) -> None:
    assert callable(exchange)
    name = f"one-version-{exchange is over_tcp}.example.com.".lower()
    for kept in (False, True):
        if kept:
            exchange(server, query(name))
        response = dns.message.from_wire(exchange(server, with_opt(name, "00010000", "")))
        assert response.rcode() == dns.rcode.BADVERS
        assert [each.name.to_text() for each in response.question] == [name]
        assert response.edns == 0
        assert not response.answer
        assert upstream.seen[name, exchange is over_tcp] == kept


@pytest.mark.parametrize("name", ["round.example.com.", "round.shop.svc.cluster.local."])
def test_aliases_that_lead_round_through_outside_end(name: str, server: Running, upstream: Upstream) -> None:
    before = upstream.seen.total()
    for rdtype in ("A", "AAAA"):
        response = server.ask(name, rdtype)
        assert response.rcode() in (dns.rcode.NOERROR, dns.rcode.SERVFAIL)
        assert all(rrset.rdtype == dns.rdatatype.CNAME for rrset in response.answer)
        assert len(response.answer) <= 16
    assert upstream.seen.total() - before <= 2 * 16


def with_opt(name: str, ttl: str, options: str) -> bytes:
    """A query for the address of ``name`` with an OPT of this TTL field and these options, in hexadecimal."""
    rdata = bytes.fromhex(options)
    header = struct.pack("!6H", 1, 0x0100, 1, 0, 0, 1)
    question = (dns.name.from_text(name).to_wire() or b"") + struct.pack("!HH", 1, 1)
    return header + question + bytes.fromhex("00002904d0" + ttl) + struct.pack("!H", len(rdata)) + rdata
