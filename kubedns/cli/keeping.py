"""Whether an answer is kept in the answer cache, until when, and what would make it void; in words."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

from kubedns.cluster.lister import ANY_ADDRESS, ANY_SYNC
from kubedns.dns.answer import Answer, Key


def is_kept(answer: Answer) -> bool:
    """Whether the answer cache keeps the answer at all."""
    return not answer.varies_by_client and not answer.silent and answer.lifetime_seconds != 0


def kept(answer: Answer) -> str:
    """Whether and how long the answer is kept."""
    if answer.varies_by_client:
        return "no: it differs from client to client"
    if not is_kept(answer):
        return "no"
    ends = [] if answer.lifetime_seconds is None else [f"for {answer.lifetime_seconds:g} s"]
    changing = dependencies(answer.depends_on)
    ends += [f"until a change of {' or '.join(changing)}"] if changing else []
    return " or ".join(ends) or "until the configuration changes"


def dependencies(keys: Iterable[Key]) -> list[str]:
    """What each key stands for, sorted."""
    return sorted(map(_dependency, keys))


def _dependency(key: Key) -> str:
    match key:
        case ("service", namespace, name):
            return f"Service {namespace}/{name}"
        case ("address", bytes(address)):
            return f"address {ipaddress.ip_address(address)}"
        case ("namespace", name):
            return f"Namespace {name}"
        case ("node", ""):
            return "any Node"
        case ("node", name):
            return f"Node {name}"
        case _ if key == ANY_ADDRESS:
            return "any address"
        case _ if key == ANY_SYNC:
            return "whether the cluster has been read"
        case _:
            return str(key)
