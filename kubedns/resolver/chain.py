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
from kubedns.observe.metrics import Where
from kubedns.plugins.plugin import Answering, Choosing, ClassChanging, ClientSensitive, Next, Observer, OfClass, Plugin

NOT_SERVED = refused(ExtendedError(ErrorCode.NOT_AUTHORITATIVE, "no server block serves this name"))
UNANSWERED = refused(ExtendedError(ErrorCode.NOT_AUTHORITATIVE, "no plugin of the server block answers this name"))


@dataclass(frozen=True, slots=True)
class Chain:
    """One server block at work: its ``zones``, its ``plugins`` in chain order, and the first of them as a call.

    ``by_class``: the same for classes other than IN, of those plugins that judge clients, answer in the class or change
    it.
    ``observers``: those of the plugins that are told of responses; ``observes_all``: of cached ones too.
    ``gives_zones``: whether one of them answers those who ask for a whole zone. ``view``: what says which queries it is
    for; None: all.
    """

    zones: tuple[Name, ...]
    plugins: tuple[Plugin, ...]
    first: Next
    by_class: Mapping[int, Next] = field(compare=False)
    observers: tuple[Observer, ...]
    observes_all: bool
    gives_zones: bool
    view: Choosing | None = None


def make_chain(zones: Iterable[Name], plugins: Iterable[Plugin]) -> Chain:
    """The chain of ``plugins``, the first outermost; what none of them answers is REFUSED."""
    ordered = tuple(plugins)
    by_class = _calls(ordered)
    first = by_class.pop(CLASS_IN)
    observers = tuple(plugin for plugin in ordered if isinstance(plugin, Observer))
    observes_all = any(each.observes_all for each in observers)
    gives_zones = any(each.word == "transfer" for each in ordered)
    view = next((plugin for plugin in ordered if isinstance(plugin, Choosing)), None)
    return Chain(tuple(zones), ordered, first, by_class, observers, observes_all, gives_zones, view)


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
    """The chain that serves a zone, and ``where`` that is, for metrics."""

    where: Where
    chain: Chain


class Routes:
    """Zones and what serves them; the longest zone that a name is in wins, by labels and never by text.

    Of several chains for a zone it is the first whose view takes the query, and if there is none a shorter zone's.
    """

    __slots__ = ("_by_key", "_lengths", "is_volatile")

    def __init__(self, chains: Iterable[Chain]) -> None:
        self._by_key: dict[Labels, list[Route]] = {}
        self.is_volatile = False
        for chain in chains:
            name = chain.view.name if chain.view else ""
            self.is_volatile |= chain.view is not None and chain.view.is_volatile
            for zone in chain.zones:
                self._by_key.setdefault(zone.key, []).append(Route(Where(str(zone), name), chain))
        self._lengths = sorted({len(key) for key in self._by_key}, reverse=True)

    def find(self, query: Query) -> Route | None:
        """Where ``query`` belongs; None: it is not served."""
        key = query.question.name.key
        for length in self._lengths:
            # Of a shorter name this is all that there is, which may be a zone as well.
            for route in self._by_key.get(key[-length:] if length else (), ()):
                view = route.chain.view
                if view is None or view.takes(query):
                    return route
        return None

    def have(self, name: Name) -> bool:
        """Whether ``name`` is in a zone of theirs, whoever may ask for it."""
        return any((name.key[-length:] if length else ()) in self._by_key for length in self._lengths)
