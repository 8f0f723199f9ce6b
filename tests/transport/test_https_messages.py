"""Which HTTP requests carry a DNS message, and what the reply says besides."""

from __future__ import annotations

import base64

import dns.message
import dns.rrset
import pytest

from kubedns.transport.https_messages import HttpRequest, answered, message_of, refusal

QUERY = dns.message.make_query("a.test.", "A", id=0).to_wire()
TEXT = base64.urlsafe_b64encode(QUERY).rstrip(b"=")
DNS = ((b"content-type", b"application/dns-message"),)

GOOD = [
    HttpRequest("GET", "/dns-query", b"dns=" + TEXT, ()),
    HttpRequest("GET", "/dns-query", b"x=1&dns=" + TEXT + b"%3D", ()),
    HttpRequest("POST", "/dns-query", b"", DNS),
    HttpRequest("POST", "/dns-query", b"", ((b"content-type", b"Application/DNS-message; x=1"),)),
]


@pytest.mark.parametrize("request_", GOOD, ids=str)
def test_messages_come_in_the_parameter_or_the_body(request_: HttpRequest) -> None:
    assert refusal(request_) is None
    assert message_of(request_, QUERY if request_.method == "POST" else b"") == QUERY


REFUSED = [
    (HttpRequest("GET", "/", b"dns=" + TEXT, ()), 404),
    (HttpRequest("GET", "/dns-query/", b"dns=" + TEXT, ()), 404),
    (HttpRequest("PUT", "/dns-query", b"", DNS), 405),
    (HttpRequest("HEAD", "/dns-query", b"dns=" + TEXT, ()), 405),
    (HttpRequest("POST", "/dns-query", b"", ()), 415),
    (HttpRequest("POST", "/dns-query", b"", ((b"content-type", b"application/json"),)), 415),
    (HttpRequest("GET", "/dns-query", b"dns=" + b"A" * 100_000, ()), 414),
]


@pytest.mark.parametrize(("request_", "status"), REFUSED, ids=str)
def test_other_requests_are_refused(request_: HttpRequest, status: int) -> None:
    reply = refusal(request_)
    assert reply is not None
    assert reply.status == status
    assert reply.body.endswith(b"\n")
    assert (status == 405) is ((b"allow", b"GET, POST") in reply.headers)


NO_MESSAGE = [b"", b"dns=", b"dns=AAAA", b"dns=*" + TEXT, b"dns=" + TEXT + b"&dns=" + TEXT, b"dns=\xff", b"&" * 20]


@pytest.mark.parametrize("parameters", NO_MESSAGE, ids=str)
def test_what_holds_no_message_is_none(parameters: bytes) -> None:
    assert message_of(HttpRequest("GET", "/dns-query", parameters, ()), b"") is None


@pytest.mark.parametrize("body", [b"", QUERY[:11], bytes(65_536)], ids=len)
def test_a_body_too_short_or_long_is_none(body: bytes) -> None:
    assert message_of(HttpRequest("POST", "/dns-query", b"", DNS), body) is None


SOA = "test. 60 IN SOA ns.test. host.test. 1 2 3 4 {}"
AGES = [
    ("NOERROR", ["a.test. 300 IN A 192.0.2.1"], [], 300),
    ("NOERROR", ["a.test. 300 IN CNAME b.test.", "b.test. 20 IN A 192.0.2.1"], [], 20),
    ("NXDOMAIN", [], [SOA.format(30)], 30),
    ("NXDOMAIN", [], [SOA.format(90)], 60),
    ("NOERROR", [], [], 0),
    ("SERVFAIL", [], [], 0),
]


@pytest.mark.parametrize(("rcode", "answer", "authority", "seconds"), AGES)
def test_a_reply_is_kept_no_longer_than_its_records(
    rcode: str, answer: list[str], authority: list[str], seconds: int
) -> None:
    made = dns.message.make_response(dns.message.from_wire(QUERY))
    made.set_rcode(dns.rcode.from_text(rcode))
    for section, lines in ((made.answer, answer), (made.authority, authority)):
        for line in lines:
            name, ttl, rdclass, rdtype, rdata = line.split(None, 4)
            section.append(dns.rrset.from_text(name, int(ttl), rdclass, rdtype, rdata))
    reply = answered(made.to_wire())
    assert reply.status == 200
    assert dict(reply.headers)[b"cache-control"] == b"max-age=%d" % seconds
    assert dict(reply.headers)[b"content-length"] == str(len(reply.body)).encode()
