"""The API source: the objects of a live cluster, each kind by a reflector of its own."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from kubedns.cluster.access import ApiAccess
from kubedns.cluster.objects import Kind
from kubedns.cluster.selectors import LabelSelector
from kubedns.cluster.snapshot import SnapshotPlace
from kubedns.cluster.sources.apiserver import ApiServer
from kubedns.cluster.sources.pace import Pace
from kubedns.cluster.sources.reflector import Reflector, UnknownResourceError
from kubedns.cluster.sources.resources import (
    ENDPOINTS,
    IMPORTED_SLICES,
    IMPORTS,
    NAMESPACES,
    NODES,
    PODS,
    SERVICES,
    SLICES,
    STATEFUL_PODS,
    Resource,
)
from kubedns.cluster.sources.selection import Selection
from kubedns.cluster.sources.snapshots import Snapshots
from kubedns.cluster.store import Store
from kubedns.errors import ManifestError
from kubedns.observe.failures import Failures
from kubedns.observe.metrics import Metrics
from kubedns.observe.rows import API_FAILURES

_log = logging.getLogger("plugin/kubernetes")
_POLL_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class ApiOptions:
    """Which server, and what of it. ``selector``: labels that Services, slices and Pods must have.

    ``namespace``: the only one whose slices and Pods are needed (empty: all).
    ``all_pods``: not just those of StatefulSets. ``imports``: what other clusters have given, in place of its own.
    ``startup_seconds``: how long :meth:`ApiSource.load` waits for the first lists. ``snapshot``: where what is known is
    kept for the next start.
    """

    access: ApiAccess
    selector: LabelSelector = field(default_factory=LabelSelector)
    all_pods: bool = False
    imports: bool = False
    startup_seconds: float = 5.0
    snapshot: SnapshotPlace | None = None
    namespace: str = ""

    def __str__(self) -> str:
        """What there is of which server; with another word of it, a snapshot is not this one's."""
        kinds = "+".join(resource.plural for resource in self.resources)
        pods = "all pods" if self.all_pods else "stateful pods"
        return f"{kinds} of {self.access}, {pods}, labels {self.selector or 'any'}, namespace {self.namespace or 'any'}"

    @property
    def resources(self) -> tuple[Resource, ...]:
        """What is listed and watched."""
        if self.imports:
            return (IMPORTS, IMPORTED_SLICES, NAMESPACES)
        return (SERVICES, SLICES, NAMESPACES, PODS if self.all_pods else STATEFUL_PODS, NODES)

    @property
    def required(self) -> tuple[Kind, ...]:
        """The kinds without whose list nothing can be denied."""
        return tuple(resource.kind for resource in self.resources if resource.is_required)


class ApiSource:
    """Keeps ``store`` at what the API server says."""

    def __init__(self, options: ApiOptions, store: Store, metrics: Metrics, pace: Pace | None = None) -> None:
        self._options = options
        self._store = store
        self._metrics = metrics
        self._pace = pace or Pace()
        self._server = ApiServer(options.access, metrics)
        place = options.snapshot
        self._snapshots = None if place is None else Snapshots(place, str(options), store, metrics)
        self._failures = Failures(_log)
        self._reflectors: dict[Kind, Reflector] = {}
        self._following: asyncio.Task[None] | None = None

    @property
    def age_seconds(self) -> float:
        """Seconds since the kind that was heard of longest ago was heard of.

        One that nothing depends on counts from its first list on: where it is not allowed, it is not missed.
        """
        if self._snapshots is not None and self._store.is_stale:
            return self._snapshots.age_seconds
        followed = [each for each in self._reflectors.values() if each.is_known or each.resource.is_required]
        return max((each.age_seconds for each in followed), default=0.0)

    async def load(self) -> Sequence[ManifestError]:
        """Begin to follow the server, and wait a while for the first lists, unless a snapshot tells what was there.

        With neither, queries are SERVFAIL.
        """
        if self._snapshots is not None:
            await self._snapshots.recall()
        self._begin()
        with suppress(TimeoutError):
            async with asyncio.timeout(self._options.startup_seconds):
                while not self._store.has_synced:
                    await asyncio.sleep(_POLL_SECONDS)
        if not self._store.has_synced:
            missing = ", ".join(each.plural for each in self._options.resources if not self._is_done_with(each))
            _log.warning("%s: not listed yet: %s; names are SERVFAIL until they are", self._options.access, missing)
        return ()

    async def run(self) -> None:
        """Follow the server until cancelled; what is known then is kept for the next start."""
        async with asyncio.TaskGroup() as group:
            if self._snapshots is not None:
                group.create_task(self._snapshots.keep(lambda: self.age_seconds))
            await self._begin()

    def _is_done_with(self, resource: Resource) -> bool:
        reflector = self._reflectors.get(resource.kind)
        return not resource.is_required or (reflector is not None and reflector.is_known)

    def _begin(self) -> asyncio.Task[None]:
        if self._following is None:
            self._following = asyncio.get_running_loop().create_task(self._follow())
        return self._following

    async def _follow(self) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                for resource in self._options.resources:
                    group.create_task(self._reflect(resource))
        finally:
            await self._server.close()

    async def _reflect(self, resource: Resource) -> None:
        """Keep one resource; one that the server lacks has another in its place, or none."""
        wanted = Selection(str(self._options.selector), self._options.namespace)
        is_told = False
        while True:
            reflector = Reflector(resource, self._server, self._store, wanted, self._metrics, self._pace)
            self._reflectors[resource.kind] = reflector
            try:
                await reflector.run()
            except UnknownResourceError:
                if resource is SLICES:
                    resource = ENDPOINTS
                    _log.warning("%s: it has no EndpointSlices; Endpoints are read in their place", self._server.access)
                    continue
                if not resource.is_required:
                    return
                if not is_told:
                    _log.error("%s: it has no %s, so nothing can be denied", self._server.access, resource.plural)
                is_told = True
                await asyncio.sleep(self._pace.forbidden)
            except Exception as error:
                # What the store has stays in force for ever if nobody begins anew, and nobody would see it.
                self._failures.tell(error, f"following {resource.plural}")
                self._metrics.cell(API_FAILURES, resource.plural).add()
                await asyncio.sleep(self._pace.longest)
