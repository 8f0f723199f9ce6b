from __future__ import annotations

import pytest

from kubedns.cli.keeping import dependencies, is_kept, kept
from kubedns.cluster.lister import ANY_ADDRESS, ANY_SYNC, address_key, namespace_key, node_key, service_key
from kubedns.dns.answer import Answer, Key

WEB = frozenset([service_key("shop", "web")])


@pytest.mark.parametrize(
    ("answer", "is_expected", "expected"),
    [
        (Answer(depends_on=WEB), True, "until a change of Service shop/web"),
        (Answer(depends_on=WEB, lifetime_seconds=2.5), True, "for 2.5 s or until a change of Service shop/web"),
        (Answer(lifetime_seconds=30), True, "for 30 s"),
        (Answer(), True, "until the configuration changes"),
        (Answer(lifetime_seconds=0), False, "no"),
        (Answer(silent=True), False, "no"),
        (Answer(varies_by_client=True), False, "no: it differs from client to client"),
    ],
)
def test_what_is_said_of_keeping(answer: Answer, is_expected: bool, expected: str) -> None:
    assert kept(answer) == expected
    assert is_kept(answer) is is_expected


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (service_key("shop", "web"), "Service shop/web"),
        (address_key(bytes([10, 0, 0, 1])), "address 10.0.0.1"),
        (address_key(bytes(15) + b"\x01"), "address ::1"),
        (namespace_key("shop"), "Namespace shop"),
        (node_key("laptop"), "Node laptop"),
        (node_key(""), "any Node"),
        (ANY_ADDRESS, "any address"),
        (ANY_SYNC, "whether the cluster has been read"),
    ],
)
def test_a_dependency_in_words(key: Key, expected: str) -> None:
    assert dependencies([key]) == [expected]
