"""Names of a clusterset (KEP-1645): by the option of kubernetes and by the word of its own."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kubedns.dns.names import parse_name
from kubedns.errors import ConfigurationErrors
from kubedns.plugins.kubernetes import Kubernetes
from kubedns.records.listing import records
from kubedns.server.server import Server
from tests.plugins.asking import query_for
from tests.plugins.test_file import built, shown

MANIFEST = """
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {clusterIP: 10.96.0.1, ports: [{name: http, port: 80}]}
---
apiVersion: multicluster.x-k8s.io/v1alpha1
kind: ServiceImport
metadata: {name: web, namespace: shop}
spec: {type: ClusterSetIP, ips: [10.42.0.1], ports: [{name: http, protocol: TCP, port: 80}]}
---
apiVersion: multicluster.x-k8s.io/v1alpha1
kind: ServiceImport
metadata: {name: db, namespace: shop}
spec: {type: Headless, ports: [{name: sql, protocol: TCP, port: 5432}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: imported-east
  namespace: shop
  labels: {multicluster.kubernetes.io/service-name: db, multicluster.kubernetes.io/source-cluster: east}
addressType: IPv4
ports: [{name: sql, protocol: TCP, port: 5432}]
endpoints:
- {addresses: [10.1.0.1], hostname: db-0}
- {addresses: [10.1.0.2], hostname: db-1, conditions: {ready: false}}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: imported-west
  namespace: shop
  labels: {multicluster.kubernetes.io/service-name: db, multicluster.kubernetes.io/source-cluster: west}
addressType: IPv4
ports: [{name: sql, protocol: TCP, port: 5432}]
endpoints:
- {addresses: [10.2.0.1], hostname: db-0}
- {addresses: [10.2.0.9]}
"""
FORMS = {
    "option": "kubernetes cluster.local clusterset.local in-addr.arpa {\nmanifests objects.yaml\n"
    "multicluster clusterset.local\n}",
    "word": "kubernetes cluster.local in-addr.arpa {\nmanifests objects.yaml\n}\n"
    "multicluster clusterset.local {\nmanifests objects.yaml\n}",
}
S = "svc.clusterset.local."
CASES = [
    (f"web.shop.{S}", "A", "NOERROR", ["{} 5 IN A 10.42.0.1"]),
    (f"_http._tcp.web.shop.{S}", "SRV", "NOERROR", [f"{{}} 5 IN SRV 0 100 80 web.shop.{S}"]),
    (f"db.shop.{S}", "A", "NOERROR",
     ["{} 5 IN A 10.1.0.1", "{} 5 IN A 10.2.0.1", "{} 5 IN A 10.2.0.9"]),
    (f"db-0.east.db.shop.{S}", "A", "NOERROR", ["{} 5 IN A 10.1.0.1"]),
    (f"db-0.west.db.shop.{S}", "A", "NOERROR", ["{} 5 IN A 10.2.0.1"]),
    (f"10-2-0-9.west.db.shop.{S}", "A", "NOERROR", ["{} 5 IN A 10.2.0.9"]),
    (f"db-1.east.db.shop.{S}", "A", "NXDOMAIN", []),
    (f"db-0.north.db.shop.{S}", "A", "NXDOMAIN", []),
    (f"db-0.db.shop.{S}", "A", "NXDOMAIN", []),
    (f"west.db.shop.{S}", "A", "NOERROR", []),
    (f"north.db.shop.{S}", "A", "NXDOMAIN", []),
    (f"_sql._tcp.db.shop.{S}", "SRV", "NOERROR",
     [f"{{}} 5 IN SRV 0 33 5432 10-2-0-9.west.db.shop.{S}", f"{{}} 5 IN SRV 0 33 5432 db-0.east.db.shop.{S}",
      f"{{}} 5 IN SRV 0 33 5432 db-0.west.db.shop.{S}"]),
    (f"none.shop.{S}", "A", "NXDOMAIN", []),
    ("web.shop.svc.cluster.local.", "A", "NOERROR", ["{} 5 IN A 10.96.0.1"]),
    ("db.shop.svc.cluster.local.", "A", "NXDOMAIN", []),
    ("db-0.east.web.shop.svc.cluster.local.", "A", "NXDOMAIN", []),
    ("1.0.42.10.in-addr.arpa.", "PTR", "NXDOMAIN", []),
    ("1.0.96.10.in-addr.arpa.", "PTR", "NOERROR", ["{} 5 IN PTR web.shop.svc.cluster.local."]),
]  # fmt: skip


def loaded(folder: Path, form: str) -> Server:
    (folder / "objects.yaml").write_text(MANIFEST)
    return built(folder, FORMS[form])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("name", "rdtype", "rcode", "expected"), CASES)
def test_what_a_clusterset_has(
    tmp_path: Path, form: str, name: str, rdtype: str, rcode: str, expected: list[str]
) -> None:
    server = loaded(tmp_path, form)

    async def ask() -> list[str]:
        assert not await server.load()
        return shown(await next(iter(server.resolvers.values())).answer(query_for(name, rdtype)))

    found, *lines = asyncio.run(ask())
    assert (found, sorted(lines)) == (rcode, [line.format(name) for line in expected])


@pytest.mark.parametrize("form", FORMS)
def test_until_it_is_read_nothing_is_denied(tmp_path: Path, form: str) -> None:
    server = loaded(tmp_path, form)
    for name in (f"web.shop.{S}", "web.shop.svc.cluster.local."):
        answer = asyncio.run(next(iter(server.resolvers.values())).answer(query_for(name)))
        assert answer.rcode.name == "SERVFAIL"
    assert not all(plugin.is_ready() for plugin in server.plugins if isinstance(plugin, Kubernetes))


def test_every_record_is_listed_and_answered(tmp_path: Path) -> None:
    server = loaded(tmp_path, "option")
    assert not asyncio.run(server.load())
    imported = server.cluster_zones[1]
    listed = {line for rrset in records(imported) for line in rrset.lines()}
    assert f"db-0.west.db.shop.{S} 5 IN A 10.2.0.1" in listed
    plugin = next(plugin for plugin in server.plugins if isinstance(plugin, Kubernetes))
    zone = parse_name("clusterset.local.")
    assert zone in list(plugin.apexes())
    assert {line for rrset in plugin.zone_records(zone) for line in rrset.lines()} == listed


FAULTS = [
    ("kubernetes cluster.local {\nmanifests objects.yaml\nmulticluster\n}", "a value is needed"),
    ("multicluster clusterset.local {\nmanifests nowhere\n}", "no file or folder nowhere"),
]


@pytest.mark.parametrize(("body", "fault"), FAULTS)
def test_what_cannot_be_served_is_a_fault(tmp_path: Path, body: str, fault: str) -> None:
    (tmp_path / "objects.yaml").write_text(MANIFEST)
    with pytest.raises(ConfigurationErrors, match=fault):
        built(tmp_path, body)
