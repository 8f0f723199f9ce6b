"""resolv.conf: the name servers that it names. Pure: text in, addresses out (resolv.conf(5))."""

from __future__ import annotations

import ipaddress

from kubedns.upstream.exchange import UpstreamAddress


def name_servers(text: str) -> tuple[UpstreamAddress, ...]:
    """The addresses of the ``nameserver`` lines, in their order; what is no address is left out."""
    found = []
    for line in text.splitlines():
        words = line.split("#")[0].split(";")[0].split()
        if len(words) >= 2 and words[0] == "nameserver":
            try:
                found.append(UpstreamAddress(str(ipaddress.ip_address(words[1].partition("%")[0]))))
            except ValueError:
                continue
    return tuple(found)
