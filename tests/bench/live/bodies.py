"""A big cluster as an API server gives it: pages of lists and events, with all that a server writes into objects.

What it writes (managed fields, UIDs, owners) is most of an object, and is to be read past.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

from tests.bench.big_cluster import NAMESPACES, NODES, BigService, Manifest

PATHS = {
    "services": "/api/v1/services",
    "endpointslices": "/apis/discovery.k8s.io/v1/endpointslices",
    "namespaces": "/api/v1/namespaces",
    "pods": "/api/v1/pods",
    "nodes": "/api/v1/nodes",
}
"""The resources of which there are pages; of Pods none is of a StatefulSet."""
LIST_VERSION = 1_000_000
PAGE_OBJECTS = 500
_SPACE = UUID(int=0)
_TIME = "2024-05-01T08:00:00Z"


def service_body(service: BigService, version: int, cluster_ip: str | None = None) -> Manifest:
    """The Service as it is stored; with another ``cluster_ip``, after a change."""
    body, _ = service.manifests()
    if cluster_ip is not None:
        body["spec"].update(clusterIP=cluster_ip, clusterIPs=[cluster_ip])
    body["spec"].update(
        type="ClusterIP", sessionAffinity="None", ipFamilies=["IPv4"], ipFamilyPolicy="SingleStack",
        internalTrafficPolicy="Cluster", selector={"app": service.name},
    )  # fmt: skip
    return _stored({**body, "status": {"loadBalancer": {}}}, version, "kubectl-client-side-apply")


def slice_body(service: BigService, version: int, first_address: str | None = None) -> Manifest:
    """The EndpointSlice as it is stored; with another ``first_address``, after a change."""
    _, body = service.manifests()
    if first_address is not None:
        body["endpoints"][0]["addresses"] = [first_address]
    for endpoint in body["endpoints"]:
        endpoint["targetRef"]["uid"] = _uid(endpoint["targetRef"]["name"], service.namespace)
    metadata = body["metadata"]
    metadata["generateName"] = f"{service.name}-"
    metadata["labels"].update(
        {"app": service.name, "team": service.namespace, "tier": "backend"},
        **{"endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io"},
    )
    metadata["annotations"] = {"endpoints.kubernetes.io/last-change-trigger-time": _TIME}
    metadata["ownerReferences"] = [
        {
            "apiVersion": "v1", "kind": "Service", "name": service.name, "uid": _uid(service.name, service.namespace),
            "controller": True, "blockOwnerDeletion": True,
        }
    ]  # fmt: skip
    return _stored(body, version, "kube-controller-manager")


def write_pages(services: Sequence[BigService], folder: Path) -> None:
    """Write the bodies of all lists into ``folder``, the pages of each resource by number."""
    namespaces = sorted({f"team-{number:02d}" for number in range(NAMESPACES)})
    _write(folder, "services", (service_body(each, each.number + 1) for each in services))
    _write(folder, "endpointslices", (slice_body(each, each.number + 1) for each in services))
    _write(folder, "namespaces", (_stored({"metadata": _labelled(name)}, 1, "kubectl") for name in namespaces))
    _write(folder, "pods", ())
    _write(folder, "nodes", map(_node, range(NODES)))


def pages_of(folder: Path, plural: str) -> list[Path]:
    """The pages of a resource in their order."""
    return sorted(folder.glob(f"{plural}-*.json"))


def _write(folder: Path, plural: str, bodies: Iterable[Manifest]) -> None:
    listed = list(bodies)
    starts = range(0, max(len(listed), 1), PAGE_OBJECTS)
    for number, start in enumerate(starts, 1):
        page = listed[start : start + PAGE_OBJECTS]
        metadata = {"resourceVersion": str(LIST_VERSION)}
        if number < len(starts):
            metadata["continue"] = str(number)
        items = [{name: body[name] for name in body if name not in ("apiVersion", "kind")} for body in page]
        document = {"kind": "List", "apiVersion": "v1", "metadata": metadata, "items": items}
        (folder / f"{plural}-{number:03d}.json").write_bytes(octets_of(document))


def octets_of(document: Manifest) -> bytes:
    """JSON as a server writes it, on one line and without spaces."""
    return json.dumps(document, separators=(",", ":")).encode()


def _labelled(name: str) -> Manifest:
    return {"name": name, "labels": {"kubernetes.io/metadata.name": name}}


def _node(number: int) -> Manifest:
    name = f"node-{number:03d}"
    addresses = [{"type": "InternalIP", "address": f"172.16.{number >> 8}.{number & 255}"}]
    return _stored({"metadata": _labelled(name), "status": {"addresses": addresses}}, 1, "kubelet")


def _stored(body: Manifest, version: int, manager: str) -> Manifest:
    given = body["metadata"]
    fields = {
        "manager": manager, "operation": "Update", "apiVersion": body.get("apiVersion", "v1"), "time": _TIME,
        "fieldsType": "FieldsV1", "fieldsV1": _fields({**body, "metadata": {**given, "name": {}}}),
    }  # fmt: skip
    metadata = {
        **given, "uid": _uid(given["name"], given.get("namespace", "")), "resourceVersion": str(version),
        "creationTimestamp": _TIME, "managedFields": [fields],
    }  # fmt: skip
    return {**body, "metadata": metadata}


def _fields(body: Manifest) -> dict[str, Any]:
    """The fields that are set, as a server notes who has set them; lists count as one."""
    return {f"f:{name}": _fields(value) if isinstance(value, dict) else {} for name, value in body.items()}


def _uid(name: str, namespace: str) -> str:
    return str(uuid5(_SPACE, f"{namespace}/{name}"))
