"""Objects as the API writes them, with only the fields that are read; everything else in a document is stepped over.

What is null counts as left out, as for the API server; a wrong type is msgspec.ValidationError, which names the field.
"""

from __future__ import annotations

from typing import Literal

import msgspec

Labels = dict[str, str]


class Body(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """Part of an API object: fields in camelCase there, in snake_case here."""


class Metadata(Body, frozen=True):
    """``metadata`` of any object."""

    name: str
    namespace: str | None = None
    labels: Labels | None = None
    annotations: Labels | None = None
    uid: str | None = None
    resource_version: str | None = None


class Reference(Body, frozen=True):
    """Another object: an endpoint's ``targetRef``, or an owner."""

    kind: str | None = None
    name: str | None = None
    uid: str | None = None


class OwnedMetadata(Metadata, frozen=True):
    """``metadata`` of what controllers make: ``owner_references`` say which."""

    owner_references: list[Reference] | None = None


class ObjectBody(Body, frozen=True):
    """Any object: what names it."""

    metadata: Metadata


class ServicePortBody(Body, frozen=True):
    """One of a Service's ports; ``target_port`` is a number or the name of a container's port."""

    port: int
    name: str | None = None
    protocol: str | None = None
    target_port: int | str | None = None


class ServiceSpec(Body, frozen=True):
    """``spec`` of a Service."""

    type: str | None = None
    cluster_ip: str | None = msgspec.field(name="clusterIP", default=None)
    cluster_ips: list[str] | None = msgspec.field(name="clusterIPs", default=None)
    external_name: str | None = None
    selector: Labels | None = None
    ports: list[ServicePortBody] | None = None
    ip_families: list[Literal["IPv4", "IPv6"]] | None = None
    ip_family_policy: str | None = None
    publish_not_ready_addresses: bool | None = None
    external_ips: list[str] | None = msgspec.field(name="externalIPs", default=None)


class Ingress(Body, frozen=True):
    """A point of a load balancer: an address or a name."""

    ip: str | None = None
    hostname: str | None = None


class LoadBalancer(Body, frozen=True):
    """``status.loadBalancer`` of a Service."""

    ingress: list[Ingress] | None = None


class ServiceStatus(Body, frozen=True):
    """``status`` of a Service."""

    load_balancer: LoadBalancer | None = None


class ServiceBody(ObjectBody, frozen=True):
    """A Service."""

    spec: ServiceSpec | None = None
    status: ServiceStatus | None = None


class Conditions(Body, frozen=True):
    """``conditions`` of an endpoint; left open means unknown."""

    ready: bool | None = None
    serving: bool | None = None
    terminating: bool | None = None


class EndpointBody(Body, frozen=True):
    """One endpoint of a slice."""

    addresses: list[str] | None = None
    conditions: Conditions | None = None
    hostname: str | None = None
    target_ref: Reference | None = None
    node_name: str | None = None
    zone: str | None = None


class PortBody(Body, frozen=True):
    """A port of a slice or of Endpoints."""

    name: str | None = None
    protocol: str | None = None
    port: int | None = None


class SliceBody(ObjectBody, frozen=True):
    """An EndpointSlice."""

    address_type: str
    endpoints: list[EndpointBody] | None = None
    ports: list[PortBody] | None = None


class ImportSpec(Body, frozen=True):
    """``spec`` of a ServiceImport."""

    type: Literal["ClusterSetIP", "Headless"] | None = None
    ips: list[str] | None = None
    ports: list[ServicePortBody] | None = None


class ImportBody(ObjectBody, frozen=True):
    """A ServiceImport (Multi-Cluster Services API, KEP-1645)."""

    spec: ImportSpec | None = None


class EndpointAddress(Body, frozen=True):
    """One address of Endpoints."""

    ip: str
    hostname: str | None = None
    node_name: str | None = None
    target_ref: Reference | None = None


class Subset(Body, frozen=True):
    """Addresses of Endpoints that share their ports."""

    addresses: list[EndpointAddress] | None = None
    not_ready_addresses: list[EndpointAddress] | None = None
    ports: list[PortBody] | None = None


class EndpointsBody(ObjectBody, frozen=True):
    """Endpoints, the form of clusters without EndpointSlices."""

    subsets: list[Subset] | None = None


class ContainerPort(Body, frozen=True):
    """A port that a container names."""

    container_port: int
    name: str | None = None
    protocol: str | None = None


class Container(Body, frozen=True):
    """A container of a Pod."""

    ports: list[ContainerPort] | None = None


class PodSpec(Body, frozen=True):
    """``spec`` of a Pod or of a template."""

    hostname: str | None = None
    subdomain: str | None = None
    node_name: str | None = None
    host_network: bool | None = None
    containers: list[Container] | None = None


class PodAddress(Body, frozen=True):
    """One of a Pod's addresses."""

    ip: str


class PodCondition(Body, frozen=True):
    """One of a Pod's conditions; ``status`` is True, False or Unknown."""

    type: str
    status: str


class PodStatus(Body, frozen=True):
    """``status`` of a Pod."""

    phase: str | None = None
    pod_ip: str | None = msgspec.field(name="podIP", default=None)
    pod_ips: list[PodAddress] | None = msgspec.field(name="podIPs", default=None)
    conditions: list[PodCondition] | None = None


class PodBody(ObjectBody, frozen=True):
    """A Pod."""

    metadata: OwnedMetadata
    spec: PodSpec | None = None
    status: PodStatus | None = None


class HostStatus(Body, frozen=True):
    """``status`` of a Pod, where only its node is asked for."""

    host_ip: str | None = msgspec.field(name="hostIP", default=None)


class HostedPodBody(ObjectBody, frozen=True):
    """A Pod, of which only the node is asked for."""

    status: HostStatus | None = None


class NodeAddress(Body, frozen=True):
    """One of a Node's addresses, of type InternalIP, ExternalIP, Hostname …."""

    type: str
    address: str


class NodeStatus(Body, frozen=True):
    """``status`` of a Node."""

    addresses: list[NodeAddress] | None = None


class NodeBody(ObjectBody, frozen=True):
    """A Node."""

    status: NodeStatus | None = None


class NamespaceBody(ObjectBody, frozen=True):
    """A Namespace."""


class TemplateMetadata(Body, frozen=True):
    """``metadata`` of a pod template, which has no name."""

    labels: Labels | None = None
    annotations: Labels | None = None


class Template(Body, frozen=True):
    """What a workload makes its Pods from."""

    metadata: TemplateMetadata | None = None
    spec: PodSpec | None = None


class Ordinals(Body, frozen=True):
    """Where a StatefulSet begins to count."""

    start: int | None = None


class WorkloadSpec(Body, frozen=True):
    """``spec`` of a Deployment, ReplicaSet, StatefulSet or DaemonSet."""

    template: Template
    replicas: int | None = None
    service_name: str | None = None
    ordinals: Ordinals | None = None


class WorkloadBody(ObjectBody, frozen=True):
    """A Deployment, ReplicaSet, StatefulSet or DaemonSet."""

    metadata: OwnedMetadata
    spec: WorkloadSpec
