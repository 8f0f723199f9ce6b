"""How a cluster's names are answered: the options of the ``kubernetes`` word that records need."""

from __future__ import annotations

from enum import Enum
from typing import Protocol

import msgspec

from kubedns.dns.names import Name


class PodsMode(Enum):
    """Which ``A-B-C-D.NAMESPACE.pod`` names exist."""

    DISABLED = "disabled"
    INSECURE = "insecure"
    VERIFIED = "verified"


class LabelMatcher(Protocol):
    """A label selector (cluster.selectors has them)."""

    def matches(self, labels: dict[str, str]) -> bool:
        """Whether an object with these labels is selected."""


class RecordOptions(msgspec.Struct, frozen=True, kw_only=True):
    """``zones``: the forward zones and the reverse ones, as configured. ``ttl`` in seconds, 0..3600.

    ``namespaces``: the only ones exposed; empty: all. ``namespace_selector``: further limits them by label.
    ``serve_endpoints``: whether endpoints have names at all. ``ignore_empty_services``: whether a Service with a
    cluster IP needs a published endpoint to have a name. ``endpoint_pod_names``: whether endpoints without hostname go
    by their pod's name. ``mesh``: whether names for the mesh are served (endpoints.<zone>, TXT of endpoints).
    ``proxies``: namespace and name of the Service of its proxies, by which names below mesh.<zone> are answered.
    """

    zones: tuple[Name, ...]
    ttl: int = 5
    pods: PodsMode = PodsMode.DISABLED
    endpoint_pod_names: bool = False
    namespaces: frozenset[str] = frozenset()
    namespace_selector: LabelMatcher | None = None
    serve_endpoints: bool = True
    ignore_empty_services: bool = False
    mesh: bool = False
    proxies: tuple[str, str] | None = None
