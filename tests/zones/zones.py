"""A zone with everything that makes answers differ, and answers as text."""

from __future__ import annotations

from kubedns.dns.answer import Answer
from kubedns.dns.names import parse_name
from kubedns.dns.rrset import RRset

ORIGIN = parse_name("example.org.")
TEXT = r"""
$TTL 300
@           3600 SOA ns1 hostmaster 2026120101 7200 3600 1209600 60
@                NS  ns1
@                NS  ns.elsewhere.test.
@                MX  10 mail
ns1              A   192.0.2.1
mail             A   192.0.2.2
mail             AAAA 2001:db8::2
www              CNAME mail
outside          CNAME www.elsewhere.test.
loop             CNAME loop
*.wild           A   192.0.2.3
*.wild           TXT "any of them" "with \"quotes\""
*.alias          CNAME mail
host.wild        AAAA 2001:db8::3
a.b.c.deep       A   192.0.2.4
sub              NS  ns.sub
sub              NS  ns1
sub              DS  1 8 2 00000000000000000000000000000000000000000000000000000000000000AA
ns.sub           A   192.0.2.5
hidden.sub       A   192.0.2.6
old              DNAME new
x.new            A   192.0.2.7
old              A   192.0.2.8
_http._tcp  60   SRV 0 5 80 mail
esc\.aped        A   192.0.2.9
$GENERATE 1-3 n$ A 10.0.0.$
$ORIGIN other.example.org.
@                A   192.0.2.10
relative         CNAME @
"""


def lines(rrsets: tuple[RRset, ...]) -> list[str]:
    return sorted(line for rrset in rrsets for line in rrset.lines())


def shown(answer: Answer) -> tuple[str, list[str], list[str]]:
    """Response code, answer and authority, the latter by owner and type alone."""
    return answer.rcode.name, lines(answer.answer), sorted(f"{each.owner} {each.type}" for each in answer.authority)
