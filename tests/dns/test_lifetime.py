import pytest

from kubedns.dns.answer import Answer, Rcode
from kubedns.dns.lifetime import lifetime, with_ttl
from kubedns.dns.names import parse_name
from kubedns.dns.rdata import CNAME, SOA, A
from kubedns.dns.rrset import RRset

NAME = parse_name("a.test.")


def address(ttl: int) -> RRset:
    return RRset(NAME, ttl, (A(bytes(4)),))


def alias(ttl: int) -> RRset:
    return RRset(NAME, ttl, (CNAME(parse_name("b.test.")),))


def soa(ttl: int, minimum: int) -> RRset:
    return RRset(parse_name("test."), ttl, (SOA(NAME, NAME, 1, 2, 3, 4, minimum),))


NX = Rcode.NXDOMAIN
LIFETIMES = [
    (Answer(answer=(address(30),)), 30),
    (Answer(answer=(alias(20), address(30))), 20),
    (Answer(answer=(alias(20), address(0))), 0),
    (Answer(authority=(soa(60, 86400),)), 60),
    (Answer(authority=(soa(86400, 15),)), 15),
    (Answer(rcode=NX, authority=(soa(60, 30),)), 30),
    (Answer(rcode=NX, answer=(alias(10),), authority=(soa(60, 30),)), 10),
    (Answer(answer=(alias(100),), authority=(soa(60, 30),)), 30),
    (Answer(rcode=NX), 1),
    (Answer(), 1),
]


@pytest.mark.parametrize(("answer", "seconds"), LIFETIMES)
def test_how_long_an_answer_may_be_kept(answer: Answer, seconds: int) -> None:
    assert lifetime(answer) == seconds


def test_every_record_gets_the_ttl() -> None:
    answer = with_ttl(Answer(answer=(alias(20), address(30)), authority=(soa(60, 5),), additional=(address(9),)), 7)
    assert {rrset.ttl for rrset in (*answer.answer, *answer.authority, *answer.additional)} == {7}
