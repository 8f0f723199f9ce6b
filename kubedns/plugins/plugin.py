"""What a plugin is: one word of the Corefile, made from its options, with a place in the chain of its server block."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Iterable
from typing import Protocol, runtime_checkable

from kubedns.cluster.lister import Lister
from kubedns.dns.answer import Answer
from kubedns.dns.names import Name
from kubedns.dns.question import Client, Query

Next = Callable[[Query], Awaitable[Answer]]
"""The rest of the chain; its end is REFUSED."""


class Plugin(Protocol):
    """One word at work. ``answer`` may answer, or ask ``next`` and change what comes back.

    Nothing before a plugin's first wait may need a current task (asyncio.timeout, TaskGroup): transports drive the
    coroutine by hand and make a Task only once it suspends.
    """

    word: str

    async def answer(self, query: Query, next_plugin: Next) -> Answer:
        """The answer to ``query``."""


@runtime_checkable
class ClientSensitive(Protocol):
    """A plugin that decides by who asks, before the answer cache is looked at."""

    def client_class(self, address: bytes) -> Hashable:
        """A value equal for all clients that are treated alike; answers are kept per class."""


@runtime_checkable
class Observer(Protocol):
    """A plugin that is told of every response, cached ones too (log, errors, prometheus)."""

    def observe(self, query: Query, answer: Answer, octets: int, seconds: float) -> None:
        """``answer`` was sent as a response of ``octets``, ``seconds`` after the query was read."""


@runtime_checkable
class Readiness(Protocol):
    """A plugin that is not ready from the start."""

    def ready(self) -> bool:
        """Whether it can answer for its zones."""


class Listers(Protocol):
    """Where plugins get the view of the cluster that their options ask for; server/ implements it."""

    def lister(self, source: Hashable) -> Lister:
        """The view of the store that ``source`` (a plugin's own description of it) fills."""


class Context(Protocol):
    """What a plugin may know beyond its own options."""

    zones: tuple[Name, ...]
    listers: Listers
    warn: Callable[[str], None]


def chained(plugins: Iterable[Plugin], end: Next) -> Next:
    """The plugins as one call, the first outermost, ``end`` last."""
    chain = end
    for plugin in reversed(tuple(plugins)):
        chain = _link(plugin, chain)
    return chain


def _link(plugin: Plugin, rest: Next) -> Next:
    def call(query: Query) -> Awaitable[Answer]:
        return plugin.answer(query, rest)

    return call


__all__ = [
    "Answer", "Client", "ClientSensitive", "Context", "Lister", "Listers", "Name", "Next", "Observer", "Plugin",
    "Query", "Readiness", "chained",
]  # fmt: skip
