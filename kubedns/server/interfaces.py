"""Interfaces of the machine: what the words of ``bind`` mean here."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence

import ifaddr

from kubedns.corefile.blocks import Word
from kubedns.errors import ConfigurationError, ConfigurationErrors
from kubedns.plugins.bind import Options


def bound_hosts(options: Options) -> tuple[str, ...]:
    """The addresses that ``bind`` names, each once, those of its interfaces among them.

    Raises:
        ConfigurationErrors: a word is neither an address nor an interface of this machine.
    """
    excepted = set(_hosts(options.excepted))
    return tuple(dict.fromkeys(host for host in _hosts(options.places) if host not in excepted))


def _hosts(places: Sequence[Word]) -> Iterator[str]:
    interfaces: dict[str, list[str]] | None = None
    faults: list[ConfigurationError] = []
    for place in places:
        try:
            yield str(ipaddress.ip_address(place.text))
        except ValueError:
            interfaces = interfaces or _interfaces()
            found = interfaces.get(place.text)
            if found is None:
                known = ", ".join(sorted(interfaces))
                faults.append(
                    place.fault(f"bind: `{place.text}` is no address and no interface", f"interfaces: {known}")
                )
            else:
                yield from found
    if faults:
        raise ConfigurationErrors(faults)


def _interfaces() -> dict[str, list[str]]:
    """The addresses of each interface; link-local IPv6 ones are left out, for they mean nothing without their zone."""
    found: dict[str, list[str]] = {}
    for adapter in ifaddr.get_adapters():
        hosts = found.setdefault(adapter.name, [])
        for each in adapter.ips:
            text = each.ip if isinstance(each.ip, str) else each.ip[0]
            if not ipaddress.ip_address(text).is_link_local or ":" not in text:
                hosts.append(text)
    return found
