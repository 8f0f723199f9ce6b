"""Chains: the plugins of a server block in their order, and which block a name belongs to."""

from __future__ import annotations

from collections.abc import Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from kubedns.dns.answer import Answer, refused
from kubedns.dns.edns import ErrorCode, ExtendedError
from kubedns.dns.names import Labels, Name
from kubedns.dns.question import Query
from kubedns.dns.rrset import CLASS_IN
from kubedns.plugins.plugin import Answering, ClassChanging, ClientSensitive, Next, Observer, OfClass, Plugin

NOT_SERVED = refused(ExtendedError(ErrorCode.NOT_AUTHORITATIVE, "no server block serves this name"))
UNANSWERED = refused(ExtendedError(ErrorCode.NOT_AUTHORITATIVE, "no plugin of the server block answers this name"))


@dataclass(frozen=True, slots=True)
class Chain:
    """One server block at work: its ``zones``, its ``plugins`` in chain order, and the first of them as a call.

    ``by_class``: the same for classes other than IN, of those plugins that judge clients, answer in the class or change
    it.
    ``observers``: those of the plugins that are told of responses; ``observes_all``: of cached ones too.
    ``gives_zones``: whether one of them answers those who ask for a whole zone.
    """

    zones: tuple[Name, ...]
    plugins: tuple[Plugin, ...]
    first: Next
    by_class: Mapping[int, Next] = field(compare=False)
    observers: tuple[Observer, ...]
    observes_all: bool
    gives_zones: bool


def make_chain(zones: Iterable[Name], plugins: Iterable[Plugin]) -> Chain:
    """The chain of ``plugins``, the first outermost; what none of them answers is REFUSED."""
    ordered = tuple(plugins)
    by_class = _calls(ordered)
    first = by_class.pop(CLASS_IN)
    observers = tuple(plugin for plugin in ordered if isinstance(plugin, Observer))
    observes_all = any(each.observes_all for each in observers)
    gives_zones = any(each.word == "transfer" for each in ordered)
    return Chain(tuple(zones), ordered, first, by_class, observers, observes_all, gives_zones)


def _calls(plugins: Sequence[Plugin]) -> dict[int, Next]:
    """The first of the plugins that hear of a class, for IN and each class that any of them has to do with."""
    own = {plugin.rdclass for plugin in plugins if isinstance(plugin, OfClass)}
    changed = {rdclass for plugin in plugins if isinstance(plugin, ClassChanging) for rdclass in plugin.classes}
    calls: dict[int, Next] = dict.fromkeys(sorted({CLASS_IN} | own | changed), _unanswered)
    for plugin in reversed(plugins):
        if not isinstance(plugin, Answering):
            continue
        if isinstance(plugin, ClassChanging) and plugin.classes:
            call = partial(plugin.answer, next_plugin=partial(_in_its_class, dict(calls)))
            calls.update(dict.fromkeys(plugin.classes | {CLASS_IN}, call))
            continue
        for rdclass, rest in calls.items():
            if rdclass == CLASS_IN or _hears_of(plugin, rdclass):
                calls[rdclass] = partial(plugin.answer, next_plugin=rest)
    return calls


def _hears_of(plugin: Plugin, rdclass: int) -> bool:
    return isinstance(plugin, ClientSensitive) or (isinstance(plugin, OfClass) and plugin.rdclass == rdclass)


def _in_its_class(calls: Mapping[int, Next], query: Query) -> Coroutine[Any, Any, Answer]:
    return calls[query.question.rdclass](query)


async def _unanswered(query: Query) -> Answer:
    query.trace.step("resolver", "no plugin of the server block answers this name: REFUSED")
    return UNANSWERED


@dataclass(frozen=True, slots=True)
class Route:
    """A zone, as text for people and metrics, and the chain that serves it."""

    zone: str
    chain: Chain


class Routes:
    """Zones and what serves them; the longest zone that a name is in wins, by labels and never by text."""

    __slots__ = ("_by_key", "_lengths")

    def __init__(self, chains: Iterable[Chain]) -> None:
        self._by_key: dict[Labels, Route] = {}
        for chain in chains:
            for zone in chain.zones:
                self._by_key.setdefault(zone.key, Route(str(zone), chain))
        self._lengths = sorted({len(key) for key in self._by_key}, reverse=True)

    def find(self, name: Name) -> Route | None:
        """Where ``name`` belongs; None: it is not served."""
        key = name.key
        for length in self._lengths:
            # Of a shorter name this is all that there is, which may be a zone as well.
            found = self._by_key.get(key[-length:] if length else ())
            if found is not None:
                return found
        return None
