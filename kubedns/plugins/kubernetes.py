"""kubernetes: the cluster's names."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from kubedns.cluster.lister import Lister
from kubedns.dns.answer import Answer, Rcode
from kubedns.dns.names import Name
from kubedns.dns.question import Query
from kubedns.plugins.plugin import Next
from kubedns.records.cluster_zone import ClusterZone


class Kubernetes:
    """Answers for the names of one cluster. ``fallthrough``: zones whose missing names go on down the chain."""

    word = "kubernetes"

    def __init__(self, zone: ClusterZone, zones: Sequence[Name], fallthrough: Sequence[Name], lister: Lister) -> None:
        self.zone = zone
        self._zones = zones
        self._fallthrough = fallthrough
        self._lister = lister

    async def answer(self, query: Query, next_plugin: Next) -> Answer:
        """What the cluster says of the name; another zone's name goes on, and so does a missing one that may."""
        name = query.question.name
        if not any(name.is_at_or_below(zone) for zone in self._zones):
            return await next_plugin(query)
        answer = self.zone.answer(query.question, query.trace)
        if answer.rcode == Rcode.NXDOMAIN and any(name.is_at_or_below(zone) for zone in self._fallthrough):
            query.trace.step(self.word, "the name is missing and falls through")
            later = await next_plugin(query)
            return msgspec.structs.replace(later, depends_on=later.depends_on | answer.depends_on)
        return msgspec.structs.replace(answer, plugin=self.word)

    def is_ready(self) -> bool:
        """Whether the cluster has been listed."""
        return self._lister.has_synced
