"""Messages to try a server with: sound ones, the broken ones of the conformance packets, and what mutation makes."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

import dns.edns
import dns.flags
import dns.message
import yaml

PACKETS = Path(__file__).parent.parent / "conformance" / "packets.yaml"
ZONE = "cluster.local."
GOOD_NAME = f"web.shop.svc.{ZONE}"
_REPEATED = re.compile(r"\[([0-9a-f]{2})\*(\d+)\]|([0-9a-f]+)")
_NAMES = (
    GOOD_NAME,
    f"WEB.shop.SVC.{ZONE}",
    f"db-0.db.data.svc.{ZONE}",
    f"_pg._tcp.db.data.svc.{ZONE}",
    f"10-244-2-10.data.pod.{ZONE}",
    f"in-web.ext.svc.{ZONE}",
    f"nothing.here.svc.{ZONE}",
    f"dns-version.{ZONE}",
    ZONE,
    ".",
    "1.10.96.10.in-addr.arpa.",
    "a.2.0.a.6.9.0.0.0.1.0.0.d.f.ip6.arpa.",
    "www.example.com.",
    "x." * 120 + "long.",
)
_TYPES = ("A", "AAAA", "SRV", "PTR", "TXT", "SOA", "NS", "ANY", "AXFR", "HTTPS", "TYPE65280")
_INTERESTING = (0x00, 0x01, 0x29, 0x3F, 0x40, 0x7F, 0x80, 0xBF, 0xC0, 0xC1, 0xFF)
_MAX_UDP = 4096

Mutation = Callable[[random.Random, bytearray, "list[bytes]"], None]


def sound_queries() -> list[bytes]:
    """Queries without a fault, with and without EDNS, of every kind of name and type."""
    queries = []
    for name in _NAMES:
        for rdtype in _TYPES:
            query = dns.message.make_query(name, rdtype, id=0)
            queries.append(query.to_wire())
            query.use_edns(
                0, dns.flags.DO, 1232, options=[dns.edns.GenericOption(dns.edns.OptionType.COOKIE, b"12345678")]
            )
            queries.append(query.to_wire())
    return queries


def packets() -> list[bytes]:
    """The messages of the conformance packets."""
    wires = [packet["wire"] for packet in yaml.safe_load(PACKETS.read_text())]
    return [_octets(wire) for wire in wires]


def _octets(text: str) -> bytes:
    return b"".join(
        bytes.fromhex(match[1]) * int(match[2]) if match[1] else bytes.fromhex(match[3])
        for match in _REPEATED.finditer(text)
    )


class Messages:
    """An endless supply; the same ``seed`` gives the same messages."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._seeds = sound_queries() + packets()

    @property
    def seeds(self) -> list[bytes]:
        """What is mutated."""
        return self._seeds

    def next(self, most: int = _MAX_UDP) -> bytes:
        """A message of at most ``most`` octets: now and then a sound or a merely random one, mostly a mutated one."""
        choose = self._random
        kind = choose.random()
        if kind < 0.05:
            return choose.randbytes(choose.randrange(200))
        message = bytearray(choose.choice(self._seeds)[:most])
        message[:2] = choose.randbytes(2)
        if kind > 0.15:
            for _ in range(choose.choice((1, 1, 1, 2, 3, 8))):
                choose.choice(_MUTATIONS)(choose, message, self._seeds)
        return bytes(message[:most])

    def unheard_of(self) -> bytes:
        """A sound query for a name that nobody has asked for before."""
        name = f"{self._random.randbytes(12).hex()}.shop.svc.{ZONE}"
        return dns.message.make_query(name, "A", id=self._random.randrange(65536)).to_wire()


def _flip(choose: random.Random, message: bytearray, _: list[bytes]) -> None:
    if message:
        message[choose.randrange(len(message))] ^= 1 << choose.randrange(8)


def _put(choose: random.Random, message: bytearray, _: list[bytes]) -> None:
    if message:
        message[choose.randrange(len(message))] = choose.choice(_INTERESTING)


def _insert(choose: random.Random, message: bytearray, _: list[bytes]) -> None:
    at = choose.randrange(len(message) + 1)
    message[at:at] = choose.randbytes(choose.choice((1, 2, 4, 64)))


def _cut_out(choose: random.Random, message: bytearray, _: list[bytes]) -> None:
    at = choose.randrange(len(message) + 1)
    del message[at : at + choose.choice((1, 2, 4, 16))]


def _cut_off(choose: random.Random, message: bytearray, _: list[bytes]) -> None:
    del message[choose.randrange(len(message) + 1) :]


def _repeat(choose: random.Random, message: bytearray, _: list[bytes]) -> None:
    at = choose.randrange(len(message) + 1)
    message += message[at : at + 64] * choose.choice((1, 2, 8))


def _count(choose: random.Random, message: bytearray, _: list[bytes]) -> None:
    if len(message) >= 12:
        at = choose.choice((2, 4, 6, 8, 10))
        message[at : at + 2] = choose.choice((0, 1, 2, 255, 65535, choose.randrange(65536))).to_bytes(2)


def _graft(choose: random.Random, message: bytearray, seeds: list[bytes]) -> None:
    other = choose.choice(seeds)[:_MAX_UDP]
    at = choose.randrange(len(message) + 1)
    message[at:] = other[choose.randrange(len(other) + 1) :]


def _point(choose: random.Random, message: bytearray, _: list[bytes]) -> None:
    """A compression pointer, to anywhere in the message or beyond."""
    at = choose.randrange(len(message) + 1)
    message[at : at + 2] = (0xC000 | choose.randrange(len(message) + 2) & 0x3FFF).to_bytes(2)


def _append(choose: random.Random, message: bytearray, _: list[bytes]) -> None:
    """An OPT with options of any kind."""
    rdata = b"".join(
        choose.randrange(20).to_bytes(2) + choose.randrange(48).to_bytes(2) + choose.randbytes(choose.randrange(48))
        for _ in range(choose.randrange(4))
    )
    message += b"\0\0\x29" + choose.randbytes(6) + len(rdata).to_bytes(2) + rdata
    if len(message) >= 12:
        message[10:12] = b"\0\1"


_MUTATIONS: tuple[Mutation, ...] = (
    _flip, _put, _insert, _cut_out, _cut_off, _repeat, _count, _graft, _point, _append,
)  # fmt: skip
