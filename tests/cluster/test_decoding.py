from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import yaml
from msgspec import ValidationError, convert

from kubedns.cluster import bodies
from kubedns.cluster.checks import BadObjectError
from kubedns.cluster.decoding import (
    decode_endpoints,
    decode_namespace,
    decode_node,
    decode_pod,
    decode_service,
    decode_slice,
)
from kubedns.cluster.objects import (
    Endpoint,
    EndpointPort,
    EndpointSlice,
    Namespace,
    Node,
    Pod,
    Service,
    ServicePort,
)
from tests.support.clusters import addresses

KINDS: dict[str, tuple[type[bodies.Body], Callable[[Any, str], object]]] = {
    "Service": (bodies.ServiceBody, decode_service),
    "EndpointSlice": (bodies.SliceBody, decode_slice),
    "Endpoints": (bodies.EndpointsBody, decode_endpoints),
    "Pod": (bodies.PodBody, decode_pod),
    "Node": (bodies.NodeBody, decode_node),
    "Namespace": (bodies.NamespaceBody, decode_namespace),
}


def decode(kind: str, text: str) -> object:
    """``text`` is YAML without its metadata, unless it brings some: the object is shop/x then."""
    body, read = KINDS[kind]
    given = yaml.safe_load("{" + text + "}")
    return read(convert({"metadata": {"name": "x", "namespace": "shop"}, **given}, body), "f:1")


def service(ips: str = "", **given: Any) -> Service:  # noqa: ANN401
    ports = given.pop("ports", ())
    return Service("shop", "x", addresses(ips), ports, origin="f:1", **given)


HTTP = ServicePort("http", "TCP", 80)
SERVICES = {
    "no spec": ("", service()),
    "null spec": ("spec: null", service()),
    "one address": ("spec: {clusterIP: 10.0.0.1}", service("10.0.0.1")),
    "both families": ('spec: {clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1, "fd00::1"]}', service("10.0.0.1 fd00::1")),
    "None is headless": ("spec: {clusterIP: None}", service(is_headless=True)),
    "None in the list": ("spec: {clusterIP: None, clusterIPs: [None]}", service(is_headless=True)),
    "empty is none yet": ('spec: {clusterIP: "", clusterIPs: []}', service()),
    "ports": ("spec: {ports: [{port: 80, name: http}, {port: 53, protocol: UDP}]}",
              service(ports=(HTTP, ServicePort("", "UDP", 53)))),
    "null ports": ("spec: {ports: null}", service()),
    "alias": ("spec: {type: ExternalName, externalName: db.example.com}", service(external_name="db.example.com")),
    "an alias has no address": ("spec: {type: ExternalName, externalName: a.b, clusterIP: 10.0.0.1}",
                                service(external_name="a.b")),
    "externalName of no alias": ("spec: {externalName: a.b, clusterIP: 10.0.0.1}", service("10.0.0.1")),
    "external addresses are what it has, not what it asks for": (
        "spec: {clusterIP: 10.0.0.1, externalIPs: [192.0.2.1], loadBalancerIP: 192.0.2.2}, "
        "status: {loadBalancer: {ingress: [{ip: 192.0.2.3}, {ip: 192.0.2.1}, {hostname: lb.example}]}}",
        service("10.0.0.1", external_addresses=(bytes((192, 0, 2, 3)), bytes((192, 0, 2, 1))),
                external_host="lb.example")),
    "publishes what is not ready": ("spec: {clusterIP: None, publishNotReadyAddresses: true}",
                                    service(is_headless=True, publish_not_ready=True)),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), SERVICES.values(), ids=SERVICES)
def test_services(text: str, expected: Service) -> None:
    assert decode("Service", text) == expected


LABELLED = "metadata: {name: x, namespace: shop, labels: {kubernetes.io/service-name: web}}, addressType: IPv4"
ENDPOINTS = {
    # Conditions left open: ready, then serving as ready, and not terminating (discovery/v1).
    "nothing said": ("", {}),
    "null conditions": ("conditions: null", {}),
    "empty conditions": ("conditions: {}", {}),
    "null ready": ("conditions: {ready: null}", {}),
    "not ready": ("conditions: {ready: false}", {"ready": False, "serving": False}),
    "shutting down": ("conditions: {ready: false, serving: true, terminating: true}",
                      {"ready": False, "serving": True, "terminating": True}),
    "all else": ("hostname: a-0, nodeName: n-1, zone: z, targetRef: {kind: Pod, name: a-0, uid: u}",
                 {"hostname": "a-0", "node": "n-1", "zone": "z", "pod": "a-0", "pod_uid": "u"}),
    "target is no Pod": ("targetRef: {kind: VirtualMachine, name: a-0}", {}),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), ENDPOINTS.values(), ids=ENDPOINTS)
def test_endpoints_of_slices(text: str, expected: dict[str, Any]) -> None:
    found = decode("EndpointSlice", f"{LABELLED}, endpoints: [{{addresses: [10.0.0.1], {text}}}]")
    endpoint = Endpoint(addresses("10.0.0.1"), **expected)
    assert found == EndpointSlice("shop", "x", "web", (), (endpoint,), "f:1")


SLICES = {
    "null endpoints": ("endpoints: null, ports: null", (), ()),
    "null addresses": ("endpoints: [{addresses: null}]", (), (Endpoint(()),)),
    "ports": ("ports: [{name: http, port: 80}, {port: null}, {}]",
              (EndpointPort("http", "TCP", 80), EndpointPort("", "TCP", 0), EndpointPort("", "TCP", 0)), ()),
}  # fmt: skip


@pytest.mark.parametrize(("text", "ports", "endpoints"), SLICES.values(), ids=SLICES)
def test_slices(text: str, ports: tuple[EndpointPort, ...], endpoints: tuple[Endpoint, ...]) -> None:
    assert decode("EndpointSlice", f"{LABELLED}, {text}") == EndpointSlice("shop", "x", "web", ports, endpoints, "f:1")


def test_slice_of_names_has_no_endpoints() -> None:
    found = decode("EndpointSlice", "addressType: FQDN, endpoints: [{addresses: [db.example.com]}]")
    assert found == EndpointSlice("shop", "x", "", (), (), "f:1")


def test_endpoints_become_a_slice_for_each_subset_and_family() -> None:
    found = decode(
        "Endpoints",
        "subsets: [{addresses: [{ip: 10.0.0.1, hostname: a}, {ip: 'fd00::1'}],"
        " notReadyAddresses: [{ip: 10.0.0.2, targetRef: {kind: Pod, name: p}}], ports: [{port: 80}]},"
        " {addresses: null}]",
    )
    ports = (EndpointPort("", "TCP", 80),)
    late = Endpoint(addresses("10.0.0.2"), pod="p", ready=False, serving=False)
    four, six = Endpoint(addresses("10.0.0.1"), "a"), Endpoint(addresses("fd00::1"))
    assert found == (
        EndpointSlice("shop", "x-0-ipv4", "x", ports, (four, late), "f:1"),
        EndpointSlice("shop", "x-0-ipv6", "x", ports, (six,), "f:1"),
    )


PODS = {
    "both families": ("status: {podIP: 10.0.0.1, podIPs: [{ip: 10.0.0.1}, {ip: 'fd00::1'}]}", "10.0.0.1 fd00::1"),
    "older status": ("status: {podIP: 10.0.0.1}", "10.0.0.1"),
    "no status": ("status: null", ""),
    "finished": ("status: {podIP: 10.0.0.1, phase: Succeeded}", ""),
    "failed": ("status: {podIP: 10.0.0.1, phase: Failed}", ""),
    "its node's": ("spec: {hostNetwork: true}, status: {podIP: 10.0.0.1, phase: Running}", ""),
}


@pytest.mark.parametrize(("text", "ips"), PODS.values(), ids=PODS)
def test_addresses_that_pods_own(text: str, ips: str) -> None:
    assert decode("Pod", text) == Pod("shop", "x", "", addresses(ips), origin="f:1")


def test_names_that_pods_have() -> None:
    text = (
        "metadata: {name: db-0, uid: u-1, labels: {statefulset.kubernetes.io/pod-name: db-0}},"
        " spec: {hostname: h, subdomain: db, nodeName: n-1}"
    )
    assert decode("Pod", text) == Pod("default", "db-0", "u-1", (), "h", "db", "db-0", "n-1", "f:1")


@pytest.mark.parametrize(("value", "name"), [("db-0", "db-0"), ("DB-0", "db-0"), ("db.0", ""), ("d" * 64, "")])
def test_a_statefulsets_pod_has_a_name_only_if_it_is_a_label(value: str, name: str) -> None:
    text = f"metadata: {{name: db-0, labels: {{statefulset.kubernetes.io/pod-name: {value}}}}}"
    assert decode("Pod", text) == Pod("default", "db-0", "", (), stateful_name=name, origin="f:1")


LABELS = {
    "hostname": ("EndpointSlice", "addressType: IPv4, endpoints: [{hostname: A-0}]", "endpoints[0].hostname", "a-0"),
    "slice port": ("EndpointSlice", "addressType: IPv4, ports: [{name: HTTP, port: 80}]", "ports[0].name", "http"),
    "old hostname": ("Endpoints", "subsets: [{addresses: [{ip: 10.0.0.1, hostname: A}]}]",
                     "[0].endpoints[0].hostname", "a"),
    "service port": ("Service", "spec: {ports: [{port: 80, name: Http}]}", "ports[0].name", "http"),
    "pod": ("Pod", "spec: {hostname: H, subdomain: DB}", "hostname", "h"),
    "pod's service": ("Pod", "spec: {hostname: H, subdomain: DB}", "subdomain", "db"),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "text", "place", "label"), LABELS.values(), ids=LABELS)
def test_labels_are_folded_as_questions_are(kind: str, text: str, place: str, label: str) -> None:
    found: Any = decode(kind, text)
    for step in place.replace("[", ".").replace("]", "").strip(".").split("."):
        found = found[int(step)] if step.isdecimal() else getattr(found, step)
    assert found == label


def test_nodes_have_their_internal_addresses() -> None:
    text = "status: {addresses: [{type: Hostname, address: x}, {type: InternalIP, address: 10.0.0.1}]}"
    assert decode("Node", text) == Node("x", addresses("10.0.0.1"), "f:1")


def test_namespaces_have_the_label_that_each_has() -> None:
    found = decode("Namespace", "metadata: {name: shop, labels: {team: retail, kubernetes.io/metadata.name: other}}")
    assert found == Namespace("shop", {"team": "retail", "kubernetes.io/metadata.name": "shop"}, "f:1")


BAD = {
    # Kind and text → the field that is named.
    "no address": ("Service", "spec: {clusterIP: 999.1.1.1}", "spec.clusterIP"),
    "second of several": ("Service", "spec: {clusterIPs: [10.0.0.1, 10.0.0.01]}", "spec.clusterIPs[1]"),
    "address with a zone": ("Service", "spec: {clusterIP: 'fe80::1%eth0'}", "spec.clusterIP"),
    "digits of other scripts": ("Service", "spec: {clusterIP: 10.0.0.١}", "spec.clusterIP"),
    "port 0": ("Service", "spec: {ports: [{port: 80}, {port: 0}]}", "spec.ports[1].port"),
    "port 65536": ("Service", "spec: {ports: [{port: 65536}]}", "spec.ports[0].port"),
    "protocol": ("Service", "spec: {ports: [{port: 80, protocol: tcp}]}", "spec.ports[0].protocol"),
    "port name": ("Service", "spec: {ports: [{port: 80, name: a.b}]}", "spec.ports[0].name"),
    "no target": ("Service", "spec: {type: ExternalName}", "spec.externalName"),
    "NUL in target": ("Service", 'spec: {type: ExternalName, externalName: "a\\0b"}', "spec.externalName"),
    "empty label": ("Service", "spec: {type: ExternalName, externalName: a..b}", "spec.externalName"),
    "NUL in name": ("Service", 'metadata: {name: "a\\0b"}', "metadata.name"),
    "newline behind name": ("Service", 'metadata: {name: "a\\n"}', "metadata.name"),
    "upper case": ("Service", "metadata: {name: Web}", "metadata.name"),
    "empty name": ("Service", 'metadata: {name: ""}', "metadata.name"),
    "long name": ("Service", f"metadata: {{name: {'a' * 64}}}", "metadata.name"),
    "dots in a namespace": ("Pod", "metadata: {name: a, namespace: b.c}", "metadata.namespace"),
    "slash in a namespace": ("Pod", "metadata: {name: a, namespace: b/c}", "metadata.namespace"),
    "hostname": ("EndpointSlice", 'addressType: IPv4, endpoints: [{hostname: "a\\0b"}]', "endpoints[0].hostname"),
    "dots in a hostname": ("EndpointSlice", "addressType: IPv4, endpoints: [{hostname: a.b}]", "endpoints[0].hostname"),
    "node": ("EndpointSlice", 'addressType: IPv4, endpoints: [{nodeName: "a\\nb"}]', "endpoints[0].nodeName"),
    "slice address": ("EndpointSlice", "addressType: IPv4, endpoints: [{}, {addresses: [1.2.3]}]",
                      "endpoints[1].addresses[0]"),
    "old address": ("Endpoints", "subsets: [{notReadyAddresses: [{ip: ''}]}]", "subsets[0].notReadyAddresses[0].ip"),
    "pod address": ("Pod", "status: {podIP: x}", "status.podIP"),
    "pod addresses": ("Pod", "status: {podIPs: [{ip: x}]}", "status.podIPs[0].ip"),
    "node address": ("Node", "status: {addresses: [{type: ExternalIP, address: x}, {type: InternalIP, address: x}]}",
                     "status.addresses[1].address"),
    "subdomain": ("Pod", "spec: {subdomain: a b}", "spec.subdomain"),
    "uid": ("Pod", 'metadata: {name: a, uid: "a b"}', "metadata.uid"),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "text", "field"), BAD.values(), ids=BAD)
def test_the_field_of_a_bad_value_is_named(kind: str, text: str, field: str) -> None:
    with pytest.raises(BadObjectError) as caught:
        decode(kind, text)
    assert caught.value.field == field
    assert "\n" not in str(caught.value)
    assert "\0" not in str(caught.value)


WRONG_TYPES = {
    "null metadata": ("Service", "metadata: null", "$.metadata"),
    "no name": ("Service", "metadata: {}", "$.metadata"),
    "port in words": ("Service", "spec: {ports: [{port: http}]}", "$.spec.ports[0].port"),
    "list for one": ("Service", "spec: []", "$.spec"),
    "no addressType": ("EndpointSlice", "endpoints: []", "missing required field"),
    "address is a number": ("EndpointSlice", "addressType: IPv4, endpoints: [{addresses: [1]}]", "endpoints[0].addr"),
    "label is a number": ("Namespace", "metadata: {name: a, labels: {b: 1}}", "$.metadata.labels"),
    "family": ("Service", "spec: {ipFamilies: [IPv5]}", "$.spec.ipFamilies[0]"),
}


@pytest.mark.parametrize(("kind", "text", "field"), WRONG_TYPES.values(), ids=WRONG_TYPES)
def test_the_field_of_a_wrong_type_is_named(kind: str, text: str, field: str) -> None:
    with pytest.raises(ValidationError) as caught:
        decode(kind, text)
    assert field in str(caught.value)


def test_what_many_objects_share_is_one_string() -> None:
    text = f"{LABELLED}, ports: [{{name: http}}], endpoints: [{{nodeName: worker-1, zone: zone-1}}]"
    first, second = decode("EndpointSlice", text), decode("EndpointSlice", text)
    assert isinstance(first, EndpointSlice)
    assert isinstance(second, EndpointSlice)
    assert first.namespace is second.namespace
    assert first.service is second.service
    assert first.ports[0].name is second.ports[0].name
    assert (first.endpoints[0].node, first.endpoints[0].zone) == ("worker-1", "zone-1")
    assert first.endpoints[0].node is second.endpoints[0].node
    assert first.endpoints[0].zone is second.endpoints[0].zone
