"""resolv.conf: the name servers and the search list that it names. Pure (resolv.conf(5))."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from kubedns.dns.names import BadNameError, Name, parse_name
from kubedns.upstream.exchange import UpstreamAddress


def name_servers(text: str) -> tuple[UpstreamAddress, ...]:
    """The addresses of the ``nameserver`` lines, in their order; what is no address is left out.

    A link-local one keeps its interface, without which nobody is there: ``fe80::1%eth0`` (RFC 4007 §11).
    """
    found = []
    for words in _lines(text):
        if len(words) >= 2 and words[0] == "nameserver":
            try:
                found.append(UpstreamAddress(str(ipaddress.ip_address(words[1]))))
            except ValueError:
                continue
    return tuple(found)


def search_domains(text: str) -> tuple[Name, ...]:
    """The domains of the last ``search`` or ``domain`` line, in their order; what is no name is left out."""
    words: list[str] = []
    for found in _lines(text):
        if found and found[0] in ("search", "domain"):
            words = found[1:]
    domains = []
    for word in words:
        try:
            domains.append(parse_name(word))
        except BadNameError:
            continue
    return tuple(domains)


def _lines(text: str) -> Iterator[list[str]]:
    """The words of each line, without the comment at its end."""
    for line in text.splitlines():
        yield line.split("#")[0].split(";")[0].split()
