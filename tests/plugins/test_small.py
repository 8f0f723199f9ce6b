"""any, minimal, loadbalance, errors, log: what they do to an answer, and what they write."""

import ipaddress
import logging
import re
from collections.abc import Callable

import pytest

from kubedns.dns.answer import NO_KEYS, Answer, data, nodata, nxdomain, refused, servfail
from kubedns.dns.names import parse_name
from kubedns.dns.question import Client, Transport
from kubedns.dns.rdata import SOA, A, RecordType
from kubedns.dns.rrset import RRset
from kubedns.plugins.any import Any
from kubedns.plugins.errors import Consolidation, Errors
from kubedns.plugins.loadbalance import LoadBalance
from kubedns.plugins.log import COMMON, BadFormatError, LineFormat, Log, ResponseClass
from kubedns.plugins.minimal import Minimal
from kubedns.plugins.networks import network_of
from tests.plugins.asking import ask, query_for

ZONE = parse_name("test.")
SOA_SET = RRset(ZONE, 5, (SOA(ZONE, ZONE, 1, 2, 3, 4, 5),))
ONE = RRset(parse_name("a.test."), 5, (A(bytes((10, 0, 0, 1))),))
MANY = RRset(parse_name("a.test."), 5, tuple(A(bytes((10, 0, 0, octet))) for octet in (1, 2, 3)))


def test_any_answers_only_any() -> None:
    rest = data((ONE,), NO_KEYS)
    assert ask(Any(), query_for("a.test.", "A"), rest) is rest
    answer = ask(Any(), query_for("a.test.", "ANY"), rest)
    assert [rrset.type for rrset in answer.answer] == [RecordType.HINFO]


MINIMAL = [
    (data((ONE,), NO_KEYS, additional=(MANY,)), 0, 0),
    (Answer(answer=(ONE,), authority=(RRset(ZONE, 5, ONE.rdatas),), additional=(MANY,)), 0, 0),
    (nodata(SOA_SET, NO_KEYS), 1, 0),
    (nxdomain(SOA_SET, NO_KEYS), 1, 0),
]


@pytest.mark.parametrize(("rest", "authority", "additional"), MINIMAL)
def test_minimal_takes_the_extras_off_positive_answers(rest: Answer, authority: int, additional: int) -> None:
    answer = ask(Minimal(), query_for("a.test."), rest)
    assert (len(answer.authority), len(answer.additional)) == (authority, additional)
    assert answer.answer == rest.answer


def test_loadbalance_frees_the_order_of_several_addresses() -> None:
    assert ask(LoadBalance(()), query_for("a.test."), data((MANY,), NO_KEYS)).shuffled
    assert not ask(LoadBalance(()), query_for("a.test."), data((ONE,), NO_KEYS)).shuffled


def test_loadbalance_puts_preferred_networks_first() -> None:
    preferred = [network_of(ipaddress.ip_network("10.0.0.3/32")), network_of(ipaddress.ip_network("10.0.0.2/31"))]
    answer = ask(LoadBalance(preferred), query_for("a.test."), data((MANY,), NO_KEYS))
    assert answer.shuffled
    assert answer.rank
    ranked = sorted(answer.answer[0].rdatas, key=answer.rank)
    assert [str(rdata) for rdata in ranked] == ["10.0.0.3", "10.0.0.2", "10.0.0.1"]


FAILED = servfail(14, "not synced")


def test_errors_writes_failures_alone(caplog: pytest.LogCaptureFixture) -> None:
    errors = Errors((), later=lambda seconds, call: None)
    for answer in (FAILED, data((ONE,), NO_KEYS), refused(), nxdomain(SOA_SET, NO_KEYS)):
        errors.observe(query_for("a\\010b.test."), answer, b"", 0.1)
    assert [(record.name, record.getMessage()) for record in caplog.records] == [
        ("plugin/errors", "2 a\\010b.test. A: not synced")
    ]


@pytest.mark.parametrize(
    ("show_first", "lines"),
    [
        (False, ["3 errors like 'not synced$' occurred in last 30s"]),
        (True, ["2 a.test. A: not synced", "2 errors like 'not synced$' occurred in last 30s"]),
    ],
)
def test_errors_alike_are_counted_together(
    show_first: bool, lines: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    calls: list[tuple[float, Callable[[], None]]] = []
    pattern = Consolidation(30.0, re.compile("not synced$"), logging.WARNING, show_first)
    errors = Errors([pattern], later=lambda seconds, call: calls.append((seconds, call)))
    for _ in range(3):
        errors.observe(query_for("a.test."), FAILED, b"", 0.1)
    ((seconds, call),) = calls
    assert seconds == 30.0
    call()
    assert [record.getMessage() for record in caplog.records] == lines
    assert {record.levelname for record in caplog.records} == {"WARNING"}


RESPONSE = bytes((0, 7, 0x85, 0x00)) + bytes(87)
FORMATS = [
    (COMMON, '10.1.2.3:40212 - 7 "A IN a.test. udp 44 false 512" NOERROR qr,aa,rd 91 0.000193954s'),
    ("{combined}", '10.1.2.3:40212 - 7 "A IN a.test. udp 44 false 512" NOERROR qr,aa,rd 91 0.000193954s "0"'),
    ("{name} {type}!", "a.test. A!"),
    ("{name} {/forward/upstream}", "a.test. -"),
    ("{name} {local}", "a.test. -"),
]


@pytest.mark.parametrize(("text", "line"), FORMATS)
def test_log_lines_have_the_asked_form(text: str, line: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    log = Log((), LineFormat(text), frozenset({ResponseClass.ALL}))
    log.observe(query_for("a.test."), data((ONE,), NO_KEYS), RESPONSE, 0.000193954)
    assert [record.getMessage() for record in caplog.records] == [line]


def test_log_brackets_ipv6_clients(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    client = Client(bytes(16), "::", 9, Transport.TCP, "::1")
    query = query_for("a.test.", client=client)
    Log((), LineFormat("{remote}:{port} {local} {proto}"), frozenset({ResponseClass.ALL})).observe(
        query, FAILED, RESPONSE, 0
    )
    assert caplog.messages == ["[::]:9 [::1] tcp"]


def test_log_refuses_a_field_that_there_is_not() -> None:
    with pytest.raises(BadFormatError, match=r"unknown field \{nme\}"):
        LineFormat("{nme}")


CLASSES = [
    (frozenset({ResponseClass.ALL}), ["NOERROR", "NOERROR", "NXDOMAIN", "SERVFAIL"]),
    (frozenset({ResponseClass.DENIAL}), ["NOERROR", "NXDOMAIN"]),
    (frozenset({ResponseClass.ERROR}), ["SERVFAIL"]),
    (frozenset({ResponseClass.SUCCESS, ResponseClass.ERROR}), ["NOERROR", "SERVFAIL"]),
]


@pytest.mark.parametrize(("classes", "lines"), CLASSES)
def test_log_takes_the_wanted_classes(
    classes: frozenset[ResponseClass], lines: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    log = Log([ZONE], LineFormat("{rcode}"), classes)
    for answer in (data((ONE,), NO_KEYS), nodata(SOA_SET, NO_KEYS), nxdomain(SOA_SET, NO_KEYS), FAILED):
        log.observe(query_for("a.test."), answer, RESPONSE, 0)
        log.observe(query_for("a.other."), answer, RESPONSE, 0)
    assert caplog.messages == lines
