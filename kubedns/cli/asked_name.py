"""What a person means by NAME and TYPE on the command line."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable

import click

from kubedns.dns.names import BadNameError, Name, parse_name, reverse_name
from kubedns.dns.rdata import RecordType, type_number

_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


def read_question(name: str, type_text: str | None) -> tuple[str, int]:
    """The name and the type's number. An address stands for its reverse name, and for PTR where no type is given.

    Raises:
        click.BadParameter: no name, or no type.
    """
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        address = None
    default = RecordType.A if address is None else RecordType.PTR
    number = default if type_text is None else type_number(type_text)
    if number is None:
        raise click.BadParameter(f"{type_text!r} is no record type (A, AAAA, SRV, PTR, TXT, TYPE65, ...)")
    if address is not None:
        return str(reverse_name(address.packed)), number
    try:
        parse_name(name)
    except BadNameError as error:
        raise click.BadParameter(str(error)) from error
    return name, number


def read_namespace(text: str) -> str:
    """The namespace, whose name is one label (RFC 1123), as the API server demands.

    Raises:
        click.BadParameter: it is none.
    """
    if not _LABEL.fullmatch(text):
        raise click.BadParameter(f"{text!r} is no name of a namespace")
    return text


def read_domains(texts: Iterable[str]) -> tuple[Name, ...]:
    """The domains of a search list.

    Raises:
        click.BadParameter: one is no name.
    """
    try:
        return tuple(map(parse_name, texts))
    except BadNameError as error:
        raise click.BadParameter(str(error)) from error
