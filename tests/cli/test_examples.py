from __future__ import annotations

import pytest

from kubedns.cli.examples import Surroundings, examples
from kubedns.cluster.objects import Kind, Service
from kubedns.cluster.store import Store
from kubedns.dns.names import parse_name
from kubedns.records.cluster_zone import ClusterZone
from kubedns.records.options import RecordOptions
from kubedns.transport.sockets import ListenAddress

SERVICES = [Service("shop", "web", (bytes(4),), ()), Service("default", "db", (bytes(4),), ())]


def cluster(*zones: str) -> ClusterZone:
    store = Store()
    store.replace(Kind.SERVICE, SERVICES)
    return ClusterZone(RecordOptions(zones=tuple(map(parse_name, zones))), store)


@pytest.mark.parametrize(
    ("zones", "host", "flags", "expected"),
    [
        (
            ["cluster.local.", "in-addr.arpa."],
            "127.0.0.1",
            ["--manifests", "my k8s"],
            [
                "dig @127.0.0.1 -p 1053 db.default.svc.cluster.local",
                "dig @127.0.0.1 -p 1053 web.shop.svc.cluster.local",
                "kubedns explain db --manifests 'my k8s'",
                "kubedns records --manifests 'my k8s'",
            ],
        ),
        (
            ["lab."],
            "::",
            ["--manifests", "k8s", "--zone", "lab"],
            [
                "dig @::1 -p 1053 db.default.svc.lab",
                "dig @::1 -p 1053 web.shop.svc.lab",
                "kubedns explain db --manifests k8s --zone lab",
                "kubedns records --manifests k8s --zone lab",
            ],
        ),
        (
            ["."],
            "0.0.0.0",
            ["--conf", "Corefile"],
            [
                "dig @127.0.0.1 -p 1053 db.default.svc",
                "dig @127.0.0.1 -p 1053 web.shop.svc",
                "kubedns explain db --conf Corefile",
                "kubedns records --conf Corefile",
            ],
        ),
        (["in-addr.arpa."], "127.0.0.1", [], []),
    ],
)
def test_commands_that_work_on_this_server(zones: list[str], host: str, flags: list[str], expected: list[str]) -> None:
    surroundings = Surroundings("kubedns", ListenAddress(host, 1053), flags)
    assert list(examples(cluster(*zones), surroundings)) == expected
