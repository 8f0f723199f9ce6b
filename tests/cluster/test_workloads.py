"""What manifests make of a cluster: a line for each object, read from YAML as a developer would write it."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator

import pytest

from kubedns.cluster.objects import EndpointSlice, Namespace, Node, Object, Pod, Service
from kubedns.cluster.selectors import LabelSelector, parse_selector
from kubedns.cluster.sources.documents import read_documents
from kubedns.cluster.workloads import Expansion, Networks, expand

IPV4 = Networks((ipaddress.ip_network("10.96.0.0/24"),), (ipaddress.ip_network("10.244.0.0/24"),))
DUAL = Networks(
    (*IPV4.services, ipaddress.ip_network("fd00:96::/112")), (*IPV4.pods, ipaddress.ip_network("fd00:244::/64"))
)


def expanded(text: str, networks: Networks = IPV4, selector: LabelSelector | None = None) -> Expansion:
    content = read_documents(text.encode(), "m.yaml", selector or LabelSelector())
    assert content.faults == []
    return expand(content.documents.values(), networks, selector or LabelSelector())


def lines(objects: Iterable[Object]) -> list[str]:
    """One for each object, made-up parts left out: addresses are shown as written or as ``4`` and ``6``."""
    return sorted(line for item in objects for line in _lines(item))


def _lines(item: Object) -> Iterator[str]:
    match item:
        case Service():
            yield _joined("Service", item.name, *map(_shown, item.cluster_ips), item.is_headless and "headless")
        case EndpointSlice():
            ports = ",".join(f"{port.name or '-'}:{port.number}" for port in item.ports)
            for end in item.endpoints:
                state = ("ready" if end.ready else "unready") + ("" if end.serving else ",broken")
                at = "+".join(map(_shown, end.addresses))
                yield _joined("endpoint", item.service, end.pod and _name(end.pod), at, ports, state, end.hostname)
        case Pod():
            below = item.subdomain and f"{item.hostname}.{item.subdomain}"
            yield _joined(
                "Pod", _name(item.name), "+".join(map(_shown, item.addresses)), below, item.node and f"on {item.node}"
            )
        case Node():
            yield _joined("Node", item.name, *map(_shown, item.addresses))
        case Namespace():
            yield _joined("Namespace", item.name, item.origin == "made up" and "made up")


def _joined(*words: str | bool) -> str:
    return " ".join(word for word in words if isinstance(word, str) and word)


def _name(pod: str) -> str:
    """A generated name without what was generated."""
    stem, dash, last = pod.rpartition("-")
    return pod if not dash or last.isdecimal() else f"{stem.split('-')[0]}-*"


def _shown(address: bytes) -> str:
    networks = (*DUAL.services, *DUAL.pods)
    parsed = ipaddress.ip_address(address)
    is_made_up = any(parsed in network for network in networks if network.version == parsed.version)
    return str(parsed.version) if is_made_up else str(parsed)


def service(spec: str, name: str = "web") -> str:
    return f"apiVersion: v1\nkind: Service\nmetadata: {{name: {name}}}\nspec: {{{spec}}}\n---\n"


def workload(kind: str, spec: str = "", template: str = "", name: str = "web", metadata: str = "") -> str:
    return (
        f"apiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: {name}, {metadata}}}\n"
        f"spec: {{{spec}{', ' if spec else ''}template: {{metadata: {{labels: {{app: {name}}}}}, {template}}}}}\n---\n"
    )


def pod(name: str, rest: str = "", metadata: str = "") -> str:
    labels = "" if "labels" in metadata else "labels: {app: web}, "
    return f"apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, {labels}{metadata}}}\n{rest}\n---\n"


SELECTING = "selector: {app: web}, ports: [{port: 80, targetPort: 8080}]"
CONTAINER = "spec: {containers: [{ports: [{name: web, containerPort: 9376}]}]}"
SLICE = """apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: s, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
endpoints: [{addresses: [127.0.0.5]}]
---
"""
OLD = "apiVersion: v1\nkind: Endpoints\nmetadata: {name: web}\nsubsets: [{addresses: [{ip: 127.0.0.6}]}]\n---\n"
NODES = "".join(
    f"apiVersion: v1\nkind: Node\nmetadata: {{name: n-{number}}}\n"
    f"status: {{addresses: [{{type: InternalIP, address: 127.0.1.{number}}}]}}\n---\n"
    for number in (1, 2)
)
OWNED = "ownerReferences: [{kind: Deployment, name: web}]"
MADE_UP = ["Namespace default made up", "Node laptop 127.0.0.1"]

CASES: dict[str, tuple[str, list[str]]] = {
    "deployment": (
        service(SELECTING) + workload("Deployment", "replicas: 2"),
        [*MADE_UP, *["Pod web-* 4 on laptop"] * 2, "Service web 4", *["endpoint web web-* 4 -:8080 ready"] * 2],
    ),
    "one replica unless said": (workload("ReplicaSet"), [*MADE_UP, "Pod web-* 4 on laptop"]),
    "no replicas": (workload("Deployment", "replicas: 0"), MADE_UP),
    "statefulset": (
        service("clusterIP: None, " + SELECTING) + workload("StatefulSet", "replicas: 2, serviceName: web"),
        [
            *MADE_UP, "Pod web-0 4 web-0.web on laptop", "Pod web-1 4 web-1.web on laptop", "Service web headless",
            "endpoint web web-0 4 -:8080 ready web-0", "endpoint web web-1 4 -:8080 ready web-1",
        ],
    ),
    "statefulset that counts from elsewhere": (
        workload("StatefulSet", "replicas: 2, ordinals: {start: 5}"),
        [*MADE_UP, "Pod web-5 4 on laptop", "Pod web-6 4 on laptop"],
    ),
    "statefulset of another service": (
        service(SELECTING) + workload("StatefulSet", "serviceName: other"),
        [*MADE_UP, "Pod web-0 4 web-0.other on laptop", "Service web 4", "endpoint web web-0 4 -:8080 ready"],
    ),
    "one pod of a statefulset": (
        service("selector: {statefulset.kubernetes.io/pod-name: web-1}")
        + workload("StatefulSet", "replicas: 2, serviceName: web"),
        [
            *MADE_UP, "Pod web-0 4 web-0.web on laptop", "Pod web-1 4 web-1.web on laptop", "Service web 4",
            "endpoint web web-1 4 ready web-1",
        ],
    ),
    "daemonset on given nodes": (
        NODES + workload("DaemonSet"),
        ["Namespace default made up", "Node n-1 127.0.1.1", "Node n-2 127.0.1.2", "Pod web-* 4 on n-1",
         "Pod web-* 4 on n-2"],
    ),
    "replicas in turn on given nodes": (
        NODES + workload("StatefulSet", "replicas: 3"),
        ["Namespace default made up", "Node n-1 127.0.1.1", "Node n-2 127.0.1.2", "Pod web-0 4 on n-1",
         "Pod web-1 4 on n-2", "Pod web-2 4 on n-1"],
    ),
    "in their node's network": (
        NODES + service(SELECTING) + workload("DaemonSet", "", "spec: {hostNetwork: true}"),
        ["Namespace default made up", "Node n-1 127.0.1.1", "Node n-2 127.0.1.2", "Pod web-* on n-1",
         "Pod web-* on n-2", "Service web 4", "endpoint web web-* 127.0.1.1 -:8080 ready",
         "endpoint web web-* 127.0.1.2 -:8080 ready"],
    ),
    "not ready by the template": (
        service("clusterIP: None, " + SELECTING)
        + workload("StatefulSet", "serviceName: web", CONTAINER).replace(
            "metadata: {labels", 'metadata: {annotations: {kubedns.io/ready: "false"}, labels'
        ),
        [*MADE_UP, "Pod web-0 4 web-0.web on laptop", "Service web headless",
         "endpoint web web-0 4 -:8080 unready,broken web-0"],
    ),
    "not ready by the workload, published all the same": (
        service("clusterIP: None, publishNotReadyAddresses: true, " + SELECTING)
        + workload("StatefulSet", "serviceName: web", metadata='annotations: {kubedns.io/ready: "false"}'),
        [*MADE_UP, "Pod web-0 4 web-0.web on laptop", "Service web headless",
         "endpoint web web-0 4 -:8080 ready,broken web-0"],
    ),
    "bare pods": (
        service("clusterIP: None, " + SELECTING, "peers")
        + pod("a", "spec: {hostname: first, subdomain: peers}")
        + pod("b", "status: {podIP: 127.0.0.9}")
        + pod("c", "", 'annotations: {kubedns.io/ready: "false"}')
        + pod("d", "status: {podIP: 127.0.0.8, phase: Running, conditions: [{type: Ready, status: 'False'}]}"),
        ["Namespace default made up", "Pod a 4 first.peers", "Pod b 127.0.0.9", "Pod c 4",
         "Pod d 127.0.0.8", "Service peers headless", "endpoint peers a 4 -:8080 ready first",
         "endpoint peers b 127.0.0.9 -:8080 ready", "endpoint peers c 4 -:8080 unready,broken",
         "endpoint peers d 127.0.0.8 -:8080 unready,broken"],
    ),
    "pods that do not run": (
        service(SELECTING) + pod("a", "status: {phase: Pending}") + pod("b", "status: {phase: Succeeded}")
        + pod("c", "status: {phase: Failed, podIP: 127.0.0.9}"),
        ["Namespace default made up", "Pod a", "Pod b", "Pod c", "Service web 4"],
    ),
    "a pod in its node's network, with status": (
        service(SELECTING) + pod("a", "spec: {hostNetwork: true}\nstatus: {podIP: 127.0.0.9, phase: Running}"),
        ["Namespace default made up", "Pod a", "Service web 4", "endpoint web a 127.0.0.9 -:8080 ready"],
    ),
    "target port by name, where the pod has it": (
        service("selector: {app: web}, ports: [{name: a, port: 80, targetPort: web}, {name: b, port: 90}]")
        + pod("p", CONTAINER) + pod("q"),
        ["Namespace default made up", "Pod p 4", "Pod q 4", "Service web 4", "endpoint web p 4 a:9376,b:90 ready",
         "endpoint web q 4 b:90 ready"],
    ),
    "a slice that is given wins": (
        service(SELECTING) + pod("a") + SLICE + OLD,
        ["Namespace default made up", "Pod a 4", "Service web 4", "endpoint web 127.0.0.5 ready"],
    ),
    "endpoints that are given win": (
        service(SELECTING) + pod("a") + OLD,
        ["Namespace default made up", "Pod a 4", "Service web 4", "endpoint web 127.0.0.6 ready"],
    ),
    "an empty selector selects nothing": (
        service("selector: {}") + pod("a"), ["Namespace default made up", "Pod a 4", "Service web 4"],
    ),
    "all labels must be there": (
        service("selector: {app: web, tier: front}") + pod("a"),
        ["Namespace default made up", "Pod a 4", "Service web 4"],
    ),
    "what has its own address keeps it": (service("clusterIP: 127.0.0.7"),
                                          ["Namespace default made up", "Service web 127.0.0.7"]),
    "an alias needs none": (service("type: ExternalName, externalName: a.b, selector: {app: web}") + pod("a"),
                            ["Namespace default made up", "Pod a 4", "Service web"]),
    "what a cluster worked out before": (
        service(SELECTING) + workload("Deployment", "replicas: 2")
        + workload("ReplicaSet", "replicas: 2", name="web-5f", metadata=OWNED)
        + pod("web-5f-x", "status: {podIP: 127.0.0.9}", "ownerReferences: [{kind: ReplicaSet, name: web-5f}]"),
        [*MADE_UP, "Pod web-* 127.0.0.9", "Service web 4", "endpoint web web-* 127.0.0.9 -:8080 ready"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_what_is_there(text: str, expected: list[str]) -> None:
    assert lines(expanded(text).objects) == sorted(expected)


FAMILIES = {
    "": ["Service web 4", "endpoint web a 4 ready", "endpoint web a 6 ready"],
    "ipFamilies: [IPv6]": ["Service web 6", "endpoint web a 6 ready"],
    "ipFamilies: [IPv6, IPv4]": ["Service web 6 4", "endpoint web a 4 ready", "endpoint web a 6 ready"],
    "ipFamilyPolicy: PreferDualStack": ["Service web 4 6", "endpoint web a 4 ready", "endpoint web a 6 ready"],
    "ipFamilyPolicy: SingleStack, ipFamilies: [IPv4]": ["Service web 4", "endpoint web a 4 ready"],
    "clusterIP: None, ipFamilies: [IPv4]": ["Service web headless", "endpoint web a 4 ready"],
}


@pytest.mark.parametrize("spec", FAMILIES)
def test_families(spec: str) -> None:
    found = lines(expanded(service(f"selector: {{app: web}}, {spec}") + pod("a"), DUAL).objects)
    assert found == sorted(["Namespace default made up", "Pod a 4+6", *FAMILIES[spec]])


def test_a_family_without_a_network_is_left_out() -> None:
    assert "Service web 4" in lines(expanded(service("ipFamilies: [IPv6]")).objects)


def test_pods_that_the_label_selector_does_not_want_are_endpoints_only() -> None:
    text = service(SELECTING).replace("{name: web}", "{name: web, labels: {team: a}}") + pod("p")
    found = lines(expanded(text, selector=parse_selector("team=a")).objects)
    assert found == ["Namespace default made up", "Service web 4", "endpoint web p 4 -:8080 ready"]


def test_services_that_the_label_selector_does_not_want_are_not_there() -> None:
    found = lines(expanded(service(SELECTING) + pod("p") + SLICE, selector=parse_selector("!app,team=a")).objects)
    assert found == []


WHOLE = service(SELECTING) + workload("Deployment", "replicas: 3") + workload("StatefulSet", "replicas: 3", name="db")


def made_up(text: str) -> dict[str, tuple[bytes, ...]]:
    """The addresses by their owners."""
    found = expanded(text).objects
    return {
        f"{type(item).__name__} {item.name}": item.cluster_ips if isinstance(item, Service) else item.addresses
        for item in found
        if isinstance(item, Service | Pod)
    }


def test_the_same_manifests_get_the_same_addresses() -> None:
    documents = WHOLE.split("---\n")
    assert made_up(WHOLE) == made_up("---\n".join(reversed(documents)))


EDITS = {
    "more replicas": WHOLE.replace("replicas: 3", "replicas: 4"),
    "fewer replicas": WHOLE.replace("replicas: 3", "replicas: 2"),
    "another service": WHOLE + service(SELECTING, "api"),
    "another workload": WHOLE + workload("DaemonSet", name="cache"),
    "one less": workload("Deployment", "replicas: 3"),
}


@pytest.mark.parametrize("edited", EDITS.values(), ids=EDITS)
def test_an_edit_moves_nothing_else(edited: str) -> None:
    before, after = made_up(WHOLE), made_up(edited)
    stayed = before.keys() & after.keys()
    assert len(stayed) >= 3
    assert {owner: before[owner] for owner in stayed} == {owner: after[owner] for owner in stayed}


def test_no_address_is_given_twice_or_away_from_its_owner() -> None:
    first = next(iter(made_up(service("", "a")).values()))[0]
    text = service("", "a") + service(f"clusterIP: {ipaddress.ip_address(first)}", "b")
    found = made_up(text)
    assert found["Service b"] == (first,)
    assert found["Service a"] != (first,)
    many = made_up(workload("StatefulSet", "replicas: 254"))
    assert len(set(many.values())) == 254


def test_a_full_network_is_told_and_the_rest_is_there() -> None:
    expansion = expanded(workload("StatefulSet", "replicas: 256") + service("", "api"))
    assert expansion.full == IPV4.pods
    pods = [item for item in expansion.objects if isinstance(item, Pod)]
    assert sum(bool(each.addresses) for each in pods) == 254
    assert len(pods) == 256
    assert "Service api 4" in lines(expansion.objects)


@pytest.mark.parametrize("network", ["10.9.0.1/32", "10.9.0.0/31", "fd00::/127"])
def test_the_smallest_networks_are_used_whole(network: str) -> None:
    parsed = ipaddress.ip_network(network)
    text = "".join(service("", f"s-{number}") for number in range(3))
    expansion = expanded(text, Networks((parsed,), IPV4.pods))
    given = {item.cluster_ips for item in expansion.objects if isinstance(item, Service)}
    assert given == {(address.packed,) for address in parsed} | {()}
    assert expansion.full == (parsed,)
