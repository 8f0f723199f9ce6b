"""The responder: what one listener asks, octets in, octets out, with the answers it has ready.

A transport looks a query up with :meth:`Responder.find` and hands over to :meth:`Responder.resolve` what is not there.
Nothing else passes between them, so that the look-up can be done by other means one day.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Hashable, Iterable, Iterator
from functools import lru_cache, partial
from itertools import chain, repeat
from typing import Any

import msgspec
from cachetools import LRUCache

from kubedns.dns.answer import Answer, Rcode, refused
from kubedns.dns.edns import ErrorCode, ExtendedError, udp_limit
from kubedns.dns.message import (
    MAX_MESSAGE_OCTETS,
    Arrange,
    as_found,
    write_rejection,
    write_response,
    write_responses,
)
from kubedns.dns.notify import read_notify, write_acknowledgement
from kubedns.dns.question import Client, Query, Transport
from kubedns.dns.rdata import TYPE_NAMES
from kubedns.dns.reader import Rejected, read_query
from kubedns.dns.wire_names import HEADER_OCTETS
from kubedns.observe.metrics import Labels, ResponderMetrics, Where
from kubedns.plugins.plugin import ClientSensitive
from kubedns.resolver.answercache import ENTRY_OCTETS, AnswerCache, Entry, Serve, Table
from kubedns.resolver.arrangements import KEPT, Random, in_turn
from kubedns.resolver.chain import Route
from kubedns.resolver.resolver import Resolver

Find = Callable[[bytes], Serve | None]
Stream = Iterator[bytes]
Clock = Callable[[], float]
_CLIENTS_KEPT = 4096
_REPORTS_SHARED = 4096
_NOWHERE = Where("dropped")
"""What CoreDNS's metrics call the zone of a query that no server block serves."""
_OPT_FIXED_OCTETS = 11
_ONE_MESSAGE = refused(ExtendedError(ErrorCode.OTHER, "whole zones are given over TCP alone"))
_NSID = b"\0\4\0\3\0\0"
"""The options of an OPT that asks for the server's name and nothing else, with their length."""


class Responder:
    """Answers for one listener over one ``transport``. ``clock`` gives monotonic seconds.

    ``is_client_sensitive``: answers depend on who asks, so :meth:`find` has to be asked for each client.
    """

    def __init__(
        self,
        resolver: Resolver,
        transport: Transport,
        cache: AnswerCache,
        metrics: ResponderMetrics,
        random: Random,
        clock: Clock,
    ) -> None:
        self._resolver = resolver
        self._transport = transport
        self._cache = cache
        self._metrics = metrics
        self._random = random
        self._clock = clock
        plugins = [plugin for served in resolver.chains for plugin in served.plugins]
        self._judges = [plugin for plugin in plugins if isinstance(plugin, ClientSensitive)]
        self._tables: dict[Hashable, Table] = {}
        self._observed_tables: dict[Hashable, Table] = {}
        self._classes: LRUCache[bytes, Hashable] = LRUCache(_CLIENTS_KEPT)
        # Answers alike are counted by the same call, so that each kept one is smaller by all that the call holds.
        self._report = lru_cache(_REPORTS_SHARED)(partial(partial, metrics.count))
        self.is_client_sensitive = bool(self._judges)

    def find(self, address: bytes) -> Find:
        """The look-up of finished answers for a client at ``address`` (packed octets).

        It maps the octets of a query after its ID to a call that gives the octets of the response after the ID.
        """
        return self._table(self._tables, address).answers.get

    def tick(self) -> None:
        """Drop what has outlived its time; to be called once per wake-up, before queries are read."""
        self._cache.expire(self._clock())

    def served(self, count: int, seconds: float) -> None:
        """``count`` answers (at least one) were served from :meth:`find`, in a batch that took ``seconds``."""
        self._metrics.served(count, seconds)

    async def resolve(self, octets: bytes, client: Client) -> bytes | None:
        """The response to a message, in one message; None: silence."""
        response = await self._resolve(octets, client, several=False)
        assert response is None or isinstance(response, bytes)
        return response

    def resolve_whole(self, octets: bytes, client: Client) -> Coroutine[Any, Any, bytes | Stream | None]:
        """The same, or the messages that the response takes; an empty one: others may have their turn."""
        return self._resolve(octets, client, several=True)

    async def _resolve(self, octets: bytes, client: Client, several: bool) -> bytes | Stream | None:
        started = self._clock()
        query = read_query(octets, client)
        if query is None:
            return None
        if isinstance(query, Rejected):
            acknowledgement = self._acknowledgement(octets, client)
            response = acknowledgement or write_rejection(query)
            rcode = Rcode.NOERROR if acknowledgement else query.rcode
            labels = Labels(_NOWHERE, "other", rcode.name, "", dnssec_ok=False)
            self._metrics.count(labels, len(octets), len(response), 1)
            self._metrics.took(_NOWHERE, self._clock() - started)
            return response
        return await self._respond(query, octets, started, several)

    def _acknowledgement(self, octets: bytes, client: Client) -> bytes | None:
        """The response to a NOTIFY that a plugin believes; None to all else, which is not implemented here."""
        notify = read_notify(octets)
        if notify is None or not self._resolver.notified(notify.zone, client):
            return None
        return write_acknowledgement(notify)

    async def _respond(self, query: Query, octets: bytes, started: float, several: bool) -> bytes | Stream | None:
        route = self._resolver.route(query)
        observed = route is not None and route.chain.observes_all
        table = self._table(self._observed_tables if observed else self._tables, query.client.address)
        key = _cache_key(query, octets)
        entry = None if key is None else table.entries.get(key)
        is_fresh = entry is None
        answer: Answer | None = None
        if entry is None:
            generation = self._cache.generation
            answer = await self._resolver.answer(query)
            if answer.silent:
                return None
            if answer.records is not None:
                if several and route is not None:
                    return self._messages(query, answer, route, started)
                answer = msgspec.structs.replace(_ONE_MESSAGE, varies_by_client=True, plugin=answer.plugin)
            where = route.where if route else _NOWHERE
            try:
                entry = self._entry(query, answer, where)
            except Exception as error:  # an answer that cannot be written: the client is told, as of any error
                answer = self._resolver.failed(query.question, error)
                entry = self._entry(query, answer, where)
            if observed:
                entry.answer = answer
            if key is not None and generation == self._cache.generation:
                self._keep(table, key, entry, answer, started)
        response = query.id.to_bytes(2) + entry.serve()
        if is_fresh and (key is None or table.entries.get(key) is not entry):
            entry.settle()
        seconds = self._clock() - started
        self._metrics.took(route.where if route else _NOWHERE, seconds)
        for observer in route.chain.observers if route else ():
            heard = answer if is_fresh else entry.answer
            if heard is not None and (is_fresh or observer.observes_all):
                observer.observe(query, heard, response, seconds)
        return response

    def _messages(self, query: Query, answer: Answer, route: Route, started: float) -> Stream:
        """The messages of an answer that is as long as it is; counted and told of when they end, however they do."""
        first, octets = b"", 0
        try:
            for message in write_responses(query, answer):
                first = first or message
                octets += len(message)
                yield message
        finally:
            seconds = self._clock() - started
            self._metrics.count(_labels(query, answer, route.where), query.octets, octets, 1)
            self._metrics.took(route.where, seconds)
            for observer in route.chain.observers:
                observer.observe(query, answer, first, seconds)

    def _entry(self, query: Query, answer: Answer, where: Where) -> Entry:
        """The finished answer, with its first response worked out."""
        tcp = self._transport is Transport.TCP
        limit = MAX_MESSAGE_OCTETS if tcp else udp_limit(query.edns, answer.max_udp_octets)

        def write(arrange: Arrange) -> bytes:
            return write_response(query, answer, limit, arrange)[2:]

        records = max((len(rrset.rdatas) for rrset in answer.answer), default=1) if answer.shuffled else 1
        if records > 1:
            arrangements = in_turn(write, records, self._random, answer.rank)
            first = next(arrangements)
            responses: Iterable[bytes] = chain((first,), arrangements)
            cost = ENTRY_OCTETS + query.octets + min(records, KEPT) * len(first)
        else:
            first = write(as_found)
            responses = repeat(first)
            cost = ENTRY_OCTETS + query.octets + len(first)
        report = self._report(_labels(query, answer, where), query.octets, len(first) + 2)
        return Entry(answer.depends_on, responses, cost, report, answer.served_again)

    def _keep(self, table: Table, key: bytes, entry: Entry, answer: Answer, now: float) -> None:
        if answer.varies_by_client or answer.lifetime_seconds == 0:
            return
        expires = None if answer.lifetime_seconds is None else now + answer.lifetime_seconds
        self._cache.keep(table, key, entry, expires)

    def _table(self, tables: dict[Hashable, Table], address: bytes) -> Table:
        client_class: Hashable = ()
        if self._judges:
            client_class = self._classes.get(address)
            if client_class is None:
                client_class = tuple([judge.client_class(address) for judge in self._judges])
                self._classes[address] = client_class
        table = tables.get(client_class)
        if table is None:
            table = tables[client_class] = Table()
        return table


def _labels(query: Query, answer: Answer, where: Where) -> Labels:
    rdtype = TYPE_NAMES.get(query.question.type, "other")
    return Labels(where, rdtype, answer.rcode.name, answer.plugin, query.dnssec_ok)


def _cache_key(query: Query, octets: bytes) -> bytes | None:
    """What the answer is kept under: the query after its ID, less the EDNS options that change no answer.

    That is all but NSID. None for a query with records beside its OPT, which nobody sends twice.
    """
    end = HEADER_OCTETS + query.question.name.octets() + 4
    if query.edns is None:
        return octets[2:] if end == len(octets) else None
    if octets[11] != 1:
        return None
    return octets[2 : end + _OPT_FIXED_OCTETS - 2] + (_NSID if query.asks_server_name else b"\0\0")
