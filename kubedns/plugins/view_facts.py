"""What expressions of ``view`` may ask of a query, and what an answer that was chosen by it depends on. Pure."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from kubedns.dns.edns import MIN_UDP_OCTETS
from kubedns.dns.question import Query
from kubedns.dns.rdata import type_name
from kubedns.dns.rrset import class_name
from kubedns.plugins.networks import Network, network_of

Value = bool | int | str | tuple["Value", ...]
Of = Callable[[Query], Value]


class Kind(Enum):
    """What a term is; the value is what people are told."""

    CONDITION = "a condition"
    NUMBER = "a number"
    TEXT = "a text"
    LIST = "a list"


@dataclass(frozen=True, slots=True)
class Term:
    """A part of an expression: ``of`` gives its value for a query, which is of ``kind``.

    Its value depends, beside what answers are kept by, on which of ``networks`` the client is in; on its address where
    it is ``by_address``; on more than that where it ``is_volatile``, so that nothing can be kept. ``constant``: the
    value, if it is the same for all queries.
    """

    kind: Kind
    of: Of
    networks: frozenset[Network] = frozenset()
    by_address: bool = False
    is_volatile: bool = False
    constant: Value | None = None


class ExpressionError(ValueError):
    """What makes no expression; ``str()`` says why, and ``remedy`` what to do."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy


def fact(name: str) -> Term:
    """What ``name()`` asks of a query.

    Raises:
        ExpressionError: nothing of that name can be asked.
    """
    if name in _NOT_TOLD:
        raise ExpressionError(f"{name}() is not told here", _NOT_TOLD[name])
    if name not in _FACTS:
        raise ExpressionError(f"there is no {name}()", f"functions: {', '.join(f'{each}()' for each in FUNCTIONS)}")
    return _FACTS[name]


def in_network(address: Term, network: Term) -> Term:
    """Whether a text is an address in a network.

    Raises:
        ExpressionError: they are no texts, or the network is none.
    """
    if address.kind is not Kind.TEXT or not isinstance(network.constant, str):
        raise ExpressionError("incidr() needs an address and a network", "write incidr(client_ip(), '192.0.2.0/24')")
    try:
        found = network_of(ipaddress.ip_network(network.constant, strict=False))
    except ValueError as error:
        raise ExpressionError(f"`{network.constant}` is no network", "write it like 192.0.2.0/24") from error
    if address is _CLIENT:
        return Term(Kind.CONDITION, lambda query: found.holds(query.client.address), frozenset((found,)))

    def holds(query: Query) -> bool:
        try:
            return found.holds(ipaddress.ip_address(str(address.of(query))).packed)
        except ValueError:
            return False

    return Term(Kind.CONDITION, holds, address.networks, address.by_address, address.is_volatile)


_CLIENT = Term(Kind.TEXT, lambda query: query.client.text, by_address=True)
_FACTS: Mapping[str, Term] = {
    "bufsize": Term(Kind.NUMBER, lambda query: max(query.edns.udp_octets if query.edns else 0, MIN_UDP_OCTETS)),
    "class": Term(Kind.TEXT, lambda query: class_name(query.question.rdclass)),
    "client_ip": _CLIENT,
    "do": Term(Kind.CONDITION, lambda query: query.dnssec_ok),
    "id": Term(Kind.NUMBER, lambda query: query.id, is_volatile=True),
    "name": Term(Kind.TEXT, lambda query: str(query.question.name).lower()),
    "opcode": Term(Kind.NUMBER, lambda query: 0),  # whatever is answered here is a QUERY
    "port": Term(Kind.TEXT, lambda query: str(query.client.port), is_volatile=True),
    "proto": Term(Kind.TEXT, lambda query: query.client.transport.value),
    "server_ip": Term(Kind.TEXT, lambda query: query.client.local, is_volatile=True),
    "size": Term(Kind.NUMBER, lambda query: query.octets, is_volatile=True),
    "type": Term(Kind.TEXT, lambda query: type_name(query.question.type)),
}
_NOT_TOLD = {
    "metadata": "no plugin here sets any, so leave it out",
    "server_port": "the labels of the server block say on which port it listens",
}
FUNCTIONS = ("incidr", *_FACTS)
"""What can be asked."""
