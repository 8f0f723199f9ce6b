from __future__ import annotations

from collections.abc import Callable

import dns.flags
import dns.message
import dns.opcode
import dns.rcode
import pytest

from kubedns.dns.names import parse_name
from kubedns.dns.notify import acknowledged, read_notify, write_acknowledgement, write_notify

ZONE = parse_name("Cluster.local.")
OURS = write_notify(0x4B44, ZONE)


def test_a_notify_is_what_the_rfc_says() -> None:
    message = dns.message.from_wire(OURS)
    assert (message.opcode(), message.flags & dns.flags.AA) == (dns.opcode.NOTIFY, dns.flags.AA)
    assert message.question[0].to_text() == "Cluster.local. IN SOA"
    assert not message.flags & dns.flags.QR


def foreign(zone: str = "a.test.", rdtype: str = "SOA", rdclass: str = "IN") -> dns.message.Message:
    message = dns.message.make_query(zone, rdtype, rdclass)
    message.set_opcode(dns.opcode.NOTIFY)
    return message


def test_what_others_send_is_read_and_acknowledged() -> None:
    message = foreign()
    message.answer.append(dns.rrset.from_text("a.test.", 5, "IN", "SOA", "a. b. 1 2 3 4 5"))
    notify = read_notify(message.to_wire())
    assert notify is not None
    assert notify.zone == parse_name("a.test.")
    response = dns.message.from_wire(write_acknowledgement(notify))
    assert message.is_response(response)
    assert response.rcode() == dns.rcode.NOERROR


UNREADABLE = {
    "a query": dns.message.make_query("a.test.", "SOA").to_wire(),
    "a response": OURS[:2] + b"\xa4\0" + OURS[4:],
    "another type": foreign(rdtype="A").to_wire(),
    "another class": foreign(rdclass="CH").to_wire(),
    "no question": OURS[:4] + bytes(8),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_is_no_notify_is_none(name: str) -> None:
    assert read_notify(UNREADABLE[name]) is None


def test_a_notify_cut_anywhere_is_none() -> None:
    assert [read_notify(OURS[:at]) for at in range(len(OURS))] == [None] * len(OURS)


RESPONSES: list[tuple[Callable[[bytes], bytes], int | None]] = [
    (lambda octets: octets, 0),
    (lambda octets: octets[:3] + b"\5" + octets[4:], 5),
    (lambda octets: octets[:3] + b"\4" + bytes(8), 4),  # its question was not read
    (lambda octets: b"\0\0" + octets[2:], None),
    (lambda octets: octets[:2] + b"\x24\0" + octets[4:], None),
    (lambda octets: octets[:2] + b"\x84\0" + octets[4:], None),
    (lambda octets: octets.replace(b"local", b"lokal"), None),
    (lambda octets: octets[:11], None),
]


@pytest.mark.parametrize("at", range(len(RESPONSES)))
def test_only_the_response_to_it_acknowledges_a_notify(at: int) -> None:
    change, rcode = RESPONSES[at]
    notify = read_notify(OURS)
    assert notify is not None
    assert acknowledged(OURS, change(write_acknowledgement(notify))) == rcode
