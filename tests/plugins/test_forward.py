"""forward and proxy: their words, whom they ask, what is counted."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Sequence
from pathlib import Path

import dns.message
import pytest

from kubedns.corefile.blocks import Directive, Word
from kubedns.corefile.parser import parse_corefile
from kubedns.corefile.read_options import read_options
from kubedns.dns.answer import Answer, Rcode
from kubedns.dns.names import parse_name
from kubedns.errors import ConfigurationErrors, Location
from kubedns.plugins.forward import Forward, Options
from kubedns.plugins.forward_files import UpstreamFiles
from kubedns.plugins.forward_reading import Probing
from kubedns.plugins.loop import Loop
from kubedns.server.build import Settings, build_server
from kubedns.server.files import DiskFiles
from kubedns.server.server import Server
from kubedns.upstream.exchange import UpstreamAddress
from kubedns.upstream.tls import TlsFiles
from tests.plugins.asking import query_for
from tests.upstream.fakes import FakeUpstream, Script, reply

CLUSTER = Path(__file__).parent.parent / "conformance" / "cluster.yaml"


def read(*words: str) -> Options:
    line = [Word(text, Location("Corefile", 1, 1, text)) for text in ("forward", *words)]
    return read_options(Options, Directive(line[0], tuple(line[1:])))


TO = [
    (["192.0.2.1"], ["192.0.2.1:53"]),
    (["192.0.2.1:5353", "dns://192.0.2.2", "192.0.2.1:5353"], ["192.0.2.1:5353", "192.0.2.2:53"]),
    (
        ["tls://192.0.2.1", "tls://[2001:db8::1]:8853", "tls://192.0.2.2%dns.test", "tls://192.0.2.2%dns.test:10853"],
        ["tls://192.0.2.1:853", "tls://[2001:db8::1]:8853", "tls://192.0.2.2:853", "tls://192.0.2.2:10853"],
    ),
    (
        ["2001:db8::1", "[2001:db8::2]:5353", "[2001:db8::3]", "fe80::1%eth0", "[fe80::1%eth0]:5353"],
        ["[2001:db8::1]:53", "[2001:db8::2]:5353", "[2001:db8::3]:53", "[fe80::1%eth0]:53", "[fe80::1%eth0]:5353"],
    ),
]


@pytest.mark.parametrize(("words", "upstreams"), TO)
def test_upstreams_are_addresses(words: list[str], upstreams: list[str]) -> None:
    assert [str(address) for address in read(".", *words).route.upstreams] == upstreams


def test_upstreams_are_those_of_a_resolv_conf(tmp_path: Path) -> None:
    file = tmp_path / "resolv.conf"
    file.write_text("# mine\nsearch a.test\nnameserver 192.0.2.1 # one\nnameserver fe80::1%eth0\nnameserver x\n")
    assert [str(address) for address in read(".", str(file)).route.upstreams] == ["192.0.2.1:53", "[fe80::1%eth0]:53"]
    file.write_text("search a.test\n")
    with pytest.raises(ConfigurationErrors, match="a file without nameserver lines"):
        read(".", str(file))


FAULTS = [
    (["."], "more words are needed"),
    ([".", "nobody"], "`nobody` is no address and no file"),
    ([".", "192.0.2.1:0x"], "is no address and no file"),
    ([".", "https://192.0.2.1"], "a transport that is not spoken to upstreams"),
    ([".", "tls://dns.test"], "is no address and no file"),
    ([".", *(f"192.0.2.{octet}" for octet in range(16))], "16 upstreams; at most 15 are asked"),
]


@pytest.mark.parametrize(("words", "fault"), FAULTS)
def test_what_is_no_upstream_is_refused(words: list[str], fault: str) -> None:
    with pytest.raises(ConfigurationErrors, match=fault):
        read(*words)


WORDS = [
    (["tls"], TlsFiles()),
    (["tls", "ca.pem"], TlsFiles(Path("ca.pem"))),
    (["tls", "cert.pem", "key.pem"], TlsFiles(None, Path("cert.pem"), Path("key.pem"))),
    (["tls", "cert.pem", "key.pem", "ca.pem"], TlsFiles(Path("ca.pem"), Path("cert.pem"), Path("key.pem"))),
]


@pytest.mark.parametrize(("words", "files"), WORDS)
def test_tls_takes_none_to_three_files(words: list[str], files: TlsFiles) -> None:
    assert read_block(words).tls == files


PROBES = [
    (["health_check", "5s"], Probing(5.0)),
    (["health_check", "1s", "no_rec", "domain", "a.test"], Probing(1.0, False, parse_name("a.test."))),
    (["health_check", "1s", "domain", "a.test", "no_rec"], Probing(1.0, False, parse_name("a.test."))),
]


@pytest.mark.parametrize(("words", "probing"), PROBES)
def test_how_upstreams_are_probed(words: list[str], probing: Probing) -> None:
    assert read_block(words).health_check == probing


BLOCK_FAULTS = [
    (["health_check", "1s", "domain"], "`domain` is not known here"),
    (["health_check", "1s", "domain", "a..b"], "`a..b` is no name"),
    (["tls", "a", "b", "c", "d"], "unexpected `d`"),
    (["next", "NXDOMAN"], "did you mean NXDOMAIN"),
    (["failover", "NOERROR"], "an answer, after which nobody else is asked"),
]


@pytest.mark.parametrize(("words", "fault"), BLOCK_FAULTS)
def test_what_a_line_of_the_block_may_not_say(words: list[str], fault: str) -> None:
    with pytest.raises(ConfigurationErrors, match=re.escape(fault)):
        read_block(words)


NO_DATA = "test. 60 IN SOA ns.test. host.test. 1 2 3 4 60"
NEXT = [
    ("next NXDOMAIN", "NXDOMAIN", "NOERROR"),
    ("next SERVFAIL NXDOMAIN", "SERVFAIL", "NOERROR"),
    ("next REFUSED", "REFUSED", "NOERROR"),
    ("next SERVFAIL", "NXDOMAIN", "NXDOMAIN"),
    ("next_on_nodata", "NOERROR", "NOERROR"),
    ("", "NXDOMAIN", "NXDOMAIN"),
]


@pytest.mark.parametrize(("line", "first", "rcode"), NEXT)
def test_the_next_forward_is_asked_for_what_the_line_says(line: str, first: str, rcode: str) -> None:
    answer, asked = forwarded(f"forward . UPSTREAM0 {{\n{line}\n}}\nforward . UPSTREAM1", [first, "good"])
    assert answer.rcode.name == rcode
    assert bool(answer.answer) is (len(asked[1]) == 1)
    assert len(asked[1]) == (1 if rcode == "NOERROR" else 0)


OTHERS = [
    "forward other.test UPSTREAM1",
    "forward . UPSTREAM1 {\nexcept www.test\n}",
    "whoami",
]


@pytest.mark.parametrize("below", OTHERS)
def test_without_a_next_forward_for_the_name_the_answer_stands(below: str) -> None:
    answer, asked = forwarded(f"forward . UPSTREAM0 {{\nnext NXDOMAIN\n}}\n{below}", ["NXDOMAIN", "good"])
    assert answer.rcode == Rcode.NXDOMAIN
    assert not asked[1]


FAILOVER = [
    ("failover NXDOMAIN", ["NXDOMAIN", "good"], "NOERROR", 1),
    ("failover NXDOMAIN", ["NXDOMAIN", "NXDOMAIN"], "NXDOMAIN", 1),
    ("max_connect_attempts 1", ["SERVFAIL", "good"], "SERVFAIL", 0),
    ("max_connect_attempts 2", ["SERVFAIL", "good"], "NOERROR", 1),
]


@pytest.mark.parametrize(("line", "scripts", "rcode", "second"), FAILOVER)
def test_how_many_upstreams_are_asked(line: str, scripts: list[str], rcode: str, second: int) -> None:
    answer, asked = forwarded(f"forward . UPSTREAM0 UPSTREAM1 {{\npolicy sequential\n{line}\n}}", scripts)
    assert answer.rcode.name == rcode
    assert len(asked[1]) == second


def test_what_upstreams_do_is_counted_under_both_names() -> None:
    counted: list[str] = []
    forwarded("forward . UPSTREAM0 UPSTREAM1 {\npolicy sequential\nforce_tcp\n}", ["SERVFAIL", "good"], counted)
    shown = "\n".join(counted)
    for line in (
        'coredns_forward_requests_total{to="UPSTREAM0"} 1.0',
        'coredns_forward_responses_total{rcode="SERVFAIL",to="UPSTREAM0"} 1.0',
        'coredns_forward_responses_total{rcode="NOERROR",to="UPSTREAM1"} 1.0',
        'coredns_forward_request_duration_seconds_count{rcode="NOERROR",to="UPSTREAM1"} 1.0',
        'coredns_proxy_request_duration_seconds_count{proxy_name="forward",rcode="NOERROR",to="UPSTREAM1"} 1.0',
        'coredns_proxy_conn_cache_misses_total{proto="tcp",proxy_name="forward",to="UPSTREAM1"} 1.0',
        'coredns_forward_healthcheck_failures_total{to="UPSTREAM0"} 0.0',
        "coredns_forward_healthcheck_broken_total 0.0",
        "coredns_forward_max_concurrent_rejects_total 0.0",
    ):
        assert line in shown


def test_the_old_word_means_the_same_and_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        answer, asked = forwarded("proxy . UPSTREAM0 UPSTREAM1 {\npolicy first\nspray\n}", ["SERVFAIL", "good"])
    assert answer.rcode == Rcode.NOERROR
    assert [len(each) for each in asked] == [1, 1]
    assert "Corefile:2: proxy is read as forward" in caplog.text
    assert "spray has no effect" in caplog.text


TLS_FAULTS = [
    ("forward . tls://192.0.2.1 {\ntls missing.pem\n}", "missing.pem: No such file"),
    ("forward . tls://192.0.2.1 {\ntls Corefile\n}", "Corefile: "),
    ("forward . tls://192.0.2.1%a.test {\ntls_servername b.test\n}", "a name of its own"),
]


@pytest.mark.parametrize(("body", "fault"), TLS_FAULTS)
def test_certificates_that_cannot_be_used_are_a_fault(tmp_path: Path, body: str, fault: str) -> None:
    (tmp_path / "Corefile").write_text("nothing")
    with pytest.raises(ConfigurationErrors, match=fault):
        build_server(
            parse_corefile(f".:1053 {{\n{body}\n}}", str(tmp_path / "Corefile"), DiskFiles(), {}).blocks, Settings()
        )


def read_block(*lines: list[str]) -> Options:
    words = [[Word(text, Location("Corefile", at + 1, 1, text)) for text in line] for at, line in enumerate(lines)]
    route = [Word(text, Location("Corefile", 1, 1, text)) for text in ("forward", ".", "192.0.2.1")]
    block = tuple(Directive(line[0], tuple(line[1:])) for line in words)
    return read_options(Options, Directive(route[0], tuple(route[1:]), block, has_block=True))


def saying(rcode: str) -> Script:
    return lambda query, transport: [reply(query, rcode=rcode, authority=NO_DATA)]


SCRIPTS: dict[str, Script] = {
    "good": lambda query, transport: [reply(query, "www.test. 300 IN A 192.0.2.1")],
    **{rcode: saying(rcode) for rcode in ("SERVFAIL", "REFUSED", "NXDOMAIN", "NOERROR")},
}


def built(body: str, file: str = "Corefile") -> Server:
    return build_server(parse_corefile(f".:1053 {{\n{body}\n}}", file, DiskFiles(), {}).blocks, Settings())


def forwarded(
    body: str, scripts: Sequence[str | Script], counted: list[str] | None = None
) -> tuple[Answer, list[list[str]]]:
    """What a server with ``body`` answers for www.test, and what its upstreams were asked."""

    async def run() -> tuple[Answer, list[list[str]]]:
        fakes = [FakeUpstream(SCRIPTS[script] if isinstance(script, str) else script) for script in scripts]
        text = body
        for number, fake in enumerate(fakes):
            await fake.start()
            text = text.replace(f"UPSTREAM{number}", str(fake.address))
        server = built(text)
        try:
            await server.load()
            answer = await next(iter(server.resolvers.values())).answer(query_for("www.test."))
        finally:
            server.close()
            for fake in fakes:
                await fake.stop()
        if counted is not None:
            server.exposition.run_on(asyncio.get_running_loop())
            shown = await asyncio.to_thread(server.exposition)
            for number, fake in enumerate(fakes):
                shown = shown.replace(str(fake.address), f"UPSTREAM{number}")
            counted.extend(shown.splitlines())
        return answer, [fake.asked for fake in fakes]

    return asyncio.run(run())


MANY = [f"192.0.2.{octet}:53" for octet in range(1, 16)]
RESOLV_CONFS = [
    ("another server", "nameserver 127.0.0.1\nnameserver 192.0.2.9\n", ["127.0.0.1:53", "192.0.2.9:53"]),
    ("nothing", "", ["192.0.2.1:53"]),
    ("no server", "search a.test\n", ["192.0.2.1:53"]),
    ("not there", None, ["192.0.2.1:53"]),
    ("twenty servers", "".join(f"nameserver 192.0.2.{octet}\n" for octet in range(1, 21)), MANY),
]


@pytest.mark.parametrize(("text", "upstreams"), [row[1:] for row in RESOLV_CONFS], ids=[row[0] for row in RESOLV_CONFS])
def test_a_changed_resolv_conf_is_followed_and_a_bad_one_is_not(
    text: str | None, upstreams: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "resolv.conf"
    file.write_text("nameserver 192.0.2.1\n")
    taken: list[Sequence[UpstreamAddress]] = []
    files = UpstreamFiles(read(".", str(file)).route, taken.append)
    files.look()
    assert not taken
    file.unlink()
    if text is not None:
        file.write_text(text)
    files.look()
    files.look()
    assert [[str(each) for each in found] for found in taken] == ([] if upstreams == ["192.0.2.1:53"] else [upstreams])
    assert caplog.text.count("the upstreams before stay in force") == (0 if taken else 1)


def test_what_is_known_of_upstreams_that_stay_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "resolv.conf"
    file.write_text("nameserver 192.0.2.1\nnameserver 192.0.2.2\n")
    server = built(f"forward . {file} 192.0.2.3")
    (plugin,) = (each for each in server.plugins if isinstance(each, Forward))
    _, second, third = plugin.upstreams
    file.write_text("nameserver 192.0.2.4\nnameserver 192.0.2.2\n# longer\n")
    plugin.look_at_files()
    assert [str(each.address) for each in plugin.upstreams] == ["192.0.2.4:53", "192.0.2.2:53", "192.0.2.3:53"]
    assert plugin.upstreams[1] is second
    assert plugin.upstreams[2] is third
    server.close()


def test_without_a_limit_of_its_own_there_is_one_all_the_same(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("kubedns.plugins.forward._MAX_UNDER_WAY", 2)

    async def run() -> list[str]:
        fake = FakeUpstream(SCRIPTS["good"])
        await fake.start()
        server = built(f"forward . {fake.address}")
        resolver = next(iter(server.resolvers.values()))
        try:
            asked = (resolver.answer(query_for(name)) for name in ("a.test.", "b.test.", "c.test.", "a.test."))
            answers = await asyncio.gather(*asked)
        finally:
            server.close()
            await fake.stop()
        return [answer.rcode.name for answer in answers]

    assert asyncio.run(run()) == ["NOERROR", "NOERROR", "REFUSED", "REFUSED"]
    assert [record.getMessage() for record in caplog.records] == [
        "Corefile:2: 2 questions wait for upstreams; more are refused"
    ]


OWN = """
kubernetes cluster.local {
manifests CLUSTER
}
forward . UPSTREAM0
"""
INTO = "www.test. 60 IN CNAME web.shop.svc.cluster.local."
LEADS = [
    ("forged", "NOERROR", (INTO, "web.shop.svc.cluster.local. 60 IN A 6.6.6.6"), "NOERROR", 1),
    ("not known there", "NXDOMAIN", (INTO,), "NOERROR", 1),
    ("missing here", "NOERROR", ("www.test. 60 IN CNAME none.shop.svc.cluster.local.",), "NXDOMAIN", 0),
    (
        "by way of another",
        "NOERROR",
        ("www.test. 60 IN CNAME b.test.", "b.test. 60 IN CNAME web.shop.svc.cluster.local."),
        "NOERROR",
        1,
    ),
    ("elsewhere", "NOERROR", ("www.test. 60 IN CNAME b.test.", "b.test. 60 IN A 192.0.2.1"), "NOERROR", 1),
]


@pytest.mark.parametrize(
    ("said", "records", "rcode", "addresses"), [row[1:] for row in LEADS], ids=[row[0] for row in LEADS]
)
def test_upstreams_have_no_say_in_zones_that_are_served_here(
    said: str, records: tuple[str, ...], rcode: str, addresses: int
) -> None:
    script: Script = lambda query, transport: [reply(query, *records, rcode=said)]  # noqa: E731
    answer, _ = forwarded(OWN.replace("CLUSTER", str(CLUSTER)), [script])
    lines = [line for rrset in answer.answer for line in rrset.lines()]
    assert answer.rcode.name == rcode
    assert lines[0] == records[0]
    assert sum(" IN A " in line for line in lines) == addresses
    assert not any("6.6.6.6" in line for line in lines)


MAIN = ".:1053 {\nforward . UPSTREAM0\n}\n"
STUB = "corp.test:1053 {\nforward . UPSTREAM1\n}\n"
ROUTES = [
    ("another block's cluster", MAIN + "cluster.local:1053 {\nkubernetes {\nmanifests CLUSTER\n}\n}\n",
     "www.test.", "web.shop.svc.cluster.local.", "10.96.10.1"),
    ("another block's file", MAIN + "corp.test:1053 {\nfile ZONE\n}\n", "www.test.", "db.corp.test.", "192.0.2.7"),
    ("another block's upstream", MAIN + STUB, "www.test.", "db.corp.test.", "192.0.2.8"),
    ("a narrower forward", ".:1053 {\nforward . UPSTREAM0\nforward corp.test UPSTREAM1\n}\n",
     "www.test.", "db.corp.test.", "6.6.6.6"),
    ("a narrower forward that stands first", ".:1053 {\nforward corp.test UPSTREAM1\nforward . UPSTREAM0\n}\n",
     "www.test.", "db.corp.test.", "192.0.2.8"),
    ("its own zone", MAIN + STUB.replace("UPSTREAM1", "UPSTREAM0"), "www.corp.test.", "db.corp.test.", "6.6.6.6"),
    ("out of a stub zone", MAIN.replace("UPSTREAM0", "UPSTREAM1") + STUB.replace("UPSTREAM1", "UPSTREAM0"),
     "www.corp.test.", "db.other.test.", "6.6.6.6"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "name", "target", "address"), [row[1:] for row in ROUTES], ids=[r[0] for r in ROUTES])
def test_an_alias_is_followed_by_the_route_of_its_target(
    text: str, name: str, target: str, address: str, tmp_path: Path
) -> None:
    def forges(query: dns.message.Message, transport: str) -> list[bytes]:
        if query.question[0].name.to_text() == name:
            return [reply(query, f"{name} 60 IN CNAME {target}", f"{target} 60 IN A 6.6.6.6")]
        return [reply(query, f"{target} 60 IN A 6.6.6.6")]

    async def run() -> Answer:
        fakes = [FakeUpstream(forges), FakeUpstream(lambda query, _: [reply(query, f"{target} 60 IN A 192.0.2.8")])]
        (tmp_path / "zone").write_text("@ 60 SOA ns host 1 2 3 4 5\ndb 60 A 192.0.2.7\n")
        made = text.replace("CLUSTER", str(CLUSTER)).replace("ZONE", str(tmp_path / "zone"))
        for number, fake in enumerate(fakes):
            await fake.start()
            made = made.replace(f"UPSTREAM{number}", str(fake.address))
        server = build_server(parse_corefile(made, "Corefile", DiskFiles(), {}).blocks, Settings())
        try:
            await server.load()
            return await next(iter(server.resolvers.values())).answer(query_for(name))
        finally:
            server.close()
            for fake in fakes:
                await fake.stop()

    lines = [line for rrset in asyncio.run(run()).answer for line in rrset.lines()]
    assert lines[0] == f"{name} 60 IN CNAME {target}"
    assert [line.split()[4] for line in lines[1:]] == [address]


def test_loop_probes_what_a_changed_file_names(tmp_path: Path) -> None:
    async def run() -> list[str]:
        file = tmp_path / "resolv.conf"
        file.write_text("nameserver 192.0.2.1\n")
        server = built(f"loop\nforward . {file}")
        forward, loop = (next(each for each in server.plugins if isinstance(each, kind)) for kind in (Forward, Loop))
        assert isinstance(loop, Loop)
        assert isinstance(forward, Forward)
        probed: list[str] = []
        try:
            loop.start([loop, forward])
            file.write_text("nameserver 192.0.2.1\nnameserver 192.0.2.2\n")
            forward.look_at_files()
            await asyncio.sleep(0)
            probed = [str(upstream.address) for upstream in loop._probes.values()]
        finally:
            server.close()
            await asyncio.sleep(0)
        return probed

    assert asyncio.run(run()) == ["192.0.2.1:53", "192.0.2.2:53"]
