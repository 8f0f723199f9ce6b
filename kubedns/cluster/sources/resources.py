"""The resources that are listed and watched: where the API has them, what is read of them, what has to be allowed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kubedns.cluster import bodies
from kubedns.cluster.decoding import (
    IMPORT_LABEL,
    STATEFUL_LABEL,
    decode_endpoints,
    decode_import,
    decode_imported_slice,
    decode_namespace,
    decode_node,
    decode_pod,
    decode_service,
    decode_slice,
)
from kubedns.cluster.objects import Kind, Object

_JSON = "application/json"
_NAMES_ONLY = f"{_JSON};as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,{_JSON}"
"""Existence and labels are all that counts; a server that cannot do this gives the whole objects."""
_RUNNING = "status.phase!=Succeeded,status.phase!=Failed,status.phase!=Unknown"


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource of the API. ``decode`` gives what an object of it stands for, nearly always one object of ours.

    ``is_required``: whether nothing can be denied without it. ``fields`` and ``labels`` are selectors that always hold;
    ``takes_labels``: whether the configuration's labels hold too; ``takes_namespace``: whether nothing of it is needed
    from hidden namespaces. Services are: a zone's name server has the address of the DNS Service, hidden or not.
    """

    kind: Kind
    group: str
    plural: str
    body: type[bodies.ObjectBody]
    decode: Callable[[Any, str], Sequence[Object]]
    is_required: bool = True
    fields: str = ""
    labels: str = ""
    takes_labels: bool = False
    takes_namespace: bool = False
    accept: str = _JSON
    version: str = "v1"

    @property
    def path(self) -> str:
        """Where all objects of it are, in every namespace."""
        return f"/apis/{self.group}/{self.version}/{self.plural}" if self.group else f"/api/v1/{self.plural}"

    @property
    def rule(self) -> str:
        """The rule of a ClusterRole that allows it."""
        return f'{{apiGroups: ["{self.group}"], resources: ["{self.plural}"], verbs: [list, watch]}}'


def _one(decode: Callable[[Any, str], Object]) -> Callable[[Any, str], Sequence[Object]]:
    return lambda body, origin: (decode(body, origin),)


SERVICES = Resource(Kind.SERVICE, "", "services", bodies.ServiceBody, _one(decode_service), takes_labels=True)
SLICES = Resource(
    Kind.ENDPOINT_SLICE,
    "discovery.k8s.io",
    "endpointslices",
    bodies.SliceBody,
    _one(decode_slice),
    takes_labels=True,
    takes_namespace=True,
)
ENDPOINTS = Resource(
    Kind.ENDPOINT_SLICE,
    "",
    "endpoints",
    bodies.EndpointsBody,
    decode_endpoints,
    takes_labels=True,
    takes_namespace=True,
)
"""In place of slices, where the cluster is so old that it has none."""
NAMESPACES = Resource(
    Kind.NAMESPACE, "", "namespaces", bodies.NamespaceBody, _one(decode_namespace), accept=_NAMES_ONLY
)
PODS = Resource(
    Kind.POD,
    "",
    "pods",
    bodies.PodBody,
    _one(decode_pod),
    fields=_RUNNING,
    takes_labels=True,
    takes_namespace=True,
)
STATEFUL_PODS = replace(PODS, labels=STATEFUL_LABEL)
NODES = Resource(Kind.NODE, "", "nodes", bodies.NodeBody, _one(decode_node), is_required=False)
IMPORTS = Resource(
    Kind.SERVICE, "multicluster.x-k8s.io", "serviceimports", bodies.ImportBody, _one(decode_import), version="v1alpha1"
)
IMPORTED_SLICES = Resource(
    Kind.ENDPOINT_SLICE,
    "discovery.k8s.io",
    "endpointslices",
    bodies.SliceBody,
    _one(decode_imported_slice),
    labels=IMPORT_LABEL,
)
"""What the other clusters of a clusterset have given (KEP-1645)."""
