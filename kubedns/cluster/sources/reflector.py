"""Reflector: keeps one resource of an API server in a store, by a list and then a watch, for ever.

The list is read in pages and put in as a difference; the watch goes on from the list's version, and after a cut from
the last version that was heard of. What cannot be gone on from (410, as a status or as an event) is listed anew. Now
and then a list is made all the same, for a watch that has lost something shows no other sign.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from random import random
from time import monotonic

from kubedns.cluster.sources.api_errors import UNREADABLE, AccessError, ApiError, Step, reaction
from kubedns.cluster.sources.api_messages import Event, Reader, event_of, lines_of, status_of, version_in
from kubedns.cluster.sources.apiserver import ApiServer
from kubedns.cluster.sources.backoff import Backoff
from kubedns.cluster.sources.resources import Resource
from kubedns.cluster.sources.upkeep import Upkeep, is_older
from kubedns.cluster.store import Store
from kubedns.observe.metrics import Metrics
from kubedns.observe.rows import API_LISTS, API_REPAIRS, API_SKIPPED

_PAGE_OBJECTS = 500
_TRIES_OF_AN_OLD_LIST = 3
"""A replica may be behind; but a cluster that was restored from a backup stays there."""
_MOST_STUMBLES = 2
_log = logging.getLogger("plugin/kubernetes")


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds. ``idle``: without a word a watch counts as dead; a server that lives sends a bookmark each minute.

    ``watch``: how long the server is asked to keep a watch, up to twice that. ``verify``: between lists that nobody
    asked for, up to twice that. ``first`` and ``longest``: waits between tries that fail; ``forbidden``: where the kind
    is not allowed.
    """

    idle: float = 180.0
    watch: float = 300.0
    verify: float = 1800.0
    first: float = 0.5
    longest: float = 30.0
    forbidden: float = 60.0


@dataclass(frozen=True, slots=True)
class Selection:
    """What of a resource is wanted, if it takes the like: with these ``labels``, in this ``namespace`` (empty: all)."""

    labels: str = ""
    namespace: str = ""


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
        self._query = _selected(resource, wanted)
        self._upkeep = Upkeep(resource, store, self._skip)
        self._reader = Reader(resource.body, self._skip)
        self._backoff = Backoff(pace.first, pace.longest, random)
        self._version = ""
        self._must_list = True
        self.is_known = False
        self._old_lists = 0
        self._stumbles = 0
        self._verified = 0.0
        self._heard = monotonic()
        self._is_failing = False

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
                if self._must_list or monotonic() - self._verified > self._pace.verify * (1 + random()):
                    await self._list()
                await self._watch()
            except (ApiError, AccessError) as error:
                await self._bear(error)

    async def _list(self) -> None:
        """Read the whole list, page by page, into the store."""
        self._metrics.cell(API_LISTS, self.resource.plural).add()
        heard_of = "" if self._must_list else self._version
        query = {**self._query, "limit": str(_PAGE_OBJECTS)}
        self._upkeep.begin_list()
        version = ""
        while True:
            octets = await self._server.get(self.resource.path, query, self.resource.accept, self._pace.idle)
            bodies, metadata = self._reader.page(octets)
            version = version or metadata.resource_version or ""
            if self._goes_back(version):
                raise ApiError(504, f"the list is of version {version}, before {self._version}")
            self._upkeep.add_listed(bodies, heard_of)
            self._works()
            if not metadata.continue_:
                break
            query["continue"] = metadata.continue_
            await asyncio.sleep(0)
        self._upkeep.end_list()
        self._metrics.cell(API_REPAIRS, self.resource.plural).value = self._upkeep.repairs
        self._version, self._must_list, self.is_known = version, False, True
        self._old_lists = self._stumbles = 0
        self._verified = monotonic()

    def _goes_back(self, version: str) -> bool:
        """Whether a list is from before what was heard of, and not so often that it must be believed."""
        if not is_older(version, self._version):
            return False
        self._old_lists += 1
        return self._old_lists <= _TRIES_OF_AN_OLD_LIST

    async def _watch(self) -> None:
        """Follow events until the server ends the watch.

        Raises:
            ApiError: it ended otherwise, or at once.
        """
        seconds = str(int(self._pace.watch * (1 + random())))
        query = {
            **self._query, "watch": "1", "allowWatchBookmarks": "true",
            "resourceVersion": self._version, "timeoutSeconds": seconds,
        }  # fmt: skip
        begun, events = monotonic(), 0
        buffer = bytearray()
        async with self._server.stream(self.resource.path, query, self.resource.accept, self._pace.idle) as chunks:
            # Who stumbles again and again over what the server sends from a version on gets past it by a list alone.
            self._stumbles += 1
            async for chunk in chunks:
                buffer += chunk
                for line in lines_of(buffer):
                    self._take(event_of(line))
                    self._stumbles = 0
                    events += 1
                self._works()
                await asyncio.sleep(0)
        if not events and monotonic() - begun < self._pace.first:
            raise ApiError(UNREADABLE, "the watch ended as soon as it had begun")

    def _take(self, event: Event) -> None:
        """Do what an event says.

        Raises:
            ApiError: it says that the watch cannot go on.
        """
        if event.type == "ERROR":
            status = status_of(event.object)
            raise ApiError(status.code or UNREADABLE, status.message or "the watch ended with an error")
        if event.type in ("ADDED", "MODIFIED", "DELETED"):
            body = self._reader.object(event.object)
            if body is not None:
                self._upkeep.remove(body) if event.type == "DELETED" else self._upkeep.put(body)
        elif event.type != "BOOKMARK":
            _log.warning("%s: an event of type %r is left out", self.resource.plural, event.type[:40])
        self._version = version_in(event.object) or self._version

    async def _bear(self, error: ApiError | AccessError) -> None:
        """Wait as long as the failure asks for, and make ready for the next try.

        Raises:
            UnknownResourceError: there is nothing to wait for.
        """
        step, at_once = Step.GO_ON, False
        if isinstance(error, ApiError):
            found = reaction(error)
            step, at_once = found.step, found.at_once and not self._backoff.failures
            if error.status == 404:
                if not self.is_known:
                    raise UnknownResourceError(self.resource.plural) from error
                # What it had it will have again: a server that starts, or one before it, does not know it yet.
                step = Step.LIST_ANEW
        self._must_list |= step is Step.LIST_ANEW or self._stumbles > _MOST_STUMBLES
        if step is Step.RENEW:
            await self._renewed()
        wait = self._backoff.next_wait()
        if step is Step.GIVE_UP:
            wait = self._pace.forbidden * (1 + random())
        if isinstance(error, ApiError) and error.retry_after:
            wait = max(wait, error.retry_after)
        if not at_once:
            self._fails(error, step)
            await asyncio.sleep(wait)

    async def _renewed(self) -> None:
        try:
            await self._server.renew()
        except AccessError as error:
            _log.error("%s", error)

    def _works(self) -> None:
        self._heard = monotonic()
        self._backoff.reset()
        if self._is_failing:
            self._is_failing = False
            _log.warning("%s: %s are followed again", self._server.access, self.resource.plural)

    def _fails(self, error: ApiError | AccessError, step: Step) -> None:
        """Say so once, until it works again."""
        if self._is_failing:
            return
        self._is_failing = True
        known = f"{self._server.access}: {self.resource.plural}: {error}"
        if step is Step.GIVE_UP:
            what = "nothing can be denied" if self.resource.is_required else "names that need them are not served"
            remedy = f"; allow it with {self.resource.rule}" if getattr(error, "status", 0) == 403 else ""
            _log.error("%s; until they may be listed, %s%s", known, what, remedy)
        else:
            _log.warning("%s; what is known stays in force", known)

    def _skip(self, name: str, why: str) -> None:
        self._metrics.cell(API_SKIPPED, self.resource.plural).add()
        _log.warning("%s %s is left out: %s", self.resource.plural, name, why)


def _selected(resource: Resource, wanted: Selection) -> Mapping[str, str]:
    """The selectors, as parameters."""
    labels = [resource.labels, wanted.labels if resource.takes_labels else ""]
    is_narrowed = wanted.namespace and resource.takes_namespace
    fields = [resource.fields, f"metadata.namespace={wanted.namespace}" if is_narrowed else ""]
    selectors = {"labelSelector": ",".join(filter(None, labels)), "fieldSelector": ",".join(filter(None, fields))}
    return {name: selector for name, selector in selectors.items() if selector}
