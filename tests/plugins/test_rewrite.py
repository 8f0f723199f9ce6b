"""rewrite: what is asked instead, what the client sees of the answer, and which words make no rule."""

from __future__ import annotations

import asyncio
from pathlib import Path

import dns.message
import dns.rcode
import pytest

from kubedns.corefile.parser import parse_corefile
from kubedns.dns.answer import Answer, Rcode, nxdomain
from kubedns.dns.names import parse_name
from kubedns.dns.question import Query
from kubedns.dns.rdata import CNAME, SOA, SRV, A
from kubedns.dns.rrset import RRset
from kubedns.errors import ConfigurationErrors
from kubedns.plugins.plugin import Answering, Next
from kubedns.plugins.rewrite import Rewrite
from kubedns.server.build import Settings, build_server
from kubedns.server.files import DiskFiles
from tests.plugins.asking import query_for
from tests.plugins.test_chaos import exchange

ADDRESS = A(bytes((10, 0, 0, 1)))


def rewrite(text: str) -> Rewrite:
    """The plugin that the lines of ``text`` make."""
    blocks = parse_corefile(f".:1053 {{\n{text}\n}}\n", "Corefile", DiskFiles(), {}).blocks
    server = build_server(blocks, Settings())
    (resolver,) = list(server.resolvers.values())[:1]
    (plugin,) = resolver.chains[0].plugins
    assert isinstance(plugin, Rewrite)
    return plugin


def asked(plugin: Answering, query: Query, give: Answer | None = None) -> tuple[str, Answer]:
    """What the rest of the chain is asked, and what the plugin gives for its answer: one address by default."""
    heard = []

    async def rest(query: Query) -> Answer:
        heard.append(str(query.question))
        return give or Answer(answer=(RRset(query.question.name, 100, (ADDRESS,)),))

    next_plugin: Next = rest
    answer = asyncio.run(plugin.answer(query, next_plugin))
    return "".join(heard), answer


QUESTIONS = [
    ("rewrite name a.test b.test", "a.test.", "b.test. A"),
    ("rewrite name a.test b.test", "A.Test.", "b.test. A"),
    ("rewrite name a.test b.test", "x.a.test.", "x.a.test. A"),
    ("rewrite name exact a.test. b.test.", "a.test.", "b.test. A"),
    ("rewrite name prefix dev- prod-", "dev-a.test.", "prod-a.test. A"),
    ("rewrite name suffix .old.test .new.test", "a.b.old.test.", "a.b.new.test. A"),
    ("rewrite name suffix .old.test .new.test", "old.test.x.", "old.test.x. A"),
    ("rewrite name substring us-west-1.example.org us-west-1.consul", "ftp.us-west-1.example.org.",
     "ftp.us-west-1.consul. A"),
    (r"rewrite name regex (.*)-(us-west-1)\.example\.org {1}.service.{2}.consul", "ftp-us-west-1.example.org.",
     "ftp.service.us-west-1.consul. A"),
    (r"rewrite name regex ^(?P<n>[a-z]{2,})(?:x)?\.test\.$ {1}.new", "ab.test.", "ab.new. A"),
    ("rewrite type A TXT", "a.test.", "a.test. TXT"),
    ("rewrite stop name a.test b.test\nrewrite name b.test c.test", "a.test.", "b.test. A"),
    ("rewrite continue name a.test b.test\nrewrite name b.test c.test\nrewrite name c.test d.test", "a.test.",
     "c.test. A"),
    ("rewrite name x.test y.test\nrewrite type A AAAA", "a.test.", "a.test. AAAA"),
    ("rewrite stop {\n name regex ^a(.*)$ b{1}\n answer name ^b(.*)$ a{1}\n}", "a.test.", "b.test. A"),
    (r"rewrite name exact a\046b.test b.test", r"a\.b.test.", "b.test. A"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "name", "question"), QUESTIONS)
def test_the_question_is_rewritten_and_the_owner_is_the_clients(text: str, name: str, question: str) -> None:
    heard, answer = asked(rewrite(text), query_for(name))
    assert heard == question
    assert [str(rrset.owner) for rrset in answer.answer] == [name]


ALIASED = Answer(
    answer=(
        RRset(parse_name("_x._tcp.a.new."), 100, (SRV(0, 0, 1, parse_name("h.a.new.")),)),
        RRset(parse_name("h.a.new."), 100, (CNAME(parse_name("z.other.")),)),
    ),
    additional=(RRset(parse_name("h.a.new."), 100, (ADDRESS,)),),
)
ANSWERS = [
    ("rewrite name suffix .old .new", "_x._tcp.a.old.", "h.a.new.", "h.a.new."),
    ("rewrite name suffix .old .new answer auto", "_x._tcp.a.old.", "h.a.old.", "h.a.old."),
    (r"rewrite name suffix .old .new answer name (.*)\.new\. {1}.old", "_x._tcp.a.old.", "h.a.new.", "h.a.old."),
    (r"rewrite name suffix .old .new answer value (.*)\.new\. {1}.old", "_x._tcp.a.old.", "h.a.old.", "h.a.new."),
    (r"rewrite name suffix .old .new answer value ^h\. g. answer name ^h\. i.", "_x._tcp.a.old.", "g.", "i."),
]


@pytest.mark.parametrize(("text", "name", "target", "owner"), ANSWERS)
def test_other_names_of_the_answer_are_renamed_where_that_is_wanted(
    text: str, name: str, target: str, owner: str
) -> None:
    _, answer = asked(rewrite(text), query_for(name, "SRV"), ALIASED)
    (service,) = answer.answer[0].rdatas
    assert isinstance(service, SRV)
    assert (str(answer.answer[0].owner), str(service.target)) == (name, target)
    assert [str(answer.answer[1].owner), str(answer.additional[0].owner)] == [owner, owner]


def test_an_alias_still_to_be_followed_is_followed_to_its_new_target() -> None:
    target = parse_name("b.new.")
    alias = Answer(answer=(RRset(parse_name("a.new."), 9, (CNAME(target),)),), follow=target)
    _, answer = asked(rewrite("rewrite name suffix .old .new answer auto"), query_for("a.old."), alias)
    assert [line for rrset in answer.answer for line in rrset.lines()] == ["a.old. 9 IN CNAME b.old."]
    assert answer.follow == parse_name("b.old.")


TTLS = [("15", 15), ("200-300", 200), ("1-50", 50), ("-60", 60), ("120-", 120), ("50-150", 100)]


@pytest.mark.parametrize(("limits", "seconds"), TTLS)
def test_ttls_are_brought_into_their_limits(limits: str, seconds: int) -> None:
    plugin = rewrite(rf"rewrite continue {{" f"\n ttl regex ^a\\. {limits}\n}}")
    assert asked(plugin, query_for("a.test."))[1].answer[0].ttl == seconds
    assert asked(plugin, query_for("b.test."))[1].answer[0].ttl == 100


def test_an_rcode_is_given_for_another() -> None:
    test = parse_name("test.")
    denial = nxdomain(RRset(test, 5, (SOA(test, test, 1, 2, 3, 4, 5),)), frozenset())
    plugin = rewrite("rewrite rcode suffix .test NXDOMAIN 5")
    assert asked(plugin, query_for("a.test."), denial)[1].rcode == Rcode.REFUSED
    assert asked(plugin, query_for("a.test."))[1].rcode == Rcode.NOERROR
    assert asked(plugin, query_for("a.other."), denial)[1].rcode == Rcode.NXDOMAIN


def test_an_alias_is_led_elsewhere_and_followed_there() -> None:
    alias = RRset(parse_name("a.test."), 9, (CNAME(parse_name("x.cdn.")),))
    answer = Answer(answer=(alias, RRset(parse_name("x.cdn."), 9, (ADDRESS,))))
    _, led = asked(rewrite("rewrite cname suffix .cdn .mirror"), query_for("a.test."), answer)
    assert [line for rrset in led.answer for line in rrset.lines()] == ["a.test. 9 IN CNAME x.mirror."]
    assert led.follow == parse_name("x.mirror.")
    assert asked(rewrite("rewrite cname suffix .other .mirror"), query_for("a.test."), answer)[1] is answer


@pytest.mark.parametrize(
    "text",
    ["rewrite name regex ^(.*)$ ..{1}", f"rewrite name prefix a {'b' * 60}.{'c' * 63}.{'d' * 63}.{'e' * 63}.a",
     f"rewrite name prefix a {'b' * 64}", "rewrite name a.test b.test answer name .* ..x"],
)  # fmt: skip
def test_what_makes_no_name_is_servfail_with_its_reason(text: str) -> None:
    _, answer = asked(rewrite(text), query_for("a.test."))
    assert answer.rcode == Rcode.SERVFAIL
    assert answer.extended_error
    assert "no valid name" in answer.extended_error.text


TEMPLATE = 'template IN A test {\nanswer "{{ .Name }} 60 IN A 192.0.2.1"\n}'
IN_CLASSES = [
    ("rewrite class CH IN", "CH", "a.test.", "A", ["a.test. 60 IN A 192.0.2.1"]),
    ("rewrite class ch in", "CH", "A.Test.", "A", ["a.test. 60 IN A 192.0.2.1"]),
    ("rewrite class ANY IN", "ANY", "a.test.", "A", ["a.test. 60 IN A 192.0.2.1"]),
    ("rewrite class CH IN", "IN", "a.test.", "A", ["a.test. 60 IN A 192.0.2.1"]),
    ("rewrite class CH IN", "HS", "a.test.", "A", None),
    ("rewrite name a.test b.test", "CH", "a.test.", "A", None),
    (
        "rewrite continue class CH IN\nrewrite name a.other a.test",
        "CH",
        "a.other.",
        "A",
        ["a.other. 60 IN A 192.0.2.1"],
    ),
    ("rewrite class IN CH\nchaos v1", "IN", "version.bind.", "TXT", None),  # chaos stands above rewrite
    ("rewrite class IN CH", "IN", "a.test.", "A", None),
    ("rewrite continue class HS CH\nrewrite class CH IN", "HS", "a.test.", "A", ["a.test. 60 IN A 192.0.2.1"]),
    ("rewrite class CH IN\nchaos v1", "CH", "version.bind.", "TXT", ['version.bind. 0 CH TXT "v1"']),
    ("rewrite class HS CH", "HS", "a.test.", "A", None),
    ("rewrite class CH IN\nacl {\nblock net 10.0.0.0/8\n}", "CH", "a.test.", "A", None),
    ("rewrite class CH IN\ntransfer {\nto *\n}", "CH", "test.", "AXFR", None),
    (
        "rewrite class CH IN\nalias",
        "CH",
        "to.alias.",
        "A",
        ["to.alias. 60 IN CNAME a.test.", "a.test. 60 IN A 192.0.2.1"],
    ),
]


@pytest.mark.parametrize(("text", "rdclass", "name", "rdtype", "lines"), IN_CLASSES)
def test_what_is_asked_in_one_class_is_answered_from_another(
    text: str, rdclass: str, name: str, rdtype: str, lines: list[str] | None, tmp_path: Path
) -> None:
    alias = 'template IN A alias {\nanswer "{{ .Name }} 60 IN CNAME a.test."\n}'
    body = f"{text}\n{TEMPLATE}".replace("\nalias\n", f"\n{alias}\n")
    for response in exchange(tmp_path, body, dns.message.make_query(name, rdtype, rdclass), times=2):
        assert [rrset.to_text() for rrset in response.answer] == (lines or [])
        assert response.rcode() == (dns.rcode.REFUSED if lines is None else dns.rcode.NOERROR)


FAULTS = [
    ("rewrite", "without a rule"),
    ("rewrite nmae a b", "did you mean `name`?"),
    ("rewrite name a", "too few words"),
    ("rewrite name regex (a b", "no regular expression"),
    ("rewrite name regex a {1}", "naming a group"),
    ("rewrite name a..b c", "no name: empty label"),
    ("rewrite name a b answer nothing", "no answer rule"),
    ("rewrite name a b answer auto auto auto", "no answer rule"),
    ("rewrite type A WHAT", "`WHAT` is no record type"),
    ("rewrite ttl a 9-3", "an empty range"),
    ("rewrite ttl a x", "no whole number"),
    ("rewrite rcode a NXDOMAIN OOPS", "`OOPS` is no rcode"),
    ("rewrite class CH", "too few words"),
    ("rewrite class CH INTERNET", "`INTERNET` is no class"),
]


@pytest.mark.parametrize(("text", "message"), FAULTS)
def test_words_that_make_no_rule_are_named(text: str, message: str) -> None:
    with pytest.raises(ConfigurationErrors) as caught:
        rewrite(text)
    assert message in str(caught.value)
    assert "Corefile:2" in str(caught.value)
