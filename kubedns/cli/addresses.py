"""Addresses with ports as they are typed on the command line."""

from __future__ import annotations

from dataclasses import dataclass

import click

from kubedns.corefile.labels import is_address

_MAX_PORT = 65535


@dataclass(frozen=True, slots=True)
class TypedAddress:
    """An address as text, and a port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def read_address(text: str, port: int) -> TypedAddress:
    """``192.0.2.1``, ``192.0.2.1:53``, ``2001:db8::1`` or ``[2001:db8::1]:53``; ``port`` where none is typed.

    ``localhost`` is 127.0.0.1.

    Raises:
        click.BadParameter: it is nothing of the kind.
    """
    if text.startswith("localhost"):
        text = text.replace("localhost", "127.0.0.1", 1)
    if is_address(text.strip("[]")):
        return TypedAddress(text.strip("[]"), port)
    host, _, digits = text.rpartition(":")
    if not is_address(host.strip("[]")):
        raise click.BadParameter(f"{text!r} is no IP address, with or without a port")
    if not (digits.isascii() and digits.isdigit() and 0 < int(digits) <= _MAX_PORT):
        raise click.BadParameter(f"{digits!r} in {text!r} is no port")
    return TypedAddress(host.strip("[]"), int(digits))
