"""Programming: how long changes of endpoints take from the cluster into answers, as Kubernetes's SLI counts it.

The controller that writes a slice notes in it when the Pod or Service changed that made it do so. Only of headless
Services do the names follow slices, so only these are counted, as CoreDNS does; a slice that somebody wrote by hand
has no note. Clocks of two machines are compared: what seems to come before its cause counts as at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import datetime

from kubedns.cluster.bodies import Metadata
from kubedns.cluster.objects import EndpointSlice, Object
from kubedns.cluster.store import Store
from kubedns.observe.metrics import Metrics
from kubedns.observe.rows import PROGRAMMING_DURATION

TRIGGER_TIME = "endpoints.kubernetes.io/last-change-trigger-time"
"""The note: a time (RFC 3339)."""
_KIND = "headless_with_selector"


class Programming:
    """Counts changes that have come into ``store``; ``now``: Unix time."""

    def __init__(
        self,
        store: Store,
        metrics: Metrics,
        now: Callable[[], float] = time.time,  # noqa: TID251 - the note is of the time of day
    ) -> None:
        self._store = store
        self._histogram = metrics.histogram(PROGRAMMING_DURATION, _KIND)
        self._now = now

    def changed(self, metadata: Metadata, items: Sequence[Object]) -> None:
        """``items`` have changed, because of an event of the object that ``metadata`` is of."""
        noted = (metadata.annotations or {}).get(TRIGGER_TIME)
        if noted and any(self._is_headless(item) for item in items):
            try:
                began = datetime.fromisoformat(noted)
            except ValueError:
                return
            self._histogram.add(max(self._now() - began.timestamp(), 0.0))

    def _is_headless(self, item: Object) -> bool:
        if not isinstance(item, EndpointSlice):
            return False
        service = self._store.service(item.namespace, item.service)
        return service is not None and service.is_headless
