"""An upstream that answers any name at once, and fails now and then: a process of its own.

``python -m tests.soak.upstream PORT SECONDS``: in every so many seconds it answers for seven tenths, is silent for the
next one and a half, and says SERVFAIL for the rest. Names whose first label begins with ``no-`` do not exist.
"""

from __future__ import annotations

import socket
import sys
import time

TTL_SECONDS = 3
_WELL, _SILENT = 0.7, 0.85
_QUESTION, _TYPE_AND_CLASS = 12, 4
_A = b"\0\1\0\1"
_POINTER = b"\xc0\x0c"
_ADDRESS = _POINTER + _A + TTL_SECONDS.to_bytes(4) + b"\0\4\xc6\x33\x64\x07"
_SOA_NAMES = b"\2ns\xc0\x0c\xc0\x0c"
_SOA_DATA = _SOA_NAMES + b"".join(number.to_bytes(4) for number in (1, 7200, 1800, 86400, TTL_SECONDS))
_SOA = _POINTER + b"\0\6\0\1" + TTL_SECONDS.to_bytes(4) + len(_SOA_DATA).to_bytes(2) + _SOA_DATA


def response(query: bytes, phase: float) -> bytes | None:
    """What is said to ``query`` at ``phase`` (0 to 1) of the time in which everything happens once."""
    end = query.index(0, _QUESTION) + 1 + _TYPE_AND_CLASS
    question = query[_QUESTION:end]
    if phase >= _SILENT:
        return query[:2] + b"\x81\x82\0\1\0\0\0\0\0\0" + question
    if phase >= _WELL:
        return None
    if question[1:4] == b"no-":
        return query[:2] + b"\x81\x83\0\1\0\0\0\1\0\0" + question + _SOA
    if question.endswith(_A):
        return query[:2] + b"\x81\x80\0\1\0\1\0\0\0\0" + question + _ADDRESS
    return query[:2] + b"\x81\x80\0\1\0\0\0\1\0\0" + question + _SOA


def main(port: str, seconds: str) -> None:
    """Answer until the process is ended."""
    period = float(seconds)
    began = time.monotonic()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.bind(("127.0.0.1", int(port)))
        while True:
            query, client = udp.recvfrom(4096)
            said = response(query, (time.monotonic() - began) / period % 1)
            if said is not None:
                udp.sendto(said, client)


if __name__ == "__main__":
    main(*sys.argv[1:])
