"""Reflector: keeps one resource of an API server in a store, by a list and then a watch, for ever.

The list comes as the beginning of the watch where the server can stream it, else in pages ahead of it; it is put in as
a difference either way. The watch goes on from the list's version, and after a cut from the last version that was
heard of. What cannot be gone on from (410, as a status or as an event) is listed anew. Now and then a list is made all
the same, for a watch that has lost something shows no other sign.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from random import random
from time import monotonic

from kubedns.cluster.bodies import ObjectBody
from kubedns.cluster.sources.api_errors import (
    REFUSALS_TO_STREAM,
    UNREADABLE,
    UNSTREAMED,
    AccessError,
    ApiError,
    Step,
    reaction,
)
from kubedns.cluster.sources.api_messages import (
    Event,
    ListMetadata,
    Reader,
    ends_initial_events,
    event_of,
    lines_of,
    status_of,
    version_in,
)
from kubedns.cluster.sources.apiserver import ApiServer
from kubedns.cluster.sources.backoff import Backoff
from kubedns.cluster.sources.pace import Pace
from kubedns.cluster.sources.programming import Programming
from kubedns.cluster.sources.resources import Resource
from kubedns.cluster.sources.selection import Selection
from kubedns.cluster.sources.upkeep import Upkeep, is_older
from kubedns.cluster.store import Store
from kubedns.observe.metrics import Metrics
from kubedns.observe.rows import API_LISTS, API_REPAIRS, API_SKIPPED

_PAGE_OBJECTS = 500
_TRIES_OF_AN_OLD_LIST = 3
"""A replica may be behind; but a cluster that was restored from a backup stays there."""
_TRIES_OF_A_STREAM = 2
"""A list that fails in the middle as a stream may come through in pages."""
_MOST_STUMBLES = 2
_STREAMED = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "resourceVersion": ""}
_log = logging.getLogger("plugin/kubernetes")


class UnknownResourceError(Exception):
    """The server has no such resource."""


class Reflector:
    """Keeps ``resource`` in ``store``, as far as it is ``wanted``.

    ``is_known``: whether it has been listed.
    """

    def __init__(
        self, resource: Resource, server: ApiServer, store: Store, wanted: Selection, metrics: Metrics, pace: Pace
    ) -> None:
        self.resource = resource
        self._server = server
        self._metrics = metrics
        self._pace = pace
        self._query = wanted.parameters(resource)
        self._upkeep = Upkeep(resource, store, self._skip)
        self._programming = Programming(store, metrics)
        self._reader = Reader(resource.body, self._skip)
        self._backoff = Backoff(pace.first, pace.longest, random)
        self._version = ""
        self._must_list = True
        self.is_known = False
        self._can_stream = True
        self._is_streaming = False
        self._cut_streams = 0
        self._old_lists = 0
        self._stumbles = 0
        self._heard_of = ""
        self._verified = 0.0
        self._heard = monotonic()

    @property
    def age_seconds(self) -> float:
        """Seconds since the server was last heard."""
        return monotonic() - self._heard

    async def run(self) -> None:
        """List and watch, for ever.

        Raises:
            UnknownResourceError: the server has no such resource, and never had.
        """
        while True:
            try:
                is_due = self._must_list or monotonic() - self._verified > self._pace.verify * (1 + random())
                streams = self._can_stream and self._cut_streams < _TRIES_OF_A_STREAM
                if is_due and not streams:
                    await self._list()
                await self._watch(with_list=is_due and streams)
            except (ApiError, AccessError) as error:
                await self._bear(error)

    async def _list(self) -> None:
        """Read the whole list, page by page, into the store."""
        self._is_streaming = False
        self._begin_list()
        query = {**self._query, "limit": str(_PAGE_OBJECTS)}
        version = ""
        while True:
            metadata = await self._list_page(query, version)
            version = version or metadata.resource_version or ""
            if not metadata.continue_:
                break
            query["continue"] = metadata.continue_
            await asyncio.sleep(0)
        self._end_list(version)

    async def _list_page(self, query: Mapping[str, str], version: str) -> ListMetadata:
        """Read a page of the list of ``version`` into the store, and keep nothing of it while the next one is read."""
        octets = await self._server.get(self.resource.path, query, self.resource.accept, self._pace.idle)
        bodies, metadata = self._reader.page(octets)
        self._check_list(version or metadata.resource_version or "")
        self._upkeep.add_listed(bodies, self._heard_of)
        self._works()
        return metadata

    def _begin_list(self) -> None:
        self._metrics.cell(API_LISTS, self.resource.plural).add()
        self._heard_of = "" if self._must_list else self._version
        self._upkeep.begin_list()

    def _end_list(self, version: str) -> None:
        """All that there was at ``version`` has come."""
        self._upkeep.end_list()
        self._metrics.cell(API_REPAIRS, self.resource.plural).value = self._upkeep.repairs
        self._version, self._must_list, self.is_known = version, False, True
        self._old_lists = self._stumbles = self._cut_streams = 0
        self._verified = monotonic()

    def _check_list(self, version: str) -> None:
        """Refuse a list from before what was heard of, but not so often that it must be believed.

        Raises:
            ApiError: it is one.
        """
        if is_older(version, self._version):
            self._old_lists += 1
            if self._old_lists <= _TRIES_OF_AN_OLD_LIST:
                raise ApiError(504, f"the list is of version {version}, before {self._version}")

    async def _watch(self, *, with_list: bool) -> None:
        """Follow events until the server ends the watch; ``with_list``: it begins with all that there is.

        Raises:
            ApiError: it ended otherwise, or at once.
        """
        self._is_streaming = with_list
        if with_list:
            self._begin_list()
        seconds = str(int(self._pace.watch * (1 + random())))
        query = {
            **self._query, "watch": "1", "allowWatchBookmarks": "true", "timeoutSeconds": seconds,
            **(_STREAMED if with_list else {"resourceVersion": self._version}),
        }  # fmt: skip
        begun, events = monotonic(), 0
        buffer = bytearray()
        async with self._server.stream(self.resource.path, query, self.resource.accept, self._pace.idle) as chunks:
            # Who stumbles again and again over what the server sends from a version on gets past it by a list alone.
            self._stumbles += 1
            with nullcontext() if with_list else self._standing():
                while chunk := await self._next(chunks):
                    buffer += chunk
                    for line in lines_of(buffer):
                        self._take(event_of(line))
                        self._stumbles = 0
                        events += 1
                    self._works()
                    await asyncio.sleep(0)
        if self._is_streaming:
            raise ApiError(UNREADABLE, "the watch ended before the list that it began with")
        if not events and monotonic() - begun < self._pace.first:
            raise ApiError(UNREADABLE, "the watch ended as soon as it had begun")

    @contextmanager
    def _standing(self) -> Iterator[None]:
        """A watch that stands for a while works, though nothing changes: the next bookmark may be a minute away."""
        works = asyncio.get_running_loop().call_later(self._pace.first, self._works)
        try:
            yield
        finally:
            works.cancel()

    async def _next(self, chunks: AsyncIterator[bytes]) -> bytes:
        """What comes next; nothing at the end.

        Raises:
            ApiError: a list that should be streamed does not go on.
        """
        if not self._is_streaming:
            return await anext(chunks, b"")
        try:
            async with asyncio.timeout(self._pace.initial):
                return await anext(chunks, b"")
        except TimeoutError as error:
            # So does a server that is too old to know the parameters: it gives everything, and no sign of the end.
            raise ApiError(UNSTREAMED, "the list does not come to an end") from error

    def _take(self, event: Event) -> None:
        """Do what an event says.

        Raises:
            ApiError: it says that the watch cannot go on.
        """
        body = None
        if event.type == "ERROR":
            status = status_of(event.object)
            raise ApiError(status.code or UNREADABLE, status.message or "the watch ended with an error")
        if event.type in ("ADDED", "MODIFIED", "DELETED"):
            body = self._reader.object(event.object)
            if body is not None:
                self._apply(event.type, body)
        elif event.type == "BOOKMARK":
            self._bookmark(event)
        else:
            _log.warning("%s: an event of type %r is left out", self.resource.plural, event.type[:40])
        if not self._is_streaming:
            version = version_in(event.object) if body is None else body.metadata.resource_version
            self._version = version or self._version

    def _apply(self, change: str, body: ObjectBody) -> None:
        """An object has come, or has gone."""
        if change == "DELETED":
            self._upkeep.remove(body)
        elif self._is_streaming:
            self._upkeep.add_listed([body], self._heard_of)
        else:
            self._programming.changed(body.metadata, self._upkeep.put(body))

    def _bookmark(self, event: Event) -> None:
        """The version to go on from; the first one ends a streamed list.

        Raises:
            ApiError: it does not, for the server knows nothing of streamed lists.
        """
        if not self._is_streaming:
            return
        if not ends_initial_events(event.object):
            raise ApiError(UNSTREAMED, "the list has no end")
        version = version_in(event.object)
        self._check_list(version)
        self._is_streaming = False
        self._end_list(version)

    async def _bear(self, error: ApiError | AccessError) -> None:
        """Wait as long as the failure asks for, and make ready for the next try.

        Raises:
            UnknownResourceError: there is nothing to wait for.
        """
        if self._is_streaming and isinstance(error, ApiError):
            self._cut_streams += 1
            if error.status in REFUSALS_TO_STREAM:
                self._can_stream = False
                return
        step, at_once = Step.GO_ON, False
        if isinstance(error, ApiError):
            found = reaction(error)
            step, at_once = found.step, found.at_once and not self._backoff.failures
            if error.status == 404:
                if not self.is_known:
                    self._server.outage.ends(self.resource)
                    raise UnknownResourceError(self.resource.plural) from error
                # What it had it will have again: a server that starts, or one before it, does not know it yet.
                step = Step.LIST_ANEW
        self._must_list |= step is Step.LIST_ANEW or self._stumbles > _MOST_STUMBLES
        wait = self._backoff.next_wait()
        if step is Step.GIVE_UP:
            wait = self._pace.forbidden * (1 + random())
        if isinstance(error, ApiError) and error.retry_after:
            wait = max(wait, error.retry_after)
        unusable = await self._renewed() if step is Step.RENEW else None
        if not at_once or unusable:
            self._fails(unusable or error, step)
            await asyncio.sleep(wait)

    async def _renewed(self) -> AccessError | None:
        """Read the credentials again; why they cannot be read."""
        try:
            await self._server.renew()
        except AccessError as error:
            return error
        return None

    def _works(self) -> None:
        self._heard = monotonic()
        self._backoff.reset()
        self._server.outage.ends(self.resource)

    def _fails(self, error: ApiError | AccessError, step: Step) -> None:
        if step is Step.GIVE_UP and isinstance(error, ApiError):
            self._server.outage.refuses(self.resource, error)
        else:
            self._server.outage.fails(self.resource, error)

    def _skip(self, name: str, why: str) -> None:
        self._metrics.cell(API_SKIPPED, self.resource.plural).add()
        _log.warning("%s %s is left out: %s", self.resource.plural, name, why)
