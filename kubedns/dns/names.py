"""Domain names: labels as octets, compared without regard to ASCII case, never joined strings (RFC 4343)."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

import msgspec

Labels = tuple[bytes, ...]
"""Labels from the leftmost to the one below the root; the root itself is left out."""

MAX_NAME_OCTETS = 255
MAX_LABEL_OCTETS = 63


class Name(msgspec.Struct, frozen=True, eq=False, gc=False):
    """An absolute name. ``labels`` keep their spelling; ``key`` is the same folded, for comparing and looking up.

    Folding is by ASCII octet only (RFC 4343 §3): ``bytes.lower`` touches nothing else.
    """

    labels: Labels
    key: Labels

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Name) and self.key == other.key

    def __ne__(self, other: object) -> bool:
        # Left out, it would be the Struct's own, which compares nothing but identity.
        return not self == other

    def __hash__(self) -> int:
        return hash(self.key)

    def __str__(self) -> str:
        return presentation(self.labels)

    def is_at_or_below(self, zone: Name) -> bool:
        """Whether this name is ``zone`` or a descendant of it, label by label."""
        length = len(zone.key)
        return length == 0 or self.key[-length:] == zone.key

    def is_within(self, zones: Iterable[Name]) -> bool:
        """Whether this name is at or below one of ``zones``."""
        return any(self.is_at_or_below(zone) for zone in zones)

    def below(self, zone: Name) -> Labels:
        """The folded labels left of ``zone``; meaningful only where :meth:`is_at_or_below` holds."""
        return self.key[: len(self.key) - len(zone.key)]

    def child(self, *labels: bytes) -> Name:
        """The name with ``labels`` in front."""
        return name_of(labels + self.labels)

    def octets(self) -> int:
        """Length on the wire, without compression."""
        return 1 + len(self.labels) + sum(map(len, self.labels))


def name_of(labels: Labels) -> Name:
    """The name made of ``labels``."""
    return Name(labels, tuple([label.lower() for label in labels]))


ROOT = name_of(())


class BadNameError(ValueError):
    """Text that is no domain name; ``str()`` says why."""


def parse_name(text: str) -> Name:
    r"""Read a name in presentation form: ``\.``, ``\\`` and ``\DDD`` escapes; a final dot may be left out.

    RFC 1035 §5.1.

    Raises:
        BadNameError: an empty label, a label over 63 or a name over 255 octets, a broken escape.
    """
    if text == ".":
        return ROOT
    labels: list[bytes] = []
    label = bytearray()
    octets = text.encode()
    at = 0
    while at < len(octets):
        octet = octets[at]
        if octet == 0x2E:
            labels.append(_checked(label, text))
            label = bytearray()
        elif octet == 0x5C:
            at, octet = _escape(octets, at, text)
            label.append(octet)
        else:
            label.append(octet)
        at += 1
    if label or not labels:
        labels.append(_checked(label, text))
    name = name_of(tuple(labels))
    if name.octets() > MAX_NAME_OCTETS:
        raise BadNameError(f"name of {name.octets()} octets: at most {MAX_NAME_OCTETS} are allowed")
    return name


def _checked(label: bytearray, text: str) -> bytes:
    if not label:
        raise BadNameError(f"empty label in {text!r}")
    if len(label) > MAX_LABEL_OCTETS:
        raise BadNameError(f"label of {len(label)} octets in {text!r}: at most {MAX_LABEL_OCTETS} are allowed")
    return bytes(label)


def _escape(octets: bytes, at: int, text: str) -> tuple[int, int]:
    """Position of the escape's last octet, and the octet it stands for."""
    digits = octets[at + 1 : at + 4]
    if len(digits) == 3 and digits.isdigit():
        if int(digits) > 255:
            raise BadNameError(f"escape \\{digits.decode()} in {text!r} is no octet")
        return at + 3, int(digits)
    if at + 1 >= len(octets) or octets[at + 1 : at + 2].isdigit():
        raise BadNameError(f"broken escape in {text!r}")
    return at + 1, octets[at + 1]


_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_*/+=,:!%&'<>?[]^`{|}~#")
_ESCAPED = frozenset(b'.\\"();@$')


def presentation(labels: Labels) -> str:
    r"""Text of a name that reads back as the same name and is safe in a log line (RFC 1035 §5.1, RFC 4343 §2.1)."""
    return "".join("".join(map(_shown, label)) + "." for label in labels) or "."


def _shown(octet: int) -> str:
    if octet in _PLAIN:
        return chr(octet)
    return "\\" + chr(octet) if octet in _ESCAPED else f"\\{octet:03d}"


IN_ADDR_ARPA = parse_name("in-addr.arpa.")
IP6_ARPA = parse_name("ip6.arpa.")


def is_reverse(name: Name) -> bool:
    """Whether addresses are spelt at or below ``name``: it is in ``in-addr.arpa`` or ``ip6.arpa``."""
    return name.is_at_or_below(IN_ADDR_ARPA) or name.is_at_or_below(IP6_ARPA)


def reverse_name(address: bytes) -> Name:
    """The name whose PTR records tell of ``address``, 4 or 16 octets (RFC 1035 §3.5, RFC 3596 §2.5)."""
    if len(address) == 4:
        return IN_ADDR_ARPA.child(*(b"%d" % octet for octet in reversed(address)))
    return IP6_ARPA.child(*(b"%c" % nibble for nibble in reversed(address.hex().encode())))


def reverse_prefix(key: Labels) -> tuple[bytes, int] | None:
    """What a folded reverse name stands for: the leading octets of an address and how many *bits* of them count.

    32 bits (in-addr.arpa) or 128 (ip6.arpa) are a whole address; 0 is the apex. None: no spelling of an address,
    so nothing can be there (a leading zero, 256, a letter beyond f, one label too many).
    """
    if key[-2:] == IN_ADDR_ARPA.key:
        return _ipv4_prefix(key[:-2])
    if key[-2:] == IP6_ARPA.key:
        return _ipv6_prefix(key[:-2])
    return None


_DECIMAL = {b"%d" % octet: octet for octet in range(256)}
_NIBBLES = frozenset(b"%c" % digit for digit in b"0123456789abcdef")


def _ipv4_prefix(labels: Labels) -> tuple[bytes, int] | None:
    if len(labels) > 4:
        return None
    octets = [_DECIMAL.get(label) for label in reversed(labels)]
    if None in octets:
        return None
    return bytes([octet for octet in octets if octet is not None]), 8 * len(labels)


def _ipv6_prefix(labels: Labels) -> tuple[bytes, int] | None:
    if len(labels) > 32 or not _NIBBLES.issuperset(labels):
        return None
    digits = b"".join(reversed(labels)).decode()
    return bytes.fromhex(digits + "0" * (len(digits) % 2)), 4 * len(labels)


def reverse_zones(network: str) -> tuple[Name, ...]:
    """The reverse zones that cover exactly ``network`` (a CIDR): several where it ends inside an octet or nibble.

    Raises:
        BadNameError: no CIDR.
    """
    try:
        parsed = ipaddress.ip_network(network, strict=False)
    except ValueError as error:
        raise BadNameError(str(error)) from error
    step = 8 if parsed.version == 4 else 4
    length = max(-(-parsed.prefixlen // step) * step, 0)
    zones = []
    for subnet in parsed.subnets(new_prefix=length):
        labels = reverse_name(subnet.network_address.packed).labels
        zones.append(name_of(labels[(parsed.max_prefixlen - length) // step :]))
    return tuple(zones)
