"""The resolver of one listening address: a question's way to its server block, through the chain, along its aliases."""

from __future__ import annotations

import logging
from collections.abc import Coroutine, Iterable
from typing import Any

import msgspec

from kubedns.dns.answer import Answer, refused, servfail
from kubedns.dns.edns import ErrorCode, ExtendedError
from kubedns.dns.names import Name
from kubedns.dns.question import Client, Query, Question
from kubedns.dns.rdata import TRANSFERS
from kubedns.dns.rrset import CLASS_IN
from kubedns.dns.trace import NO_TRACE, Trace
from kubedns.observe.failures import Failures
from kubedns.observe.metrics import Metrics
from kubedns.plugins.plugin import Notifiable
from kubedns.resolver.aliases import completed
from kubedns.resolver.chain import NOT_SERVED, Chain, Route, Routes

_log = logging.getLogger(__name__)
_OTHER_CLASS = refused(ExtendedError(ErrorCode.NOT_AUTHORITATIVE, "this class is not served"))
_TRANSFER = refused(ExtendedError(ErrorCode.OTHER, "zone transfers are off"))


class Resolver:
    """Answers questions by the server blocks of one listening address."""

    def __init__(self, chains: Iterable[Chain], metrics: Metrics) -> None:
        self.chains = tuple(chains)
        self._metrics = metrics
        self._routes = Routes(self.chains)
        self._failures = Failures(_log)
        plugins = [plugin for chain in self.chains for plugin in chain.plugins]
        self._notifiable = [plugin for plugin in plugins if isinstance(plugin, Notifiable)]

    def route(self, query: Query) -> Route | None:
        """The longest zone that the name asked is in, and the chain that takes the query; None: it is not served."""
        return self._routes.find(query)

    def serves(self, name: Name) -> bool:
        """Whether ``name`` is in a zone that is served, if only to some."""
        return self._routes.have(name)

    async def answer(self, query: Query) -> Answer:
        """The answer to ``query``, aliases followed. An error in a plugin is SERVFAIL, never an exception."""
        question = query.question
        if question.rdclass == CLASS_IN and question.type in TRANSFERS and not self._gives(query):
            return _TRANSFER
        try:
            answer = await self._routed(query)
            if answer.follow is not None:
                answer = await completed(query, answer, self._routed)
            return msgspec.structs.replace(answer, varies_by_client=True) if self._routes.is_volatile else answer
        except Exception as error:
            return self.failed(question, error)

    def notified(self, zone: Name, client: Client) -> bool:
        """Hand on that ``zone`` has changed elsewhere; whether there is a plugin that believes the client."""
        heard = [plugin.notified(zone, client.address) for plugin in self._notifiable]
        return True in heard

    def failed(self, question: Question, error: Exception) -> Answer:
        """SERVFAIL for an error in the program, which is counted; the first of its kind is logged."""
        self._metrics.panics += 1
        self._failures.tell(error, f"answering {question}")
        return servfail(ErrorCode.OTHER, "error in the server")

    async def lookup(self, question: Question, client: Client, trace: Trace = NO_TRACE) -> Answer:
        """The answer to a question that came as no message, by the same way."""
        return await self.answer(Query(0, 0x0100, question, None, 0, client, trace))

    def _gives(self, query: Query) -> bool:
        """Whether whole zones are given to anybody there; where they are not, no plugin is asked for one."""
        found = self._routes.find(query)
        return found is not None and found.chain.gives_zones

    def _routed(self, query: Query) -> Coroutine[Any, Any, Answer]:
        found = self._routes.find(query)
        if found is None:
            return _not_served(query)
        if query.trace.active:
            query.trace.step("resolver", f"server block of {found.where}")
        if query.question.rdclass != CLASS_IN:
            return found.chain.by_class.get(query.question.rdclass, _other_class)(query)
        return found.chain.first(query)


async def _other_class(query: Query) -> Answer:
    return _OTHER_CLASS


async def _not_served(query: Query) -> Answer:
    query.trace.step("resolver", "no server block serves this name: REFUSED")
    return NOT_SERVED
