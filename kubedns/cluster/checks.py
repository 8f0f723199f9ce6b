"""Checks of single values: what comes out can be a label, an address, a port; what cannot is named by its field."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from sys import intern

PROTOCOLS = ("TCP", "UDP", "SCTP")
_NAME = re.compile(r"(?=.{1,253}\Z)[a-z0-9]([-a-z0-9.]*[a-z0-9])?", re.ASCII)
_LABEL = re.compile(r"[A-Za-z0-9_]([-A-Za-z0-9_]{0,61}[A-Za-z0-9_])?", re.ASCII)
_WORD = re.compile(r"[!-~]{0,253}", re.ASCII)
_DECIMAL = {str(octet): octet for octet in range(256)}


class BadObjectError(ValueError):
    """An object that cannot be used. ``field``: where (``spec.ports[0].port``); ``remedy``: what would be right."""

    def __init__(self, field: str, message: str, remedy: str = "") -> None:
        self.field = field
        self.message = message
        self.remedy = remedy
        super().__init__(f"{field}: {message}")


def check_name(text: str, field: str) -> str:
    """``text``, which must be the name of an object."""
    if not _NAME.fullmatch(text):
        raise BadObjectError(field, f"{text!r} is no name", "use lower-case letters, digits, '-' and '.'")
    return text


def check_label(text: str, field: str) -> str:
    """``text`` in lower case, as questions are folded; it will be a label of a name, or is empty."""
    if text and not _LABEL.fullmatch(text):
        raise BadObjectError(field, f"{text!r} is no label", "use at most 63 letters, digits and '-'")
    return text.lower()


def label_or_none(text: str) -> str:
    """``text`` in lower case, as questions are folded; empty where it cannot be a label of a name."""
    return text.lower() if _LABEL.fullmatch(text) else ""


def check_word(text: str | None, field: str) -> str:
    """``text``, which will be shown: no blanks, no control characters, nothing endless."""
    if text and not _WORD.fullmatch(text):
        raise BadObjectError(field, f"{text[:64]!r} has characters that cannot be here, or too many", "")
    return text or ""


def check_external_name(text: str | None) -> str:
    """``text``, which must be a domain name; a final dot is let through."""
    if not text:
        raise BadObjectError(
            "spec.externalName", "missing", "an ExternalName Service needs the name that it stands for"
        )
    labels = text.removesuffix(".").split(".")
    if len(text) > 254 or not all(1 <= len(label) <= 63 for label in labels) or not _WORD.fullmatch(text[:253]):
        raise BadObjectError("spec.externalName", f"{text[:64]!r} is no domain name", "such as db.example.com")
    return text


def check_port(number: int, field: str) -> int:
    """``number``, which must be a port's."""
    if not 1 <= number <= 65535:
        raise BadObjectError(field, f"{number} is no port", "give a number from 1 to 65535")
    return number


def check_protocol(text: str | None, field: str) -> str:
    """``text``, one of TCP, UDP, SCTP; TCP where it is left out."""
    if text is None:
        return "TCP"
    if text not in PROTOCOLS:
        raise BadObjectError(field, f"{text!r} is no protocol", "one of TCP, UDP, SCTP")
    return intern(text)


def packed_addresses(texts: Iterable[str], field: str) -> tuple[bytes, ...]:
    """The addresses, packed."""
    return tuple([packed_address(text, f"{field}[{position}]") for position, text in enumerate(texts)])


def packed_address(text: str, field: str) -> bytes:
    """The address as 4 or 16 octets."""
    try:
        first, second, third, fourth = text.split(".")
        return bytes((_DECIMAL[first], _DECIMAL[second], _DECIMAL[third], _DECIMAL[fourth]))
    except (ValueError, KeyError):
        pass
    try:
        if "%" not in text:  # a zone is of one machine only (RFC 4007 §11)
            return ipaddress.IPv6Address(text).packed
    except ValueError:
        pass
    raise BadObjectError(field, f"{text!r} is no address", "write an IPv4 or IPv6 address")
