from __future__ import annotations

import socket

import pytest

from kubedns.transport.sources import IP_PKTINFO, Control, Sources

V6 = (socket.IPPROTO_IPV6, 50)
V4 = (socket.IPPROTO_IP, IP_PKTINFO)
GLOBAL = bytes.fromhex("20010db8000000000000000000000001")
LINK_LOCAL = bytes.fromhex("fe800000000000000000000000000001")
INTERFACE = b"\x03\0\0\0"


@pytest.mark.parametrize(
    ("received", "sent"),
    [
        ([], []),
        # To a broadcast address: the reply leaves from the machine's own.
        ([(*V4, INTERFACE + b"\x0a\0\0\1" + b"\x0a\0\0\xff")], [(*V4, bytes(4) + b"\x0a\0\0\1" + bytes(4))]),
        ([(*V6, GLOBAL + INTERFACE)], [(*V6, GLOBAL + bytes(4))]),
        ([(*V6, LINK_LOCAL + INTERFACE)], [(*V6, LINK_LOCAL + INTERFACE)]),
    ],
    ids=["none", "v4", "v6", "v6 link-local"],
)
def test_a_reply_leaves_from_the_address_asked(received: Control, sent: Control) -> None:
    sources = Sources()
    assert sources.of(received) == sent
    assert sources.of(received) is sources.of(received)


def test_only_so_many_are_kept() -> None:
    sources = Sources()
    for number in range(3000):
        address = number.to_bytes(4)
        assert sources.of([(*V4, INTERFACE + address + address)]) == [(*V4, bytes(4) + address + bytes(4))]
    assert len(sources._kept) <= 1024
