"""acl: who may ask what.

Syntax::

    acl [ZONES...] {
        ACTION [type QTYPE...] [net SOURCE...]
    }

ACTION is ``allow``, ``block`` (REFUSED), ``filter`` (an empty answer) or ``drop`` (silence). SOURCE is an address or a
CIDR; without ``type`` or ``net``, or with ``*``, every type or client is meant. The first rule that fits decides; a
query that none fits is allowed. Rules hold for ZONES, else for the server block's zones.

Example::

    cluster.local:1053 {
        acl {
            allow net 127.0.0.0/8 ::1
            filter type AAAA
            block
        }
    }
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from enum import Enum

from kubedns.corefile.blocks import Directive, Word
from kubedns.corefile.options import PluginOptions, arguments, repeated
from kubedns.corefile.shapes import Shape, Zones, convert_all, sections, unfit
from kubedns.corefile.values import Network as NetworkWord
from kubedns.dns.answer import Answer, refused
from kubedns.dns.edns import ErrorCode, ExtendedError
from kubedns.dns.names import Name
from kubedns.dns.question import Query
from kubedns.dns.rdata import type_number
from kubedns.plugins.networks import Network, network_of
from kubedns.plugins.plugin import Context, Next


class Action(Enum):
    """What happens to a query that a rule fits."""

    ALLOW = "allow"
    BLOCK = "block"
    FILTER = "filter"
    DROP = "drop"


@dataclass(frozen=True, slots=True)
class Rule:
    """``types`` and ``networks``: those it fits; empty: all."""

    action: Action
    types: frozenset[int] = frozenset()
    networks: tuple[Network, ...] = ()

    def holds_client(self, address: bytes) -> bool:
        """Whether the rule speaks of a client at ``address``."""
        return not self.networks or any(network.holds(address) for network in self.networks)


_KEYWORDS = {"type": "QTYPE...", "net": "SOURCE..."}


class RuleLine(Shape[Rule]):
    """A line ``ACTION [type QTYPE...] [net SOURCE...]``."""

    syntax = "[type QTYPE...] [net SOURCE...]"

    def read(self, line: Directive) -> Rule:
        """The rule; ``*`` among types or sources means all of them."""
        found = sections(line, _KEYWORDS)
        types = convert_all(_limits(found.get("type", ())), _type)
        networks = convert_all(_limits(found.get("net", ())), NetworkWord().convert)
        return Rule(Action(line.word.text.lower()), frozenset(types), tuple(map(network_of, networks)))


def _limits(words: Sequence[Word]) -> Sequence[Word]:
    """The words, none if one of them is ``*``: then nothing is limited."""
    return () if any(word.text == "*" for word in words) else words


def _type(word: Word) -> int:
    number = type_number(word.text)
    if number is None:
        raise unfit(word, "no record type", "write it like A, AAAA or TYPE65280")
    return number


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """acl [ZONES...] { allow|block|filter|drop [type QTYPE...] [net SOURCE...] }: who may ask what."""

    zones: tuple[Name, ...] = arguments(Zones(), default=(), help="zones that the rules hold for")
    rules: tuple[Rule, ...] = repeated(
        RuleLine(), words=[action.value for action in Action], help="what happens to the queries that it fits"
    )


_BLOCKED = refused(ExtendedError(ErrorCode.BLOCKED, "blocked by acl"))
_FILTERED = Answer(authoritative=False, extended_error=ExtendedError(ErrorCode.FILTERED, "filtered by acl"))
_DROPPED = Answer(silent=True)


class Acl:
    """Judges queries by client and type; ``zones`` limits which names it judges."""

    word = "acl"

    def __init__(self, zones: Sequence[Name], rules: Sequence[Rule]) -> None:
        self._zones = zones
        self._rules = rules

    def client_class(self, address: bytes) -> Hashable:
        """Which of the rules speak of the client: all that a verdict can depend on beside the question."""
        return tuple([rule.holds_client(address) for rule in self._rules])

    async def answer(self, query: Query, next_plugin: Next) -> Answer:
        """The verdict; what is allowed goes on."""
        if not query.question.name.is_within(self._zones):
            return await next_plugin(query)
        action = self._verdict(query)
        if query.trace.active and action is not Action.ALLOW:
            query.trace.step(self.word, f"{action.value} for a client at {query.client.text}")
        match action:
            case Action.ALLOW:
                return await next_plugin(query)
            case Action.BLOCK:
                return _BLOCKED
            case Action.FILTER:
                return _FILTERED
            case Action.DROP:
                return _DROPPED

    def _verdict(self, query: Query) -> Action:
        for rule in self._rules:
            if (not rule.types or query.question.type in rule.types) and rule.holds_client(query.client.address):
                return rule.action
        return Action.ALLOW


def make(options: Options, context: Context) -> Acl:
    """The plugin."""
    return Acl(options.zones or context.zones, options.rules)
