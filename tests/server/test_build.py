"""Server blocks become a server, or every fault of them at once."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kubedns.corefile.parser import parse_corefile
from kubedns.dns.names import parse_name
from kubedns.dns.question import Client, Question, Transport
from kubedns.dns.rdata import RecordType
from kubedns.errors import ConfigurationErrors, NotServedError
from kubedns.plugins.order import CHAIN, HARMLESS, REFUSED
from kubedns.plugins.rewrite import Rewrite
from kubedns.server.build import Settings, build_server
from kubedns.server.files import DiskFiles
from kubedns.server.server import Server

SERVICE = """
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop, labels: {team: retail}}
spec: {clusterIP: 10.96.0.9, ports: [{name: http, port: 80}]}
"""


def build(text: str, folder: Path) -> Server:
    (folder / "web.yaml").write_text(SERVICE)
    corefile = parse_corefile(text, str(folder / "Corefile"), DiskFiles(), {})
    return build_server(corefile.blocks, Settings(default_port=1053))


FAULTS = {
    "unknown plugin": (".:1 {\n kubernets\n}", ["2: unknown plugin `kubernets`; did you mean `kubernetes`?"]),
    "a plugin of CoreDNS's alone": (
        ".:1 {\n etcd {\n  path /skydns\n }\n}",
        ["2: plugin `etcd` is CoreDNS's and not served here; keep the records in Kubernetes"],
    ),
    "unknown option": (
        ".:1 {\n kubernetes {\n  manifests .\n  pod verified\n }\n}",
        ["4: unknown option `pod` in kubernetes; did you mean `pods`? (pods disabled|insecure|verified)"],
    ),
    "no such path": (
        ".:1 {\n kubernetes {\n  manifests nowhere\n }\n}",
        ["2: kubernetes manifests: no file or folder"],
    ),
    "reverse zones alone": (
        "10.0.0.0/8:1 {\n kubernetes ip6.arpa 10.0.0.0/8 {\n  manifests .\n }\n}\nin-addr.arpa:1 {\n kubernetes {\n"
        "  manifests .\n }\n}",
        ["2: kubernetes: all of its zones are reverse ones", "7: kubernetes: all of its zones are reverse ones"],
    ),
    "too long a zone": (
        "\n".join(f"{zone}:1 {{\n kubernetes {{\n  manifests .\n }}\n}}" for zone in ("a" * 57, "b" * 58)),
        [f"7: kubernetes: zone {'b' * 58}. is too long for names of endpoints; take one of 59 octets"],
    ),
    "twice in a block": (".:1 {\n errors\n errors\n}", ["3: errors may stand once in a server block"]),
    "scheme": ("tls://.:1 {\n any\n}", ["1: tls:// needs a certificate"]),
    "zone twice": ("a.test:1 {\n any\n}\na.test:1 {\n any\n}", ["4: a.test. on port 1 is already served"]),
    "interface": (".:1 {\n bind nosuch0\n}", ["2: bind: `nosuch0` is no address and no interface"]),
    "selector": (
        ".:1 {\n kubernetes {\n  manifests .\n  labels a in b\n }\n}",
        ["4: kubernetes labels: 'a in b' is no requirement"],
    ),
    "mesh": (
        ".:1 {\n kubernetes {\n  manifests .\n  mesh proxies\n }\n}",
        ["4: kubernetes mesh: `proxies` is no Service"],
    ),
    "log format": (".:1 {\n log . {nme}\n}", ["2: log: unknown field {nme}"]),
    "transfer to nobody": (
        ".:1 {\n transfer\n}",
        ["2: transfer needs `to`; write `to ADDRESS[:PORT]|*...` in its block"],
    ),
    "transfer": (
        ".:1 {\n transfer {\n  to 192.0.2.1:x nobody\n }\n}",
        ["3: transfer to: `192.0.2.1:x` is no address", "3: transfer to: `nobody` is no address"],
    ),
    "acl": (
        ".:1 {\n acl {\n  block type AX net 10.0.0.0/33\n  deny\n }\n}",
        ["3: acl block: `AX` is no record type", "4: unknown option `deny` in acl"],
    ),
    "a snapshot of manifests": (
        ".:1 {\n kubernetes cluster.local {\n  manifests .\n  snapshot s\n }\n}",
        ["2: kubernetes snapshot: manifests need none; leave the line out"],
    ),
    "one snapshot of two clusters": (
        ".:1 {\n kubernetes a.local {\n  snapshot s 1h\n }\n}\n.:2 {\n kubernetes a.local {\n  snapshot ./s 2h\n }\n}",
        ["7: kubernetes snapshot: another line keeps something else in this file; give each a file of its own"],
    ),
    "the age of a snapshot": (
        ".:1 {\n kubernetes a.local {\n  snapshot s old\n }\n multicluster b.local {\n  snapshot\n }\n}",
        [
            "3: kubernetes snapshot: `old` is no duration",
            "6: multicluster snapshot: a value is needed; write `snapshot PATH [MAX_AGE]`",
        ],
    ),
    "all at once": (
        ".:1 {\n errrors\n kubernetes {\n  ttl 5000\n  manifests .\n }\n}\n.:1 {\n any x\n}",
        [
            "2: unknown plugin `errrors`; did you mean `errors`?",
            "4: kubernetes ttl: `5000` is more than 3600",
            "8: . on port 1 is already served",
            "9: unexpected `x` after any",
        ],
    ),
}


@pytest.mark.parametrize("case", FAULTS)
def test_every_fault_is_told_with_its_line(case: str, tmp_path: Path) -> None:
    text, expected = FAULTS[case]
    with pytest.raises(ConfigurationErrors) as error:
        build(text, tmp_path)
    lines = str(error.value).splitlines()
    assert len(lines) == len(expected), lines
    for line, start in zip(lines, expected, strict=True):
        assert line.startswith(f"{tmp_path}/Corefile:{start}")


def answer(server: Server, name: str) -> list[str]:
    async def ask() -> list[str]:
        assert not await server.load()
        client = Client(bytes(4), "0.0.0.0", 1, Transport.UDP)
        question = Question(parse_name(name), RecordType.A)
        found = await server.resolver_for(question.name).lookup(question, client)
        return [line for rrset in found.answer for line in rrset.lines()]

    return asyncio.run(ask())


MANIFESTS = "kubernetes {\n manifests web.yaml\n"


def test_manifests_are_found_beside_the_corefile(tmp_path: Path) -> None:
    server = build(f"cluster.local {{\n{MANIFESTS} ttl 7\n}}\n}}", tmp_path)
    assert answer(server, "web.shop.svc.cluster.local.") == ["web.shop.svc.cluster.local. 7 IN A 10.96.0.9"]
    with pytest.raises(NotServedError):
        server.resolver_for(parse_name("example.org."))


LABELS = [("team=retail", 1), ("team!=retail", 0), ("team in (retail, data)", 1), ("!team", 0)]


@pytest.mark.parametrize(("selector", "found"), LABELS)
def test_labels_choose_what_has_names(selector: str, found: int, tmp_path: Path) -> None:
    server = build(f'cluster.local {{\n{MANIFESTS} labels "{selector}"\n}}\n}}', tmp_path)
    assert len(answer(server, "web.shop.svc.cluster.local.")) == found


def test_blocks_that_read_the_same_share_a_store(tmp_path: Path) -> None:
    text = "".join(f"cluster.local:{port} {{\n{MANIFESTS}}}\n}}\n" for port in (1, 2))
    assert len(build(text, tmp_path).sources) == 1
    assert len(build(text + f"a.test:3 {{\n{MANIFESTS} labels a=b\n}}\n}}", tmp_path).sources) == 2


def test_a_block_listens_where_it_is_bound(tmp_path: Path) -> None:
    bound = build("a.test b.test:7 {\n bind 127.0.0.1 ::1\n any\n}", tmp_path)
    assert sorted(map(str, bound.resolvers)) == ["127.0.0.1:1053", "127.0.0.1:7", "[::1]:1053", "[::1]:7"]
    assert sorted(map(str, build("a.test {\n any\n}", tmp_path).resolvers)) == ["0.0.0.0:1053", "[::]:1053"]


def test_interfaces_stand_for_their_addresses(tmp_path: Path) -> None:
    everything = build("a.test {\n bind lo\n any\n}", tmp_path)
    assert "127.0.0.1:1053" in map(str, everything.resolvers)
    without = build("a.test {\n bind lo 127.0.0.9 {\n  except 127.0.0.1\n }\n any\n}", tmp_path)
    assert "127.0.0.1:1053" not in map(str, without.resolvers)
    assert "127.0.0.9:1053" in map(str, without.resolvers)


@pytest.mark.parametrize("word", sorted(HARMLESS))
def test_words_that_change_no_answer_are_read_over_with_a_warning(
    word: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert build(f".:1 {{\n {word} x {{\n  y\n }}\n any\n}}", tmp_path).resolvers
    (line,) = caplog.messages
    assert f"Corefile:2: {word} has no effect" in line


def test_every_word_is_known_in_one_way() -> None:
    words = [*HARMLESS, *REFUSED, *(row.word for row in CHAIN)]
    assert len(words) == len(set(words))


def test_rewrite_lines_of_a_server_block_are_one_plugin_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = ".:1 {\n rewrite name a b\n any\n rewrite continue name b c\n}\nx:1 {\n rewrite name a b\n}"
    first, second = next(iter(build(text, tmp_path).resolvers.values())).chains
    (_, rules), (other,) = first.plugins, second.plugins
    assert isinstance(rules, Rewrite)
    assert isinstance(other, Rewrite)
    assert ([step.stops for step in rules.steps], len(other.steps)) == ([True, False], 1)


def test_another_configuration_has_higher_serials(tmp_path: Path) -> None:
    text = f"cluster.local {{\n{MANIFESTS}}}\n}}"
    server = build(text, tmp_path)
    asyncio.run(server.load())
    serials = [server.serial]
    for count in range(3):
        blocks = parse_corefile(
            text.replace("web.yaml", f"web.yaml\n ttl {count}"), str(tmp_path / "Corefile"), DiskFiles(), {}
        ).blocks
        server = build_server(blocks, Settings(), server)
        serials.append(server.serial)
    assert sorted(set(serials)) == serials


@pytest.mark.parametrize(
    ("lines", "namespace"),
    [
        ("namespaces shop", "shop"),
        ("namespaces shop other", ""),
        ("namespaces shop\n  mesh default/proxies", ""),
        ("pods verified", ""),
    ],
)
def test_an_api_server_is_asked_for_one_namespace_or_all(lines: str, namespace: str, tmp_path: Path) -> None:
    server = build(f"a.test {{\n kubernetes {{\n  {lines}\n }}\n}}", tmp_path)
    assert [source.namespace for source in server.clusters] == [namespace]
