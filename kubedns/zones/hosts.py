"""Hosts: names and addresses as /etc/hosts writes them (hosts(5)), found by name and by address. Pure."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kubedns.dns.names import BadNameError, Labels, Name, parse_name, reverse_name


@dataclass(frozen=True, slots=True)
class Entry:
    """One line: an address, 4 or 16 octets, and the names of it."""

    address: bytes
    names: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class Hosts:
    """Entries by name and by reverse name. ``faults``: what could not be read, each with its line's number."""

    addresses: Mapping[Labels, tuple[bytes, ...]] = field(default_factory=dict)
    names: Mapping[Labels, tuple[Name, ...]] = field(default_factory=dict)
    faults: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.addresses)


def hosts_of(entries: Iterable[Entry], faults: Iterable[str] = ()) -> Hosts:
    """The entries, ready to be looked up; of equal ones the first counts."""
    addresses: dict[Labels, dict[bytes, None]] = {}
    names: dict[Labels, dict[Name, None]] = {}
    for entry in entries:
        of_address = names.setdefault(reverse_name(entry.address).key, {})
        for name in entry.names:
            addresses.setdefault(name.key, {})[entry.address] = None
            of_address.setdefault(name)
    return Hosts(
        {key: tuple(found) for key, found in addresses.items()},
        {key: tuple(found) for key, found in names.items()},
        tuple(faults),
    )


def parse_hosts(text: str) -> Hosts:
    """What a file says; a line that cannot be read is left out and told in ``faults``."""
    entries: list[Entry] = []
    faults: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        try:
            entries.append(entry_of(words[0], words[1:]))
        except ValueError as error:
            faults.append(f"{number}: {error}")
    return hosts_of(entries, faults)


def entry_of(address: str, names: Iterable[str]) -> Entry:
    """The entry that a line's words make.

    Raises:
        ValueError: the first is no address, or one of the others no name.
    """
    try:
        octets = ipaddress.ip_address(address.partition("%")[0]).packed
    except ValueError as error:
        raise ValueError(f"`{address}` is no address") from error
    try:
        return Entry(octets, tuple(parse_name(name if name.endswith(".") else f"{name}.") for name in names))
    except BadNameError as error:
        raise ValueError(str(error)) from error
