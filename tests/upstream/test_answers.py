"""What is believed of a reply, for clients that validate and for those that do not."""

from __future__ import annotations

import dns.message
import dns.rrset
import pytest

from kubedns.dns.names import parse_name
from kubedns.dns.question import Question
from kubedns.dns.rdata import TYPE_NUMBERS, type_name
from kubedns.dns.reply import read_reply
from kubedns.upstream.answers import answer_of


def signature(owner: str, covered: str) -> str:
    return f"{owner} 9 IN RRSIG {covered} 8 2 9 20300101000000 20200101000000 1 test. c2lnbmVk"


A, ALIAS = "a.test. 9 IN A 192.0.2.1", "b.test. 9 IN CNAME a.test."
SOA, NS = "test. 9 IN SOA a. b. 1 2 3 4 5", "test. 9 IN NS ns.test."
NSEC, NSEC3 = "a.test. 9 IN NSEC c.test. A RRSIG NSEC", "0123456789abcdefghijklmnopqrstuv.test. 9 IN NSEC3 1 0 0 - 00 A"
DNAME, MADE = "old.test. 9 IN DNAME test.", "a.old.test. 9 IN CNAME a.test."
# The name and type asked, the sections of the reply, and what is kept of them: types in order, with and without DO.
CASES = [
    ("a.test. A", [A, signature("a.test.", "A")], [], "A RRSIG", "", "A", ""),
    ("b.test. A", [ALIAS, signature("b.test.", "CNAME"), A, signature("a.test.", "A")], [],
     "CNAME RRSIG A RRSIG", "", "CNAME A", ""),
    ("a.test. A", [A], [NS, signature("test.", "NS")], "A", "", "A", ""),
    ("a.test. A", [A, signature("a.test.", "A")], [NSEC, signature("a.test.", "NSEC")],
     "A RRSIG", "NSEC RRSIG", "A", ""),  # made of a wildcard
    ("x.test. A", [], [SOA, signature("test.", "SOA"), NSEC, signature("a.test.", "NSEC")],
     "", "SOA RRSIG NSEC RRSIG", "", "SOA"),
    ("x.test. A", [], [NSEC3, signature("0123456789abcdefghijklmnopqrstuv.test.", "NSEC3"), SOA],
     "", "SOA NSEC3 RRSIG", "", "SOA"),
    ("a.old.test. A", [DNAME, signature("old.test.", "DNAME"), MADE, A], [],
     "DNAME RRSIG CNAME A", "", "CNAME A", ""),
    ("a.test. RRSIG", [signature("a.test.", "A")], [], "RRSIG", "", "RRSIG", ""),
    ("a.test. ANY", [A, signature("a.test.", "A")], [], "A RRSIG", "", "A RRSIG", ""),
    ("a.test. A", [A, signature("other.test.", "A")], [], "A", "", "A", ""),
    ("a.test. NSEC", [NSEC], [], "NSEC", "", "NSEC", ""),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "answer", "authority", "signed", "proofs", "plain", "denial"), CASES)
def test_what_proves_an_answer_is_for_those_who_ask_for_it(
    asked: str, answer: list[str], authority: list[str], signed: str, proofs: str, plain: str, denial: str
) -> None:
    name, rdtype = asked.split()
    reply = dns.message.make_response(dns.message.make_query(name, rdtype))
    for section, lines in ((reply.answer, answer), (reply.authority, authority)):
        for line in lines:
            section.append(dns.rrset.from_text(*line.split(None, 4)))  # type: ignore[arg-type]
    question = Question(parse_name(name), TYPE_NUMBERS[rdtype])
    for dnssec_ok, records, others in ((True, signed, proofs), (False, plain, denial)):
        found = answer_of(question, read_reply(reply.to_wire()), dnssec_ok)
        assert [type_name(rrset.type) for rrset in found.answer] == records.split()
        assert [type_name(rrset.type) for rrset in found.authority] == others.split()
