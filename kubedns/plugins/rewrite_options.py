"""``rewrite edns0``: EDNS options that go with the question to upstreams (RFC 6891 §6.1.2)."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from kubedns.corefile.blocks import Word
from kubedns.corefile.shapes import unfit
from kubedns.corefile.values import Choice, Count
from kubedns.dns.edns import Option, OptionCode
from kubedns.dns.question import Query
from kubedns.dns.rdata import type_name

SYNTAX = "edns0 local ACTION CODE DATA | edns0 nsid ACTION | edns0 subnet ACTION BITS4 BITS6"
_MAX_CODE = 65535
_FAMILY = {4: 1, 16: 2}
_VARIABLES: dict[str, Callable[[Query], bytes]] = {
    "{qname}": lambda query: str(query.question.name).encode(),
    "{qtype}": lambda query: type_name(query.question.type).encode(),
    "{client_ip}": lambda query: query.client.text.encode(),
    "{client_port}": lambda query: str(query.client.port).encode(),
    "{protocol}": lambda query: query.client.transport.value.encode(),
}
_OF_THE_CLIENT = ("{client_ip}", "{client_port}", "{protocol}")


class Action(Enum):
    """What is done about an option that is there: SET changes it or adds one, REPLACE changes, APPEND adds alone."""

    SET = "set"
    REPLACE = "replace"
    APPEND = "append"


@dataclass(frozen=True, slots=True)
class OptionRule:
    """Sends option ``code`` with what ``value`` makes of the query. ``varies``: whether that is the client's own."""

    action: Action
    code: int
    value: Callable[[Query], bytes]
    varies: bool = False

    def applied(self, query: Query) -> tuple[Option, ...] | None:
        """The options that go with the question; None: the rule does not fit.

        What the client sent counts as being there, though nothing else of it goes on.
        """
        is_there = any(code == self.code for code, _ in (*query.options, *(query.edns.options if query.edns else ())))
        if (self.action is Action.REPLACE and not is_there) or (self.action is Action.APPEND and is_there):
            return None
        return (*(option for option in query.options if option[0] != self.code), (self.code, self.value(query)))

    def effect(self) -> str:
        """What the rule does, for people."""
        return f"sends EDNS option {self.code} to upstreams"


def read_option_rule(field: Word, words: Sequence[Word]) -> OptionRule:
    """The rule that the words after ``edns0`` state.

    Raises:
        ConfigurationError: they state none.
    """
    if len(words) < 2:
        raise field.fault("rewrite edns0: too few words", f"write `{SYNTAX}`")
    kind, action = words[0].text, Choice(Action).convert(words[1])
    rest = words[2:]
    if kind == "local" and len(rest) == 2:
        code = _code(rest[0])
        value, varies = _data(rest[1])
        return OptionRule(action, code, value, varies)
    if kind == "nsid" and not rest:
        return OptionRule(action, OptionCode.NSID, lambda query: b"")
    if kind == "subnet" and len(rest) == 2:
        bits = {4: Count(at_most=32).convert(rest[0]), 16: Count(at_most=128).convert(rest[1])}
        return OptionRule(action, OptionCode.CLIENT_SUBNET, lambda query: _subnet(query, bits), varies=True)
    raise field.fault(f"rewrite edns0: no option by `{kind}` and {len(rest)} words", f"write `{SYNTAX}`")


def _code(word: Word) -> int:
    text = word.text.lower()
    try:
        code = int(text, 16) if text.startswith("0x") else int(text)
    except ValueError:
        code = -1
    if not 0 <= code <= _MAX_CODE:
        raise unfit(word, "no option code", "write it like 0xffee or 65518")
    return code


def _data(word: Word) -> tuple[Callable[[Query], bytes], bool]:
    """What makes the data, and whether it is the client's own."""
    text = word.text
    if text.startswith("{"):
        if text not in _VARIABLES:
            raise unfit(word, "no variable", f"variables: {' '.join(_VARIABLES)}")
        return _VARIABLES[text], text in _OF_THE_CLIENT
    if text.startswith("0x"):
        try:
            octets = bytes.fromhex(text[2:])
        except ValueError as error:
            raise unfit(word, "no octets in hex", "write two digits for each octet") from error
        return lambda query: octets, False
    return lambda query: text.encode(), False


def _subnet(query: Query, bits: dict[int, int]) -> bytes:
    """The client's network (RFC 7871 §6)."""
    address = query.client.address
    length = bits[len(address)]
    network = ipaddress.ip_network((address, length), strict=False)
    octets = network.network_address.packed[: -(-length // 8)]
    return _FAMILY[len(address)].to_bytes(2) + bytes((length, 0)) + octets
