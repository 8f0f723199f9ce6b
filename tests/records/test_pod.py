from __future__ import annotations

import pytest

from kubedns.cluster.objects import Namespace, Object
from kubedns.records.options import PodsMode
from tests.records.cluster import ask, cluster_zone, shown
from tests.support.clusters import pod

OBJECTS: list[Object] = [
    Namespace("apps", {}),
    Namespace("jobs", {}),
    pod("apps/alive", "10.244.3.9 fd00::9"),
    pod("jobs/done", ""),
]
CASES = [
    # asked, insecure, verified
    ("10-244-3-9.apps.pod A", "10.244.3.9", "10.244.3.9"),
    ("10-244-3-9.apps.pod AAAA", "NODATA", "NODATA"),
    ("fd00--9.apps.pod AAAA", "fd00::9", "fd00::9"),
    ("FD00--9.apps.pod AAAA", "fd00::9", "fd00::9"),
    ("fd00-0-0-0-0-0-0-9.apps.pod AAAA", "fd00::9", "NXDOMAIN"),
    ("10-244-3-9.jobs.pod A", "10.244.3.9", "NXDOMAIN"),
    ("1-2-3-4.apps.pod A", "1.2.3.4", "NXDOMAIN"),
    ("1-2-3-4.nosuch.pod A", "NXDOMAIN", "NXDOMAIN"),
    ("01-2-3-4.apps.pod A", "NXDOMAIN", "NXDOMAIN"),
    (r"1\.2\.3\.4.apps.pod A", "NXDOMAIN", "NXDOMAIN"),
    (r"fe80--1%1.apps.pod AAAA", "NXDOMAIN", "NXDOMAIN"),
    ("-.apps.pod A", "NXDOMAIN", "NXDOMAIN"),
    ("apps.pod A", "NODATA", "NODATA"),
    ("nosuch.pod A", "NXDOMAIN", "NXDOMAIN"),
    ("pod A", "NODATA", "NODATA"),
]


@pytest.mark.parametrize(("asked", "insecure", "verified"), CASES)
def test_answers(asked: str, insecure: str, verified: str) -> None:
    assert shown(ask(cluster_zone(OBJECTS, pods=PodsMode.INSECURE), asked)) == insecure
    assert shown(ask(cluster_zone(OBJECTS, pods=PodsMode.VERIFIED), asked)) == verified
    assert shown(ask(cluster_zone(OBJECTS, pods=PodsMode.DISABLED), asked)) == "NXDOMAIN"
