"""Kubernetes objects with only the fields that kubedns uses: frozen, slotted, compact.

Addresses are packed octets (4 or 16). ``origin`` is where an object came from, ``FILE:LINE`` or
``resourceVersion N``, for people. Strings that many objects share (namespaces, nodes, zones, file names) are interned
by whoever makes the objects. Written down (cluster.snapshot) an object has its kind as a tag, and no field that is as
it is by default.
"""

from __future__ import annotations

from enum import Enum

import msgspec


class Kind(Enum):
    """The kinds that the store keeps; the value is the kind's name in the API."""

    SERVICE = "Service"
    ENDPOINT_SLICE = "EndpointSlice"
    POD = "Pod"
    NODE = "Node"
    NAMESPACE = "Namespace"

    # Members are compared by identity; Enum hashes their names, at several times the cost, in every look-up by kind.
    __hash__ = object.__hash__


class ServicePort(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A port of a Service. ``name`` may be empty; ``protocol`` is TCP, UDP or SCTP; ``number`` 1..65535."""

    name: str
    protocol: str
    number: int


class Service(msgspec.Struct, frozen=True, gc=False, tag=True, omit_defaults=True):
    """A Service. ``cluster_ips`` is empty for headless and ExternalName ones; ``external_name`` for all others.

    ``external_addresses``: those of its load balancer and its externalIPs, ``external_host``: the load balancer's name
    where it has that alone. Anyone who may write Services can claim any, so no name of the cluster's zones leads there.
    """

    namespace: str
    name: str
    cluster_ips: tuple[bytes, ...]
    ports: tuple[ServicePort, ...]
    is_headless: bool = False
    external_name: str = ""
    publish_not_ready: bool = False
    origin: str = ""
    external_addresses: tuple[bytes, ...] = ()
    external_host: str = ""


class EndpointPort(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A port of a slice: where its endpoints listen. ``number`` is 0 where the slice leaves it open."""

    name: str
    protocol: str
    number: int


class Endpoint(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One endpoint of a slice. ``ready`` and ``serving`` are true where the API leaves them open, as it demands.

    ``pod`` and ``pod_uid`` are the target's, empty if it is no Pod; ``node`` and ``zone`` may be empty.
    """

    addresses: tuple[bytes, ...]
    hostname: str = ""
    pod: str = ""
    pod_uid: str = ""
    node: str = ""
    zone: str = ""
    ready: bool = True
    serving: bool = True
    terminating: bool = False


class EndpointSlice(msgspec.Struct, frozen=True, gc=False, tag=True, omit_defaults=True):
    """Endpoints of one Service, of one address family. ``service`` is empty for a slice that names no Service.

    ``cluster``: the one that the endpoints are in, where they have been imported.
    """

    namespace: str
    name: str
    service: str
    ports: tuple[EndpointPort, ...]
    endpoints: tuple[Endpoint, ...]
    origin: str = ""
    cluster: str = ""


class Pod(msgspec.Struct, frozen=True, gc=False, tag=True, omit_defaults=True):
    """A Pod. ``addresses`` is empty once it is finished or while it runs in the host's network (it owns none then).

    ``stateful_name`` is its label statefulset.kubernetes.io/pod-name, empty for pods of no StatefulSet.
    """

    namespace: str
    name: str
    uid: str
    addresses: tuple[bytes, ...]
    hostname: str = ""
    subdomain: str = ""
    stateful_name: str = ""
    node: str = ""
    origin: str = ""


class Node(msgspec.Struct, frozen=True, gc=False, tag=True, omit_defaults=True):
    """A Node; ``addresses`` are its InternalIPs. ``namespace`` is always empty, so that all objects look alike."""

    name: str
    addresses: tuple[bytes, ...]
    origin: str = ""
    namespace: str = ""


class Namespace(msgspec.Struct, frozen=True, gc=False, tag=True, omit_defaults=True):
    """A Namespace with its labels. ``namespace`` is always empty, so that all objects look alike."""

    name: str
    labels: dict[str, str]
    origin: str = ""
    namespace: str = ""


Object = Service | EndpointSlice | Pod | Node | Namespace


class ObjectKey(msgspec.Struct, frozen=True, gc=False):
    """What names an object: kind, namespace (empty for Nodes and Namespaces) and name."""

    kind: Kind
    namespace: str
    name: str
