"""Clusters for tests: builders in few words, the corpus's own cluster, and how answers are written down."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from msgspec.structs import replace

from kubedns.cluster.objects import (
    Endpoint,
    EndpointPort,
    EndpointSlice,
    Namespace,
    Node,
    Object,
    Pod,
    Service,
    ServicePort,
)
from kubedns.dns.answer import Answer
from kubedns.dns.names import parse_name
from kubedns.dns.question import Question
from kubedns.dns.rdata import type_number
from kubedns.dns.trace import NO_TRACE, Trace
from kubedns.records.cluster_zone import ClusterZone
from kubedns.records.options import PodsMode, RecordOptions
from tests.records.plain_lister import PlainLister

CORPUS = Path(__file__).parents[1] / "conformance"
Json = dict[str, Any]
ZONES = tuple(map(parse_name, ("cluster.local.", "in-addr.arpa.", "ip6.arpa.")))


class TeamRetail:
    """The selector team=retail."""

    def matches(self, labels: dict[str, str]) -> bool:
        return labels.get("team") == "retail"


def options(**given: object) -> RecordOptions:
    """As the corpus's default profile has them, but for what is given."""
    return replace(RecordOptions(zones=ZONES, pods=PodsMode.INSECURE), **given)


def cluster_zone(objects: Sequence[Object], **given: object) -> ClusterZone:
    return ClusterZone(options(**given), PlainLister(objects))


def question(text: str) -> Question:
    """``NAME TYPE``; a name without final dot is below cluster.local."""
    name, rtype = text.split()
    number = type_number(rtype)
    assert number is not None
    return Question(parse_name(name if name.endswith(".") else f"{name}.cluster.local."), number)


def ask(zone: ClusterZone, text: str, trace: Trace = NO_TRACE) -> Answer:
    return zone.answer(question(text), trace)


def shown(answer: Answer) -> str:
    """``NXDOMAIN``, ``NODATA``, or the rdata of the answer section, with commas."""
    if answer.rcode:
        return answer.rcode.name
    return ", ".join(str(rdata) for rrset in answer.answer for rdata in rrset.rdatas) or "NODATA"


def packed(text: str) -> bytes:
    return ipaddress.ip_address(text).packed


def addresses(text: str) -> tuple[bytes, ...]:
    return tuple(map(packed, text.split()))


def service(where: str, ips: str = "", ports: str = "http/TCP/80", **given: object) -> Service:
    """``NAMESPACE/NAME``; ``ips`` with spaces between, ``None`` for headless; ``ports``: NAME/PROTOCOL/NUMBER."""
    namespace, name = where.split("/")
    found = tuple(ServicePort(each[0], each[1], int(each[2])) for each in (port.split("/") for port in ports.split()))
    headless = ips == "None"
    return replace(Service(namespace, name, () if headless else addresses(ips), found, headless), **given)


def endpoint(ips: str, **given: object) -> Endpoint:
    return replace(Endpoint(addresses(ips)), **given)


def endpoint_slice(where: str, of: str, *endpoints: Endpoint, ports: str = "http/TCP/80") -> EndpointSlice:
    namespace, name = where.split("/")
    found = tuple(EndpointPort(each[0], each[1], int(each[2])) for each in (port.split("/") for port in ports.split()))
    return EndpointSlice(namespace, name, of, found, endpoints)


def pod(where: str, ips: str, **given: object) -> Pod:
    namespace, name = where.split("/")
    return replace(Pod(namespace, name, "", addresses(ips)), **given)


def node(name: str, ips: str) -> Node:
    return Node(name, addresses(ips))


@cache
def corpus_objects() -> list[Object]:
    """The corpus's cluster."""
    documents = yaml.load_all((CORPUS / "cluster.yaml").read_text(), yaml.CSafeLoader)
    return [_object(document, document["metadata"]) for document in documents if document]


def _object(document: Json, metadata: Json) -> Object:
    match document["kind"]:
        case "Namespace":
            return Namespace(metadata["name"], metadata.get("labels", {}))
        case "Service":
            return _service(document, metadata)
        case "EndpointSlice":
            return _endpoint_slice(document, metadata)
    return _pod(document, metadata)


def _service(document: Json, metadata: Json) -> Service:
    spec = document["spec"]
    return Service(
        metadata["namespace"],
        metadata["name"],
        tuple(packed(each) for each in spec.get("clusterIPs", []) if each != "None"),
        tuple(ServicePort(each.get("name", ""), each["protocol"], each["port"]) for each in spec.get("ports", [])),
        spec.get("clusterIP") == "None",
        spec.get("externalName", ""),
        spec.get("publishNotReadyAddresses", False),
    )


def _endpoint_slice(document: Json, metadata: Json) -> EndpointSlice:
    endpoints = [] if document["addressType"] == "FQDN" else document["endpoints"]
    return EndpointSlice(
        metadata["namespace"],
        metadata["name"],
        metadata.get("labels", {}).get("kubernetes.io/service-name", ""),
        tuple(EndpointPort(each.get("name", ""), each["protocol"], each["port"]) for each in document["ports"]),
        tuple(_endpoint(each, each.get("conditions", {})) for each in endpoints),
    )


def _endpoint(found: Json, conditions: Json) -> Endpoint:
    ready = conditions.get("ready", True)
    return endpoint(
        " ".join(found["addresses"]),
        hostname=found.get("hostname", ""),
        pod=found.get("targetRef", {}).get("name", ""),
        ready=ready,
        serving=conditions.get("serving", ready),
        terminating=conditions.get("terminating", False),
    )


def _pod(document: Json, metadata: Json) -> Pod:
    status, spec = document["status"], document["spec"]
    ips = "" if status["phase"] == "Succeeded" else " ".join(each["ip"] for each in status.get("podIPs", []))
    where = f"{metadata['namespace']}/{metadata['name']}"
    return pod(where, ips, hostname=spec.get("hostname", ""), subdomain=spec.get("subdomain", ""))
