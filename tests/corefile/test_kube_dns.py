"""kube-dns's ConfigMap: what it says, every fault of it, and the Corefile that is made of it."""

from __future__ import annotations

import pytest

from kubedns.corefile.kube_dns import KubeDns, read_kube_dns
from kubedns.corefile.kube_dns_corefile import Surroundings, corefile_text
from kubedns.corefile.parser import parse_corefile
from kubedns.errors import ConfigurationErrors
from kubedns.server.files import DiskFiles

GOOD = [
    ({}, KubeDns({})),
    ({"stubDomains": "", "upstreamNameservers": "\n"}, KubeDns({})),
    ({"stubDomains": '{"a.test": ["192.0.2.1"]}'}, KubeDns({"a.test": ("192.0.2.1",)})),
    (
        {"stubDomains": '{"a.test": ["192.0.2.1:5353", "[2001:db8::1]:53", "2001:db8::2"]}', "other": "x"},
        KubeDns({"a.test": ("192.0.2.1:5353", "[2001:db8::1]:53", "2001:db8::2")}),
    ),
    ({"upstreamNameservers": '["192.0.2.8", "192.0.2.8"]'}, KubeDns({}, ("192.0.2.8",))),
]


@pytest.mark.parametrize(("texts", "expected"), GOOD)
def test_what_it_says(texts: dict[str, str], expected: KubeDns) -> None:
    assert read_kube_dns(texts, "here") == expected


FAULTS = [
    ({"stubDomains": "{"}, ["here/stubDomains:1: stubDomains: no JSON: "]),
    ({"stubDomains": '{\n"a.test": [\n}'}, ["here/stubDomains:3: stubDomains: no JSON: "]),
    ({"stubDomains": '["192.0.2.1"]'}, ["here/stubDomains:1: stubDomains: not an object of zones"]),
    ({"stubDomains": '{"a.test": "192.0.2.1"}'}, ["here/stubDomains:1: stubDomains: a.test has no list of servers"]),
    ({"stubDomains": '{"a.test": []}'}, ["here/stubDomains:1: stubDomains: a.test has no list of servers"]),
    ({"stubDomains": '{\n"a..test": ["192.0.2.1"]}'}, ["here/stubDomains:2: stubDomains: `a..test` is no zone"]),
    (
        {"stubDomains": '{"a.test": ["192.0.2.1"],\n"b.test": ["dns.test", 5, "192.0.2.1:0", "192.0.2.1:x"]}'},
        [
            "here/stubDomains:2: stubDomains: `dns.test` is no address",
            "here/stubDomains:1: stubDomains: `5` is no address",
            "here/stubDomains:2: stubDomains: `192.0.2.1:0` is no address",
            "here/stubDomains:2: stubDomains: `192.0.2.1:x` is no address",
        ],
    ),
    (
        {"upstreamNameservers": '["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"]'},
        ["here/upstreamNameservers:1: upstreamNameservers: 4 servers; at most 3 are asked"],
    ),
    ({"upstreamNameservers": '{"a": 1}'}, ["here/upstreamNameservers:1: upstreamNameservers: not a list"]),
    (
        {"federations": '{"a": "b"}', "upstreamNameservers": '["x"]'},
        [
            "here/federations: federations: federations are gone from Kubernetes",
            "here/upstreamNameservers:1: upstreamNameservers: `x` is no address; write IP or IP:PORT",
        ],
    ),
]


@pytest.mark.parametrize(("texts", "expected"), FAULTS)
def test_every_fault_is_told_with_its_key_and_line(texts: dict[str, str], expected: list[str]) -> None:
    with pytest.raises(ConfigurationErrors) as error:
        read_kube_dns(texts, "here")
    lines = str(error.value).splitlines()
    assert len(lines) == len(expected), lines
    for line, start in zip(lines, expected, strict=True):
        assert line.startswith(start)


FEDERATIONS = [
    ({"federations": '{"f": "fed.test", "f-2": "x.test."}'}, KubeDns({}, (), {"f": "fed.test", "f-2": "x.test."})),
    ({"federations": "{}"}, KubeDns({})),
]


@pytest.mark.parametrize(("texts", "expected"), FEDERATIONS)
def test_federations_are_taken_to_be_converted(texts: dict[str, str], expected: KubeDns) -> None:
    assert read_kube_dns(texts, "here", converts=True) == expected


NO_FEDERATIONS = [
    ("[]", "1: federations: not an object of names with domains"),
    ('{"a.b": "x.test"}', "1: federations: `a.b` is no label"),
    ('{"f": "x.test",\n"F": "x.test"}', "2: federations: `F` is no label"),
    ('{\n"f": 5}', "2: federations: f has no domain"),
    ('{"f": "a..b"}', "1: federations: f has no domain"),
]


@pytest.mark.parametrize(("text", "fault"), NO_FEDERATIONS)
def test_what_is_no_federation_is_told(text: str, fault: str) -> None:
    with pytest.raises(ConfigurationErrors) as error:
        read_kube_dns({"federations": text}, "here", converts=True)
    assert str(error.value).startswith(f"here/federations:{fault}")


AROUND = [
    (Surroundings(), [".:53", "a.test.:53"], "health", True),
    (Surroundings(port=1053, hosts=("127.0.0.1",)), [".:1053", "a.test.:1053"], "bind", True),
    (
        Surroundings(
            manifests=("k8s", 'odd " path'),
        ),
        [".:53", "a.test.:53"],
        "health",
        False,
    ),
    (Surroundings(manifests=("k8s",)), [".:53", "a.test.:53"], "prometheus", False),
    (Surroundings(kubeconfig="config", context="my own"), [".:53", "a.test.:53"], "health", False),
]


@pytest.mark.parametrize(("around", "labels", "word", "is_there"), AROUND)
def test_the_corefile_is_one_and_fits_its_surroundings(
    around: Surroundings, labels: list[str], word: str, is_there: bool
) -> None:
    config = KubeDns({"a.test.": ("192.0.2.1", "192.0.2.2:5353")}, ("192.0.2.8",))
    corefile = parse_corefile(corefile_text(config, around), "made", DiskFiles(), {})
    assert corefile.warnings == ()
    served = [address for block in corefile.blocks for address in block.addresses]
    assert [f"{each.zone}:{each.port}" for each in served] == labels
    main, stub = ({line.word.text: line for line in block.directives} for block in corefile.blocks)
    assert (word in main) is is_there
    assert [each.text for each in main["forward"].arguments] == [".", "192.0.2.8"]
    assert [each.text for each in stub["forward"].arguments] == [".", "192.0.2.1", "192.0.2.2:5353"]
    options = {line.word.text: [each.text for each in line.arguments] for line in main["kubernetes"].block}
    assert options.get("manifests", []) == list(around.manifests)
    assert options.get("kubeconfig", []) == [each for each in (around.kubeconfig, around.context) if each]
    assert options["pods"] == ["insecure" if around.is_inside else "verified"]


def test_without_upstreams_the_machine_s_are_asked() -> None:
    assert "forward . /etc/resolv.conf {" in corefile_text(KubeDns({}), Surroundings())
