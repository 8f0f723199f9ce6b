from __future__ import annotations

import pytest

from kubedns.cluster.objects import Object
from tests.records.cluster import ask, cluster_zone, shown
from tests.support.clusters import node

OBJECTS: list[Object] = [
    node("node-1", "192.0.2.1 2001:db8::1"),
    node("ip-1.eu.internal", "192.0.2.2"),
    node("eu.internal", "192.0.2.3"),
    node("a.svc", "192.0.2.4"),
    node("pod", "192.0.2.5"),
    node("endpoints", "192.0.2.6"),
]


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ("node-1 A", "192.0.2.1"),
        ("NODE-1 AAAA", "2001:db8::1"),
        ("node-1 TXT", "NODATA"),
        ("x.node-1 A", "NXDOMAIN"),
        ("node-1.node A", "192.0.2.1"),
        ("node-2 A", "NXDOMAIN"),
        ("ip-1.eu.internal A", "192.0.2.2"),
        ("ip-1.eu.internal.node AAAA", "NODATA"),
        ("eu.internal A", "192.0.2.3"),
        ("internal A", "NODATA"),
        ("internal.node A", "NODATA"),
        ("ternal A", "NXDOMAIN"),
        ("node A", "NODATA"),
        (r"eu\.internal A", "NXDOMAIN"),
        (r"ip-1.eu\.internal.node A", "NXDOMAIN"),
        ("a.svc A", "NXDOMAIN"),
        ("a.svc.node A", "192.0.2.4"),
        ("svc.node A", "NODATA"),
        ("pod A", "NODATA"),
        ("pod.node A", "192.0.2.5"),
        ("endpoints A", "NXDOMAIN"),
        ("endpoints.node A", "192.0.2.6"),
    ],
)
def test_answers(asked: str, wanted: str) -> None:
    assert shown(ask(cluster_zone(OBJECTS), asked)) == wanted


def test_without_nodes_there_is_no_node_tree() -> None:
    assert shown(ask(cluster_zone([]), "node A")) == "NXDOMAIN"
