"""The kinds that manifests may hold and that have a part in names, and how each is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kubedns.cluster import bodies
from kubedns.cluster.decoding import (
    decode_import,
    decode_imported_slice,
    decode_namespace,
    decode_node,
    decode_slice,
    names_of,
)
from kubedns.cluster.written import Entry, written_endpoints, written_pod, written_service, written_workload

Identity = tuple[str, str, str]
"""Kind, namespace and name of a document's object; Nodes and Namespaces are in none."""


def name_identity(identity: Identity) -> str:
    """``Service shop/web``, ``Node worker-1``."""
    kind, namespace, name = identity
    return f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"


@dataclass(frozen=True, slots=True)
class ReadableKind:
    """``groups``: the API groups that it has been in. ``is_selective``: whether a label selector leaves some out.

    ``write`` takes a ``body`` and the object's origin.
    """

    groups: tuple[str, ...]
    body: type[bodies.Body]
    write: Callable[[Any, str], Entry]
    is_namespaced: bool = True
    is_selective: bool = False

    def identity(self, kind: str, body: bodies.NamespaceBody) -> Identity:
        """What names the object; of all bodies only the metadata is looked at."""
        namespace, name = names_of(body.metadata)
        return kind, namespace if self.is_namespaced else "", name


def _workload(kind: str) -> ReadableKind:
    return ReadableKind(
        ("apps", "extensions"), bodies.WorkloadBody, lambda body, origin: written_workload(kind, body, origin)
    )


_CORE = ("",)
KINDS: dict[str, ReadableKind] = {
    "Service": ReadableKind(_CORE, bodies.ServiceBody, written_service, is_selective=True),
    "EndpointSlice": ReadableKind(("discovery.k8s.io",), bodies.SliceBody, decode_slice, is_selective=True),
    "Endpoints": ReadableKind(_CORE, bodies.EndpointsBody, written_endpoints, is_selective=True),
    "Pod": ReadableKind(_CORE, bodies.PodBody, written_pod),
    "Node": ReadableKind(_CORE, bodies.NodeBody, decode_node, is_namespaced=False),
    "Namespace": ReadableKind(_CORE, bodies.NamespaceBody, decode_namespace, is_namespaced=False),
    **{kind: _workload(kind) for kind in ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet")},
}
"""By the kind's name in the API."""

IMPORTED_KINDS: dict[str, ReadableKind] = {
    "ServiceImport": ReadableKind(("multicluster.x-k8s.io",), bodies.ImportBody, decode_import, is_selective=True),
    "EndpointSlice": ReadableKind(("discovery.k8s.io",), bodies.SliceBody, decode_imported_slice),
    "Namespace": KINDS["Namespace"],
}
"""The same for what a cluster has been given by the others of its clusterset."""
