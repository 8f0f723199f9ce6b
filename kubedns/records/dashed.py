"""Addresses as labels: dashes in the place of dots and colons."""

from __future__ import annotations

import ipaddress

_MAPPED = bytes(10) + b"\xff\xff"
_DIGITS = frozenset("0123456789abcdef-")
_DECIMAL = {str(octet): octet for octet in range(256)}


def dashed(address: bytes) -> str:
    """The label of an address, ``10-0-0-1`` or ``fd00--1``; a 0 follows a final dash, which no label may end in."""
    if len(address) == 4:
        return "{}-{}-{}-{}".format(*address)
    if address.startswith(_MAPPED):  # whose text has dots or not, by the version of Python
        return f"--ffff-{int.from_bytes(address[12:14]):x}-{int.from_bytes(address[14:]):x}"
    label = str(ipaddress.IPv6Address(address)).replace(":", "-")
    return label + "0" if label.endswith("-") else label


def parse_dashed(label: str) -> bytes | None:
    """The address that a label spells, in any spelling; None where it spells none."""
    if not _DIGITS.issuperset(label):
        return None
    parts = label.split("-")
    try:
        if len(parts) == 4 and "" not in parts:
            return bytes([_DECIMAL[part] for part in parts])
        return ipaddress.IPv6Address(":".join(parts)).packed
    except (KeyError, ValueError):
        return None
