"""template: the records made of a question, what goes on, and the texts that are refused."""

from __future__ import annotations

import asyncio

import pytest

from kubedns.corefile.parser import parse_corefile
from kubedns.dns.answer import Answer, Rcode
from kubedns.dns.question import Query
from kubedns.errors import ConfigurationErrors
from kubedns.observe.rows import TEMPLATE_FAILURES, TEMPLATE_MATCHES, TEMPLATE_RECORD_FAILURES, Metric
from kubedns.resolver.resolver import Resolver
from kubedns.server.build import Settings, build_server
from kubedns.server.files import DiskFiles
from tests.plugins.asking import query_for


def resolver(text: str, zone: str = ".") -> Resolver:
    """The resolver of a server block with the lines of ``text``."""
    blocks = parse_corefile(f"{zone}:1053 {{\n{text}\n}}\n", "Corefile", DiskFiles(), {}).blocks
    return next(iter(build_server(blocks, Settings()).resolvers.values()))


def answer_to(text: str, query: Query, zone: str = ".") -> Answer:
    return asyncio.run(resolver(text, zone).answer(query))


def lines(answer: Answer) -> list[str]:
    sections = (answer.answer, answer.authority, answer.additional)
    return [line for section in sections for rrset in section for line in rrset.lines()]


DASHED = r"match ^ip-(?P<a>10)-(?P<b>[0-9]*)-(?P<c>[0-9]*)-(?P<d>[0-9]*)[.]example[.]$"
MADE = [
    (DASHED + '\nanswer "{{ .Name }} 60 IN A {{ .Group.a }}.{{.Group.b}}.{{ .Group.c }}.{{ .Group.d }}"',
     "IP-10-1-2-3.example.", "A", ["ip-10-1-2-3.example. 60 IN A 10.1.2.3"]),
    (r'match nothing ^ip0a(?P<b>[a-f0-9]{2})[.]' '\n'
     'answer "{{ .Name }} 60 IN A 10.0.0.{{ parseInt .Group.b 16 8 }}"',
     "ip0aff.example.", "A", ["ip0aff.example. 60 IN A 10.0.0.255"]),
    (r'match (.*)\.example\.$' '\n'
     'answer "{{ .Name }} {{ .Class }} {{ .Type }} \\"{{ index .Match 1 }} {{ .Zone }}\\""',
     "a.example.", "TXT", ['a.example. 3600 IN TXT "a example."']),
    ('answer "{{ .Question.Name }} 60 IN MX 10 {{ .Name }}"', "A.example.", "MX",
     ["A.example. 60 IN MX \\# 13 000a0161076578616d706c6500"]),
    ('answer "{{ .Name }} 1 IN A 10.0.0.1"\nanswer "{{ .Name }} 1 IN A 10.0.0.2"\nadditional "x. 1 IN A 10.0.0.3"',
     "a.example.", "A", ["a.example. 1 IN A 10.0.0.1", "a.example. 1 IN A 10.0.0.2", "x. 1 IN A 10.0.0.3"]),
    ('authority "{{ .Zone }} 60 IN SOA ns.{{ .Zone }} admin.{{ .Zone }} (1 2 3 4 5)"', "a.example.", "A",
     ["example. 60 IN SOA ns.example. admin.example. 1 2 3 4 5"]),
]  # fmt: skip


@pytest.mark.parametrize(("body", "name", "rdtype", "records"), MADE)
def test_records_are_made_of_the_question(body: str, name: str, rdtype: str, records: list[str]) -> None:
    answer = answer_to(f"template IN ANY {{\n{body}\n}}", query_for(name, rdtype), "example")
    assert (answer.rcode, answer.authoritative, lines(answer)) == (Rcode.NOERROR, True, records)


DENY = "template ANY ANY invalid {\n rcode NXDOMAIN\n ederror 21 Blocked by RFC2606\n}\n"
FALLS = "template IN A {\n match ^a[.]\n answer 'x. 1 IN A 10.0.0.1'\n %s\n}\ntemplate IN ANY {\n rcode NXDOMAIN\n}"
RCODES = [
    (DENY, "a.invalid.", "A", Rcode.NXDOMAIN),
    (DENY, "a.valid.", "A", Rcode.REFUSED),
    (FALLS.replace("'", '"') % "", "b.", "A", Rcode.SERVFAIL),
    (FALLS.replace("'", '"') % "", "b.", "TXT", Rcode.NXDOMAIN),
    (FALLS.replace("'", '"') % "fallthrough", "b.", "A", Rcode.NXDOMAIN),
    (FALLS.replace("'", '"') % "fallthrough c", "b.", "A", Rcode.SERVFAIL),
    (FALLS.replace("'", '"') % "fallthrough c", "b.c.", "A", Rcode.NXDOMAIN),
    ("template IN A {\n rcode SERVFAIL\n}", "b.", "A", Rcode.SERVFAIL),
]


@pytest.mark.parametrize(("text", "name", "rdtype", "rcode"), RCODES)
def test_what_is_not_matched_falls_through_or_fails(text: str, name: str, rdtype: str, rcode: Rcode) -> None:
    assert answer_to(text, query_for(name, rdtype)).rcode == rcode


def test_an_extended_error_is_given() -> None:
    error = answer_to(DENY, query_for("a.invalid.")).extended_error
    assert error
    assert (error.code, error.text) == (21, "Blocked by RFC2606")


def test_an_alias_is_followed_by_the_server_blocks_own_plugins() -> None:
    alias = 'template IN ANY a {\n answer "a. 60 IN CNAME b."\n}\n'
    text = alias + 'template IN A b {\n answer "{{ .Name }} 5 IN A 10.0.0.1"\n}'
    assert lines(answer_to(text, query_for("a."))) == ["a. 60 IN CNAME b.", "b. 5 IN A 10.0.0.1"]
    assert lines(answer_to(text, query_for("a.", "CNAME"))) == ["a. 60 IN CNAME b."]


def test_an_answer_that_names_the_client_is_for_it_alone() -> None:
    own = answer_to('template IN A {\n answer "{{ .Name }} 5 IN A {{ .Remote }}"\n}', query_for("a."))
    assert lines(own) == ["a. 5 IN A 10.1.2.3"]
    assert own.varies_by_client
    assert not answer_to(DENY, query_for("a.invalid.")).varies_by_client


FAILING = [
    (r"match ^(?P<n>.*)[.]$", "{{ .Name }} 5 IN A {{ .Group.n }}", TEMPLATE_RECORD_FAILURES),
    (r"match ^(?P<n>.*)[.]$", "{{ .Name }} 5 IN A 10.0.0.{{ parseInt .Group.n 10 8 }}", TEMPLATE_FAILURES),
]


@pytest.mark.parametrize(("match", "record", "row"), FAILING)
def test_what_makes_no_record_is_servfail_and_counted(match: str, record: str, row: Metric) -> None:
    blocks = parse_corefile(
        f'.:1053 {{\ntemplate IN A {{\n{match}\nanswer "{record}"\n}}\n}}', "Corefile", DiskFiles(), {}
    ).blocks
    server = build_server(blocks, Settings())
    served = next(iter(server.resolvers.values()))
    answer = asyncio.run(served.answer(query_for("a.")))
    assert answer.rcode == Rcode.SERVFAIL
    assert answer.lifetime_seconds == 0
    cells = served._metrics.cells
    assert {counted.name for counted in cells} == {TEMPLATE_MATCHES.name, row.name}


FAULTS = [
    ("template IN {\n}", "more words are needed"),
    ("template CH A {\n}", "a class that is not served"),
    ("template IN WHAT {\n}", "no record type"),
    ("template IN A {\n match (a\n}", "no regular expression"),
    ('template IN A {\n answer "{{ .Meta \\"x\\" }} IN A 10.0.0.1"\n}', "is not known here"),
    ('template IN A {\n answer "{{ .Name | printf }} IN A 10.0.0.1"\n}', "is not known here"),
    ('template IN A {\n answer "{{ .Group.x }} IN A 10.0.0.1"\n}', "no match has a group x"),
    ('template IN A {\n answer "{{ index .Match 1 }} IN A 10.0.0.1"\n}', "no match has a group 1"),
    ('template IN A {\n answer "x IN A 10.0.0"\n}', "no record: "),
    ("template IN A {\n rcode WHAT\n}", "no rcode"),
    ("template IN A {\n ederror x\n}", "no whole number"),
]


@pytest.mark.parametrize(("text", "message"), FAULTS)
def test_faults_are_found_before_anybody_asks(text: str, message: str) -> None:
    with pytest.raises(ConfigurationErrors) as caught:
        resolver(text)
    assert message in str(caught.value)
    assert "Corefile:" in str(caught.value)
