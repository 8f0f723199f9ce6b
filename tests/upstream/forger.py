"""An upstream whose every reply comes after forged ones, which say that the name is at 6.6.6.6."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from random import Random

from kubedns.dns.names import Name
from kubedns.dns.question import Question
from kubedns.dns.rdata import A, RecordType
from kubedns.dns.reply import question_octets
from kubedns.upstream.datagrams import Datagrams
from kubedns.upstream.exchange import Asked, UpstreamAddress

TRUE, FORGED = "192.0.2.1", "6.6.6.6"
_AT_ONCE = 32


def answer(ident: bytes, question: bytes, address: str, flags: bytes = b"\x81\x80", count: int = 1) -> bytes:
    """A reply that says ``address``."""
    record = b"\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x3c\x00\x04" + socket.inet_aton(address)
    return ident + flags + count.to_bytes(2) + b"\x00\x01\x00\x00\x00\x00" + question * count + record


def _other_ident(ident: bytes, question: bytes, random: Random) -> bytes:
    return answer((int.from_bytes(ident) ^ random.randrange(1, 1 << 16)).to_bytes(2), question, FORGED)


def _other_name(ident: bytes, question: bytes, random: Random) -> bytes:
    at = random.randrange(1, 1 + question[0])
    return answer(ident, question[:at] + bytes((question[at] ^ 1,)) + question[at + 1 :], FORGED)


def _other_case(ident: bytes, question: bytes, random: Random) -> bytes:
    return answer(ident, question[:1] + question[1:6].upper() + question[6:], FORGED)


def _other_type(ident: bytes, question: bytes, random: Random) -> bytes:
    return answer(ident, question[:-4] + b"\x00\x1c\x00\x01", FORGED)


def _other_class(ident: bytes, question: bytes, random: Random) -> bytes:
    return answer(ident, question[:-2] + b"\x00\x03", FORGED)


def _query(ident: bytes, question: bytes, random: Random) -> bytes:
    return answer(ident, question, FORGED, b"\x01\x00")


def _other_opcode(ident: bytes, question: bytes, random: Random) -> bytes:
    return answer(ident, question, FORGED, b"\xa8\x80")


def _two_questions(ident: bytes, question: bytes, random: Random) -> bytes:
    return answer(ident, question, FORGED, count=2)


def _no_question(ident: bytes, question: bytes, random: Random) -> bytes:
    return answer(ident, b"", FORGED, count=0)


def _cut(ident: bytes, question: bytes, random: Random) -> bytes:
    whole = answer(ident, question, FORGED)
    return whole[: random.randrange(1, len(whole))]


def _noise(ident: bytes, question: bytes, random: Random) -> bytes:
    return ident + random.randbytes(random.randrange(60))


FORGERIES: tuple[Callable[[bytes, bytes, Random], bytes], ...] = (
    _other_ident,
    _other_name,
    _other_case,
    _other_type,
    _other_class,
    _query,
    _other_opcode,
    _two_questions,
    _no_question,
    _cut,
    _noise,
)


class Forger(asyncio.DatagramProtocol):
    """Sends ``before`` forged replies, and one from elsewhere in which all else is right, then the true one.

    ``seen``: source port and ID of each query. ``forged``: how many forged replies were sent.
    """

    def __init__(self, before: int, random: Random) -> None:
        self.seen: list[tuple[int, int]] = []
        self.forged = 0
        self._before = before
        self._random = random
        self._elsewhere = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._transport: asyncio.DatagramTransport

    async def start(self) -> UpstreamAddress:
        """Where it listens."""
        loop = asyncio.get_running_loop()
        self._transport, _ = await loop.create_datagram_endpoint(lambda: self, local_addr=("127.0.0.1", 0))
        return UpstreamAddress(*self._transport.get_extra_info("sockname"))

    def close(self) -> None:
        self._transport.close()
        self._elsewhere.close()

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        ident, question = data[:2], data[12 : data.index(0, 12) + 5]
        self.seen.append((addr[1], int.from_bytes(ident)))
        self._elsewhere.sendto(answer(ident, question, FORGED), addr)
        for _ in range(self._before):
            self._transport.sendto(self._random.choice(FORGERIES)(ident, question, self._random), addr)
        self.forged += 1 + self._before
        self._transport.sendto(answer(ident, question, TRUE), addr)


async def ask_through(forger: Forger, count: int, random: Random) -> list[str]:
    """What is believed of the replies to ``count`` questions, some at a time; empty where it is none of them."""
    datagrams = Datagrams(await forger.start())

    async def one() -> str:
        labels = (b"a" + random.randbytes(4).hex().encode(), b"test")
        name = Name(labels, labels)
        reply = await datagrams.ask(Asked(question_octets(Question(name, RecordType.A))))
        if reply is None:
            return ""
        (rdata,) = reply.answer[0].rdatas
        assert isinstance(rdata, A)
        return socket.inet_ntoa(rdata.address)

    found: list[str] = []
    try:
        async with asyncio.timeout(3600):
            while len(found) < count:
                found += await asyncio.gather(*(one() for _ in range(min(_AT_ONCE, count - len(found)))))
    finally:
        forger.close()
        await asyncio.sleep(0)
    return found
