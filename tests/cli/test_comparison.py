"""What counts as a difference between two replies, and what is asked at all."""

from __future__ import annotations

from collections.abc import Sequence

import dns.flags
import dns.message
import dns.rcode
import dns.rrset
import pytest

from kubedns.cli.comparison import Part, difference, questions
from kubedns.dns.names import parse_name
from kubedns.dns.question import Question
from kubedns.dns.rdata import CNAME, PTR, SRV, TXT, A, RecordType
from kubedns.dns.reply import Reply, read_reply
from kubedns.dns.rrset import RRset

NAME = parse_name("web.test.")
QUESTION = Question(NAME, RecordType.A)
ONE, TWO = "web.test. 5 IN A 10.0.0.1", "web.test. 5 IN A 10.0.0.2"
SOA = "test. 5 IN SOA ns.test. admin.test. {serial} 7200 1800 86400 {minimum}"


def reply(
    *answer: str, authority: Sequence[str] = (), additional: Sequence[str] = (), rcode: str = "NOERROR", flags: str = ""
) -> Reply:
    """A reply as another server writes it."""
    made = dns.message.make_response(dns.message.make_query("web.test.", "A"))
    made.flags |= dns.flags.from_text(flags)
    made.set_rcode(dns.rcode.from_text(rcode))
    for section, lines in ((made.answer, answer), (made.authority, authority), (made.additional, additional)):
        for line in lines:
            name, ttl, rdclass, rdtype, rdata = line.split(None, 4)
            section.append(dns.rrset.from_text(name, int(ttl), rdclass, rdtype, rdata))
    return read_reply(made.to_wire())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (reply(ONE, TWO), reply(TWO, ONE)),
        (reply(ONE), reply(ONE.upper())),
        (reply("web.test. 5 IN CNAME other.test."), reply("web.test. 5 IN CNAME OTHER.test.")),
        (reply(ONE), reply(ONE.replace(" 5 ", " 3 "))),
        (reply(ONE), reply(ONE, additional=[TWO])),
        (reply(ONE, flags="RD"), reply(ONE, flags="CD")),
        (reply(authority=[SOA.format(serial=1, minimum=5)]), reply(authority=[SOA.format(serial=2, minimum=30)])),
    ],
)
def test_what_says_the_same_is_no_difference(old: Reply, new: Reply) -> None:
    assert difference(QUESTION, old, new, with_ttl=False) is None
    assert difference(QUESTION, new, old, with_ttl=False) is None


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        (reply(ONE), reply(ONE, TWO), [Part.ANSWER]),
        (reply(ONE), reply("web.test. 5 IN AAAA ::1"), [Part.ANSWER]),
        (reply(ONE), reply(ONE.replace("web", "www")), [Part.ANSWER]),
        (reply(ONE, flags="AA"), reply(ONE), [Part.FLAGS]),
        (reply(ONE), reply(ONE, flags="RA"), [Part.FLAGS]),
        (reply(ONE), reply(ONE, flags="AD"), [Part.FLAGS]),
        (reply(), reply(rcode="NXDOMAIN"), [Part.RCODE]),
        (reply(), reply(rcode="BADVERS"), [Part.RCODE]),
        (reply(ONE), reply(rcode="SERVFAIL", flags="RA"), [Part.RCODE, Part.FLAGS, Part.ANSWER]),
        (reply(), reply(authority=[SOA.format(serial=1, minimum=5)]), [Part.AUTHORITY]),
        (
            reply(authority=[SOA.format(serial=1, minimum=5)]),
            reply(authority=[SOA.format(serial=1, minimum=5).replace("admin", "root")]),
            [Part.AUTHORITY],
        ),
        (None, reply(ONE), [Part.RESPONSE]),
        (None, None, [Part.RESPONSE]),
    ],
)
def test_what_differs_is_told_part_by_part(old: Reply | None, new: Reply | None, parts: list[Part]) -> None:
    for first, second in ((old, new), (new, old)):
        found = difference(QUESTION, first, second, with_ttl=False)
        assert found is not None
        assert (found.old, found.new, list(found.parts)) == (first, second, parts)


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        (reply(ONE), reply(ONE.replace(" 5 ", " 3 ")), Part.ANSWER),
        (
            reply(authority=[SOA.format(serial=1, minimum=5)]),
            reply(authority=[SOA.format(serial=1, minimum=3)]),
            Part.AUTHORITY,
        ),
    ],
)
def test_ttls_count_where_they_are_asked_for(old: Reply, new: Reply, part: Part) -> None:
    found = difference(QUESTION, old, new, with_ttl=True)
    assert found is not None
    assert found.parts == (part,)


def test_every_name_is_asked_for_what_it_has_and_hosts_for_both_families() -> None:
    service, alias, port, text, reverse = (parse_name(f"{label}.test.") for label in ("a", "b", "_p._tcp.a", "v", "1"))
    rrsets = [
        RRset(service, 5, (A(bytes(4)), A(bytes([10, 0, 0, 1])))),
        RRset(service, 5, (SRV(0, 1, 80, service),)),
        RRset(alias, 5, (CNAME(service),)),
        RRset(port, 5, (SRV(0, 1, 80, service),)),
        RRset(text, 5, (TXT((b"1.1.0",)),)),
        RRset(reverse, 5, (PTR(service),)),
        RRset(service, 5, (A(bytes(4)),)),
    ]
    asked = ["a.test. A", "a.test. AAAA", "a.test. SRV", "b.test. A", "b.test. AAAA", "b.test. CNAME"]
    assert list(map(str, questions(rrsets))) == [*asked, "_p._tcp.a.test. SRV", "v.test. TXT", "1.test. PTR"]
