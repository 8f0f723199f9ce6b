"""Sources: which of the machine's addresses was asked, so that a reply leaves from there (RFC 2181 §4.1).

Linux tells it in a control message, IP_PKTINFO or IPV6_PKTINFO, and takes the same kind of message to send by.
"""

from __future__ import annotations

import ipaddress
import socket

# Linux's numbers: Python has names for them only on some systems and since 3.14.
IP_PKTINFO = 8
IPV6_RECVPKTINFO = 49
CONTROL_OCTETS = socket.CMSG_SPACE(20)
"""Room for either message."""
_MAX_KEPT = 1024
"""More addresses than a machine has, times its interfaces."""

Control = list[tuple[int, int, bytes]]
"""Control messages as the socket module gives and takes them: level, type, octets."""


class Sources:
    """What to send a reply with, by what its query came with; each is worked out once."""

    def __init__(self) -> None:
        self._kept: dict[bytes, Control] = {}

    def of(self, control: Control) -> Control:
        """The control message that makes a reply leave from the address that the query was sent to."""
        octets = control[0][2] if control else b""
        source = self._kept.get(octets)
        if source is None:
            if len(self._kept) >= _MAX_KEPT:
                self._kept.clear()
            source = self._kept[octets] = [_source(*message) for message in control]
        return source


def address_of(source: Control) -> str:
    """The address of ours that :meth:`Sources.of` makes a reply leave from, as text; empty: not known."""
    if not source:
        return ""
    level, _kind, octets = source[0]
    if level == socket.IPPROTO_IP:
        return socket.inet_ntop(socket.AF_INET, octets[4:8])
    return socket.inet_ntop(socket.AF_INET6, octets[:16])


def _source(level: int, kind: int, octets: bytes) -> tuple[int, int, bytes]:
    """The same address, and any interface: the way back need not be the one that the query took.

    A link-local address means nothing without its interface, so it keeps it.
    """
    if level == socket.IPPROTO_IP:
        # in_pktinfo: interface, own address, destination; of a reply the second is the source.
        return level, kind, bytes(4) + octets[4:8] + bytes(4)
    # in6_pktinfo: address, interface.
    is_link_local = ipaddress.IPv6Address(octets[:16]).is_link_local
    return level, kind, octets if is_link_local else octets[:16] + bytes(4)
