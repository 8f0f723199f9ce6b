"""Addresses of the machine that the tests run on."""

from __future__ import annotations

import ifaddr


def link_local_hosts() -> list[str]:
    """Its link-local ones, each with its interface: ``fe80::1%eth0``."""
    return [
        f"{each.ip[0]}%{adapter.name}"
        for adapter in ifaddr.get_adapters()
        for each in adapter.ips
        if isinstance(each.ip, tuple) and each.ip[0].startswith("fe80:")
    ]
