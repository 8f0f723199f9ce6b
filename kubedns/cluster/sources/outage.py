"""Outage: says once that an API server cannot be followed, and once that it can be again.

A server that is away fails every resource, time and again: that is one thing to tell. A resource that it refuses is
another, of that resource alone.
"""

from __future__ import annotations

import logging

from kubedns.cluster.access import ApiAccess
from kubedns.cluster.sources.api_errors import AccessError, ApiError
from kubedns.cluster.sources.resources import Resource

_log = logging.getLogger("plugin/kubernetes")


class Outage:
    """What is told of the server that ``access`` names; its reflectors share one."""

    def __init__(self, access: ApiAccess) -> None:
        self._access = access
        self._failing: set[str] = set()
        self._refused: set[str] = set()

    def fails(self, resource: Resource, error: ApiError | AccessError) -> None:
        """``resource`` cannot be followed for now."""
        if not self._failing and resource.plural not in self._refused:
            _log.warning("%s: %s: %s; what is known stays in force", self._access, resource.plural, error)
        self._failing.add(resource.plural)

    def refuses(self, resource: Resource, error: ApiError) -> None:
        """``resource`` may not be followed, or is not there."""
        if resource.plural not in self._refused:
            what = "nothing can be denied" if resource.is_required else "names that need them are not served"
            remedy = f"; allow it with {resource.rule}" if error.status == 403 else ""
            known = f"{self._access}: {resource.plural}: {error}"
            _log.error("%s; until they may be listed, %s%s", known, what, remedy)
        self._refused.add(resource.plural)
        self._mend(resource)

    def ends(self, resource: Resource) -> None:
        """``resource`` is followed, or none that is followed any more."""
        if resource.plural in self._refused:
            self._refused.discard(resource.plural)
            _log.warning("%s: %s are followed again", self._access, resource.plural)
        self._mend(resource)

    def _mend(self, resource: Resource) -> None:
        """The server answers for ``resource``; it is back once it does so for all."""
        if resource.plural in self._failing:
            self._failing.discard(resource.plural)
            if not self._failing:
                _log.warning("%s: it is followed again", self._access)
