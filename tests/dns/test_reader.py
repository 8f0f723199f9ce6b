"""The reader on messages, whole, cut anywhere, and with tails. The packets of tests/conformance come on top."""

import random
import struct

import pytest

from kubedns.dns.answer import Rcode
from kubedns.dns.question import Client, Query, Transport
from kubedns.dns.reader import Rejected, read_query

CLIENT = Client(b"\x7f\0\0\x01", "127.0.0.1", 5353, Transport.UDP)
NAME = b"\3web\4shop\3svc\7cluster\5local\0"
QUESTION = NAME + b"\0\1\0\1"


def message(flags: int = 0x0100, counts: tuple[int, int, int, int] = (1, 0, 0, 0), body: bytes = QUESTION) -> bytes:
    return struct.pack("!6H", 0x4B44, flags, *counts) + body


def opt(size: int = 1232, ttl: int = 0, rdata: bytes = b"", owner: bytes = b"\0") -> bytes:
    return owner + struct.pack("!HHIH", 41, size, ttl, len(rdata)) + rdata


def option(code: int, value: bytes) -> bytes:
    return struct.pack("!HH", code, len(value)) + value


ADDRESS_RECORD = b"\xc0\x0c" + struct.pack("!HHIH", 1, 1, 5, 4) + b"\1\2\3\4"
TSIG = (
    b"\3bad\0" + struct.pack("!HHIH", 250, 255, 0, 61) + b"\x0bhmac-sha256\0" + bytes(6) + b"\1\x2c\0\x20" + bytes(38)
)

IXFR = NAME + b"\0\xfb\0\1"
TIMES = struct.pack("!5I", 0xFFFFFFFE, 1, 2, 3, 4)


def soa(rdtype: int = 6, rdata: bytes = b"\xc0\x0c\1a\xc0\x0c" + TIMES) -> bytes:
    return b"\xc0\x0c" + struct.pack("!HHIH", rdtype, 1, 0, len(rdata)) + rdata


GOOD = {
    "ixfr": message(counts=(1, 0, 1, 0), body=IXFR + soa()),
    "ixfr-opt": message(counts=(1, 0, 1, 1), body=IXFR + soa() + opt()),
    "ixfr-serial-unknown": message(body=IXFR),
    "plain": message(),
    "z-bit": message(0x0140),
    "every-harmless-flag": message(0x07FF & 0xFFFF ^ 0x0000),
    "root": message(body=b"\0\0\1\0\1"),
    "label-63": message(body=b"\x3f" + b"a" * 63 + b"\0\0\1\0\1"),
    "name-255": message(body=(b"\x3f" + b"a" * 63) * 3 + b"\x3d" + b"b" * 61 + b"\0\0\1\0\1"),
    "opt": message(counts=(1, 0, 0, 1), body=QUESTION + opt()),
    "opt-first-of-two": message(counts=(1, 0, 0, 2), body=QUESTION + opt() + ADDRESS_RECORD),
    "address-in-additional": message(counts=(1, 0, 0, 1), body=QUESTION + ADDRESS_RECORD),
    "options": message(counts=(1, 0, 0, 1), body=QUESTION + opt(rdata=option(10, b"x" * 8) + option(65001, b""))),
    "cookie-40": message(counts=(1, 0, 0, 1), body=QUESTION + opt(rdata=option(10, b"x" * 40))),
}


@pytest.mark.parametrize("name", GOOD)
def test_well_formed_queries_are_read(name: str) -> None:
    query = read_query(GOOD[name], CLIENT)
    assert isinstance(query, Query)
    assert query.id == 0x4B44
    assert query.octets == len(GOOD[name])
    assert (query.edns is not None) is ("opt" in name or "cookie" in name)


@pytest.mark.parametrize(("name", "serial"), [("ixfr", 0xFFFFFFFE), ("ixfr-opt", 0xFFFFFFFE), ("plain", None)])
def test_who_has_a_zone_already_says_which(name: str, serial: int | None) -> None:
    query = read_query(GOOD[name], CLIENT)
    assert isinstance(query, Query)
    assert query.serial == serial


@pytest.mark.parametrize("name", GOOD)
def test_a_message_cut_anywhere_is_never_a_query(name: str) -> None:
    whole = GOOD[name]
    for length in range(len(whole)):
        got = read_query(whole[:length], CLIENT)
        if length < 12:
            assert got is None
        else:
            assert isinstance(got, Rejected), length
            assert got.rcode == Rcode.FORMERR


@pytest.mark.parametrize("name", GOOD)
def test_a_tail_is_never_accepted(name: str) -> None:
    got = read_query(GOOD[name] + b"\0", CLIENT)
    assert isinstance(got, Rejected)
    assert got.rcode == Rcode.FORMERR


SILENT = {"empty": b"", "eleven": message()[:11], "response": message(0x8180), "ones": b"\xff" * 12}


@pytest.mark.parametrize("name", SILENT)
def test_what_is_no_query_gets_silence(name: str) -> None:
    assert read_query(SILENT[name], CLIENT) is None


REJECTED = {
    "iquery": (message(0x0900), Rcode.NOTIMP),
    "update-with-body": (message(0x2800, (1, 0, 1, 0)), Rcode.NOTIMP),
    "opcode-15": (message(0x7800), Rcode.NOTIMP),
    "no-question": (message(counts=(0, 0, 0, 0), body=b""), Rcode.FORMERR),
    "two-questions": (message(counts=(2, 0, 0, 0), body=QUESTION * 2), Rcode.FORMERR),
    "answer-count": (message(counts=(1, 1, 0, 0)), Rcode.FORMERR),
    "authority-count": (message(counts=(1, 0, 1, 0)), Rcode.FORMERR),
    "authority-of-no-ixfr": (message(counts=(1, 0, 1, 0), body=QUESTION + soa()), Rcode.FORMERR),
    "two-authorities": (message(counts=(1, 0, 2, 0), body=IXFR + soa() * 2), Rcode.FORMERR),
    "ixfr-without-soa": (message(counts=(1, 0, 1, 0), body=IXFR + soa(rdtype=2)), Rcode.FORMERR),
    "ixfr-short-soa": (message(counts=(1, 0, 1, 0), body=IXFR + soa(rdata=b"\xc0\x0c\0" + TIMES[1:])), Rcode.FORMERR),
    "ixfr-long-soa": (message(counts=(1, 0, 1, 0), body=IXFR + soa(rdata=b"\0\0\0" + TIMES)), Rcode.FORMERR),
    "additional-count": (message(counts=(1, 0, 0, 3)), Rcode.FORMERR),
    "pointer-in-question": (message(body=b"\xc0\x0c\0\1\0\1"), Rcode.FORMERR),
    "label-type-01": (message(body=b"\x41" + b"a" * 65 + b"\0\0\1\0\1"), Rcode.FORMERR),
    "name-256": (message(body=(b"\x3f" + b"a" * 63) * 3 + b"\x3e" + b"b" * 62 + b"\0\0\1\0\1"), Rcode.FORMERR),
    "two-opts": (message(counts=(1, 0, 0, 2), body=QUESTION + opt() + opt()), Rcode.FORMERR),
    "opt-with-owner": (message(counts=(1, 0, 0, 1), body=QUESTION + opt(owner=b"\1a\0")), Rcode.FORMERR),
    "opt-with-pointer": (message(counts=(1, 0, 0, 1), body=QUESTION + opt(owner=b"\xc0\x26")), Rcode.FORMERR),
    "option-overrun": (message(counts=(1, 0, 0, 1), body=QUESTION + opt(rdata=b"\0\x0a\0\x08")), Rcode.FORMERR),
    "half-option": (message(counts=(1, 0, 0, 1), body=QUESTION + opt(rdata=b"\0\x0a\0")), Rcode.FORMERR),
    "cookie-7": (message(counts=(1, 0, 0, 1), body=QUESTION + opt(rdata=option(10, b"x" * 7))), Rcode.FORMERR),
    "cookie-41": (message(counts=(1, 0, 0, 1), body=QUESTION + opt(rdata=option(10, b"x" * 41))), Rcode.FORMERR),
    "version-1": (message(counts=(1, 0, 0, 1), body=QUESTION + opt(ttl=1 << 16)), Rcode.BADVERS),
    "unknown-key": (message(counts=(1, 0, 0, 1), body=QUESTION + TSIG), Rcode.NOTAUTH),
    "tsig-not-last": (message(counts=(1, 0, 0, 2), body=QUESTION + TSIG + opt()), Rcode.FORMERR),
    "tsig-without-rdata": (
        message(counts=(1, 0, 0, 1), body=QUESTION + b"\3bad\0" + struct.pack("!HHIH", 250, 255, 0, 0)),
        Rcode.FORMERR,
    ),
    "opt-asked-for": (message(body=NAME + b"\0\x29\0\1"), Rcode.FORMERR),
    "owner-points-at-itself": (
        message(counts=(1, 0, 0, 1), body=QUESTION + b"\xc0\x2c" + ADDRESS_RECORD[2:]),
        Rcode.FORMERR,
    ),
    "owner-points-into-header": (
        message(counts=(1, 0, 0, 1), body=QUESTION + b"\xc0\x04" + ADDRESS_RECORD[2:]),
        Rcode.FORMERR,
    ),
}


@pytest.mark.parametrize("name", REJECTED)
def test_what_breaks_a_rule_is_rejected_with_its_code(name: str) -> None:
    octets, rcode = REJECTED[name]
    got = read_query(octets, CLIENT)
    assert isinstance(got, Rejected)
    assert got.rcode == rcode


def test_random_and_mutated_messages_raise_nothing() -> None:
    chance = random.Random(20)
    for _ in range(20_000):
        octets = bytearray(chance.choice([*GOOD.values(), *(octets for octets, _ in REJECTED.values())]))
        for _ in range(chance.randrange(1, 6)):
            octets[chance.randrange(len(octets))] = chance.randrange(256)
        got = read_query(bytes(octets[: chance.randrange(len(octets) + 1)]), CLIENT)
        assert got is None or isinstance(got, Query | Rejected)
