from __future__ import annotations

import json
import socket

import dns.edns
import dns.flags
import dns.message
import dns.rcode
import dns.rrset
import pytest

from kubedns.cli.main import main
from tests.cli.servers import answering
from tests.support.process import free_port

RECORDS = ("web.example.", 5, "IN", "A", "10.0.0.2", "10.0.0.3")


def record(query: dns.message.Message, _tcp: bool) -> bytes:
    response = dns.message.make_response(query)
    response.flags |= dns.flags.AA
    if query.question[0].name.to_text() == "web.example.":
        response.answer = [dns.rrset.from_text(*RECORDS)]
    else:
        response.set_rcode(dns.rcode.NXDOMAIN)
        response.authority = [dns.rrset.from_text("example.", 5, "IN", "SOA", "ns.example. h.example. 1 2 3 4 5")]
        response.use_edns(0, options=[dns.edns.EDEOption(dns.edns.EDECode.BLOCKED, "blocked")])
    return response.to_wire()


def cut_off(query: dns.message.Message, tcp: bool) -> bytes:
    if tcp:
        return record(query, tcp)
    response = dns.message.make_response(query)
    response.flags |= dns.flags.TC
    return response.to_wire()


def garbage(_query: dns.message.Message, _tcp: bool) -> bytes:
    return b"\x00\x00"


def asked(port: int, *arguments: str) -> int:
    return main(["query", "--server", "127.0.0.1", "--port", str(port), *arguments])


def test_records_are_master_file_lines_under_a_comment_with_the_timing(capsys: pytest.CaptureFixture[str]) -> None:
    with answering(record) as port:
        assert asked(port, "web.example", "--no-edns") == 0
    first, *rest = capsys.readouterr().out.splitlines()
    assert first.startswith(f"; NOERROR aa rd; udp 127.0.0.1:{port}, ")
    assert first.endswith(" ms, 61 octets")
    assert rest[0] == "; answer"
    assert sorted(rest[1:]) == ["web.example. 5 IN A 10.0.0.2", "web.example. 5 IN A 10.0.0.3"]


def test_a_denial_shows_authority_and_extended_error(capsys: pytest.CaptureFixture[str]) -> None:
    with answering(record) as port:
        assert asked(port, "no.example") == 0
    printed = capsys.readouterr().out
    assert printed.startswith("; NXDOMAIN aa rd; ")
    assert "; EDE 15 (Blocked): blocked\n" in printed
    assert "; authority\nexample. 5 IN SOA" in printed


@pytest.mark.parametrize(("name", "status"), [("web.example", 0), ("no.example", 1)])
def test_fail_turns_a_denial_into_a_status(name: str, status: int) -> None:
    with answering(record) as port:
        assert asked(port, name, "--fail") == status


def test_json_has_stable_keys(capsys: pytest.CaptureFixture[str]) -> None:
    with answering(record) as port:
        assert asked(port, "web.example", "-o", "json", "--tcp") == 0
    found = json.loads(capsys.readouterr().out)
    assert found.pop("milliseconds") >= 0
    assert found.pop("octets") > 0
    found["answer"].sort(key=lambda record: record["data"])  # dnspython's writer shuffles
    assert found == {
        "server": "127.0.0.1",
        "port": port,
        "transport": "tcp",
        "truncated": False,
        "rcode": "NOERROR",
        "flags": ["aa", "rd"],
        "edns": {"version": 0, "udp_octets": 8192, "dnssec_ok": False, "options": []},
        "answer": [{"name": "web.example.", "ttl": 5, "type": "A", "data": f"10.0.0.{last}"} for last in (2, 3)],
        "authority": [],
        "additional": [],
    }


def test_an_answer_that_is_cut_off_is_fetched_over_tcp(capsys: pytest.CaptureFixture[str]) -> None:
    with answering(cut_off) as port:
        assert asked(port, "web.example") == 0
    printed = capsys.readouterr().out
    assert f"; tcp 127.0.0.1:{port}, " in printed
    assert "cut off over udp" in printed
    assert "10.0.0.3" in printed


def test_what_is_sent(capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[dns.message.Message] = []

    def keep(query: dns.message.Message, tcp: bool) -> bytes:
        seen.append(query)
        return record(query, tcp)

    with answering(keep) as port:
        asked(port, "10.0.0.2")
        asked(port, "web.example", "srv", "--dnssec")
        asked(port, "web.example", "TYPE65", "--no-edns")
    questions = [query.question[0].to_text() for query in seen]
    assert questions == ["2.0.0.10.in-addr.arpa. IN PTR", "web.example. IN SRV", "web.example. IN HTTPS"]
    assert [(query.edns, query.payload, bool(query.ednsflags & dns.flags.DO)) for query in seen] == [
        (0, 1232, False),
        (0, 1232, True),
        (-1, 0, False),
    ]
    capsys.readouterr()


def test_where_nothing_listens_the_status_is_3_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    port = free_port()
    assert asked(port, "web.example") == 3
    assert asked(port, "web.example", "--tcp") == 3
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(";")[0] for line in lines] == [
        f"kubedns: nothing listens on 127.0.0.1:{port} (udp)",
        f"kubedns: nothing listens on 127.0.0.1:{port} (tcp)",
    ]


def test_silence_is_status_3(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        assert asked(silent.getsockname()[1], "web.example", "--timeout", "0.05") == 3
    assert "within 0.05 s" in capsys.readouterr().err


def test_what_is_no_message_is_status_3(capsys: pytest.CaptureFixture[str]) -> None:
    with answering(garbage) as port:
        assert asked(port, "web.example", "--tcp") == 3
    assert "no proper DNS message" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["a..b"], ["web", "NOPE"], ["web", "--server", "x"], ["web", "--port", "0"]])
def test_a_wrong_call_is_one_line_and_status_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["query", *arguments]) == 2
    assert capsys.readouterr().err.count("\n") == 1
