"""A big cluster as manifests: Services in 50 namespaces, every tenth headless with hostnames, and what is asked of it.

``python -m tests.bench.big_cluster SERVICES ENDPOINTS > big.json`` writes a v1 List; JSON is YAML.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Any, TextIO

NAMESPACES = 50
NODES, AVAILABILITY_ZONES = 500, 3
_FIRST_CLUSTER_IP = int(IPv4Address("10.97.0.1"))
_FIRST_POD_IP = int(IPv4Address("10.128.0.1"))
_PORTS = ("http", 80, 8080), ("metrics", 9090, 9090)
_SUFFIX = "svc.cluster.local."

Manifest = dict[str, Any]


@dataclass(frozen=True, slots=True)
class BigService:
    """Service ``number`` with so many ``endpoints``."""

    number: int
    endpoints: int
    is_headless: bool

    @property
    def name(self) -> str:
        return f"svc-{self.number:05d}"

    @property
    def namespace(self) -> str:
        return f"team-{self.number % NAMESPACES:02d}"

    @property
    def cluster_ip(self) -> str:
        """Its address; ``None``, as the API says it, for a headless one."""
        return "None" if self.is_headless else str(IPv4Address(_FIRST_CLUSTER_IP + self.number))

    @property
    def owner(self) -> str:
        """Its DNS name."""
        return f"{self.name}.{self.namespace}.{_SUFFIX}"

    def endpoint_address(self, position: int) -> IPv4Address:
        """The address of one endpoint; Services with equally many endpoints share none."""
        return IPv4Address(_FIRST_POD_IP + self.number * self.endpoints + position)

    def endpoint_owner(self, position: int) -> str:
        """The DNS name of one endpoint."""
        label = (
            f"{self.name}-{position}" if self.is_headless else str(self.endpoint_address(position)).replace(".", "-")
        )
        return f"{label}.{self.owner}"

    def manifests(self) -> Iterator[Manifest]:
        """The Service and its EndpointSlice."""
        labels = {"app": self.name, "tier": "backend", "team": self.namespace}
        ports = [{"name": name, "port": port, "protocol": "TCP", "targetPort": target} for name, port, target in _PORTS]
        yield {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": self.name, "namespace": self.namespace, "labels": labels},
            "spec": {"clusterIP": self.cluster_ip, "clusterIPs": [self.cluster_ip], "ports": ports},
        }
        yield {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {
                "name": f"{self.name}-abcde",
                "namespace": self.namespace,
                "labels": {"kubernetes.io/service-name": self.name},
            },
            "addressType": "IPv4",
            "endpoints": [self._endpoint(position) for position in range(self.endpoints)],
            "ports": [{"name": name, "port": target, "protocol": "TCP"} for name, _, target in _PORTS],
        }

    def _endpoint(self, position: int) -> Manifest:
        address = self.endpoint_address(position)
        endpoint: Manifest = {
            "addresses": [str(address)],
            "conditions": {"ready": True, "serving": True, "terminating": False},
            "nodeName": f"node-{int(address) % NODES:03d}",
            "zone": f"zone-{int(address) % AVAILABILITY_ZONES}",
            "targetRef": {"kind": "Pod", "name": f"{self.name}-{position}", "namespace": self.namespace},
        }
        if self.is_headless:
            endpoint["hostname"] = f"{self.name}-{position}"
        return endpoint


def big_services(services: int, endpoints: int) -> list[BigService]:
    """The Services of a big cluster."""
    return [BigService(number, endpoints, number % 10 == 0) for number in range(services)]


def write_manifests(services: list[BigService], file: TextIO) -> None:
    """Write the namespaces and the objects of ``services`` as one List, an object a line."""
    file.write('{"apiVersion": "v1", "kind": "List", "items": [\n')
    names = sorted({service.namespace for service in services})
    file.write(",\n".join(json.dumps(each) for each in map(_namespace, names)))
    for service in services:
        file.writelines(",\n" + json.dumps(manifest) for manifest in service.manifests())
    file.write("\n]}\n")


def _namespace(name: str) -> Manifest:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


if __name__ == "__main__":
    write_manifests(big_services(int(sys.argv[1]), int(sys.argv[2])), sys.stdout)
