import ipaddress

import pytest

from kubedns.dns.answer import Answer, Rcode
from kubedns.dns.names import parse_name
from kubedns.dns.question import Client, Transport
from kubedns.plugins.acl import Acl, Action, Rule
from kubedns.plugins.networks import Network, network_of
from tests.plugins.asking import ask, query_for

REST = Answer(plugin="rest")
TEST = [parse_name("test.")]


def net(text: str) -> Network:
    return network_of(ipaddress.ip_network(text))


def client(text: str) -> Client:
    return Client(ipaddress.ip_address(text).packed, text, 1, Transport.UDP)


A_TYPE, AAAA_TYPE = 1, 28
RULES = [
    Rule(Action.ALLOW, networks=(net("10.0.0.0/8"), net("::1/128"))),
    Rule(Action.FILTER, types=frozenset({AAAA_TYPE})),
    Rule(Action.DROP, networks=(net("192.0.2.1/32"),)),
    Rule(Action.BLOCK, networks=(net("0.0.0.0/0"), net("::/0"))),
]

VERDICTS = [
    ("10.9.8.7", "A", "a.test.", "rest"),
    ("::1", "AAAA", "a.test.", "rest"),
    ("11.0.0.1", "AAAA", "a.test.", "filter"),
    ("192.0.2.1", "A", "a.test.", "drop"),
    ("192.0.2.2", "A", "a.test.", "block"),
    ("2001:db8::1", "A", "a.test.", "block"),
    ("192.0.2.2", "A", "a.other.", "rest"),
]


@pytest.mark.parametrize(("address", "rdtype", "name", "verdict"), VERDICTS)
def test_the_first_rule_that_fits_decides(address: str, rdtype: str, name: str, verdict: str) -> None:
    answer = ask(Acl(TEST, RULES), query_for(name, rdtype, client(address)), REST)
    got = (
        "rest"
        if answer is REST
        else "drop"
        if answer.silent
        else "block"
        if answer.rcode == Rcode.REFUSED
        else "filter"
    )
    assert got == verdict


def test_clients_of_one_class_get_one_verdict() -> None:
    acl = Acl(TEST, RULES)
    classes: dict[object, set[tuple[str, ...]]] = {}
    for address in ("10.0.0.1", "10.255.0.1", "::1", "::2", "192.0.2.1", "192.0.2.2", "0.0.0.0", "172.16.0.1"):
        verdicts = tuple(
            repr(ask(acl, query_for("a.test.", rdtype, client(address)), REST)) for rdtype in ("A", "AAAA", "TXT")
        )
        classes.setdefault(acl.client_class(client(address).address), set()).add(verdicts)
    assert all(len(verdicts) == 1 for verdicts in classes.values())
    assert len(classes) > 2


def test_no_rule_that_fits_allows() -> None:
    assert ask(Acl(TEST, RULES[:1]), query_for("a.test.", "A", client("11.0.0.1")), REST) is REST
