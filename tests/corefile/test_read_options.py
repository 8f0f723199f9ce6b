import ipaddress
import re

import pytest

from kubedns.corefile.options import PluginOptions
from kubedns.corefile.read_options import read_options
from kubedns.dns.names import parse_name
from kubedns.errors import ConfigurationErrors
from tests.corefile.lines import directive
from tests.corefile.plugin_options import (
    Acl,
    Action,
    Bind,
    Consolidation,
    Errors,
    Kubeconfig,
    Kubernetes,
    Level,
    Plain,
    Pods,
    Rule,
    Tls,
)

K = "kubernetes\n"
ZONE, OTHER = parse_name("cluster.local"), parse_name("10.in-addr.arpa")
NET = ipaddress.ip_network("10.0.0.0/8")

READ: list[tuple[str, PluginOptions]] = [
    ("kubernetes", Kubernetes()),
    ("kubernetes cluster.local 10.0.0.0/8 cluster.local.", Kubernetes(zones=(ZONE, OTHER))),
    (K + "endpoint https://a:6443 https://b", Kubernetes(endpoint=("https://a:6443", "https://b"))),
    (K + "tls c k a", Kubernetes(tls=Tls("c", "k", "a"))),
    (K + "kubeconfig f", Kubernetes(kubeconfig=Kubeconfig("f"))),
    (K + "kubeconfig f dev", Kubernetes(kubeconfig=Kubeconfig("f", "dev"))),
    (K + "namespaces a b\nnamespaces c", Kubernetes(namespaces=("a", "b", "c"))),
    (K + "labels env in (a, b),app=x", Kubernetes(labels="env in (a, b),app=x")),
    (K + "labels 'env in (a, b)'", Kubernetes(labels="env in (a, b)")),
    (K + "pods verified", Kubernetes(pods=Pods.VERIFIED)),
    (K + "endpoint_pod_names\nnoendpoints", Kubernetes(endpoint_pod_names=True, noendpoints=True)),
    (K + "ttl 0", Kubernetes(ttl=0)),
    (K + "ttl 3600", Kubernetes(ttl=3600)),
    (K + "fallthrough", Kubernetes(fallthrough=())),
    (K + "fallthrough 10.in-addr.arpa", Kubernetes(fallthrough=(OTHER,))),
    (K + "ignore empty_service", Kubernetes(ignore_empty=True)),
    (K + "startup_timeout 1m30s", Kubernetes(startup_timeout=90.0)),
    (K + "apiserver_qps 100\nupstream", Kubernetes(apiserver_qps=True, upstream=True)),
    ("acl", Acl()),
    ("acl cluster.local\nblock", Acl(zones=(ZONE,), rules=(Rule(Action.BLOCK, (), ()),))),
    (
        "acl\nallow net 10.0.0.0/8 type A\nBLOCK type A AAAA\nallow",
        Acl(
            rules=(
                Rule(Action.ALLOW, ("A",), (NET,)),
                Rule(Action.BLOCK, ("A", "AAAA"), ()),
                Rule(Action.ALLOW, (), ()),
            )
        ),
    ),
    ("errors\nstacktrace", Errors(stacktrace=True)),
    (
        "errors\nconsolidate 5m '.* timeout$' warning\nconsolidate 30 x",
        Errors(
            consolidate=(
                Consolidation(300.0, re.compile(".* timeout$"), Level.WARNING),
                Consolidation(30.0, re.compile("x")),
            )
        ),
    ),
    ("bind 127.0.0.1 eth0\nexcept ::1", Bind(addresses=("127.0.0.1", "eth0"), excepted=("::1",))),
    ("plain", Plain()),
]


@pytest.mark.parametrize(("text", "options"), READ)
def test_options_are_read(text: str, options: PluginOptions) -> None:
    assert read_options(type(options), directive(text)) == options


FAULTS: list[tuple[type[PluginOptions], str, list[str]]] = [
    (
        Kubernetes,
        K + "pod insecure",
        ["2: unknown option `pod` in kubernetes; did you mean `pods`? (pods disabled|insecure|verified)"],
    ),
    (
        Kubernetes,
        K + "pods insecur",
        ["2: kubernetes pods: `insecur` is none of disabled, insecure, verified; did you mean `insecure`?"],
    ),
    (Kubernetes, K + "pods", ["2: kubernetes pods: a value is needed; write `pods disabled|insecure|verified`"]),
    (
        Kubernetes,
        K + "pods verified x",
        ["2: kubernetes pods: unexpected `x`; write `pods disabled|insecure|verified`"],
    ),
    (Kubernetes, K + "ttl 4000", ["2: kubernetes ttl: `4000` is more than 3600"]),
    (Kubernetes, K + "ttl -1", ["2: kubernetes ttl: `-1` is no whole number; SECONDS: 0 to 3600"]),
    (Kubernetes, K + "ttl 5s", ["2: kubernetes ttl: `5s` is no whole number; SECONDS: 0 to 3600"]),
    (Kubernetes, K + "noendpoints yes", ["2: kubernetes noendpoints: unexpected `yes`; write `noendpoints`"]),
    (Kubernetes, K + "tls a b", ["2: kubernetes tls: more words are needed; write `tls CERT KEY CACERT`"]),
    (
        Kubernetes,
        K + "kubeconfig a b c",
        ["2: kubernetes kubeconfig: unexpected `c`; write `kubeconfig FILE [CONTEXT]`"],
    ),
    (Kubernetes, K + "namespaces", ["2: kubernetes namespaces: a value is needed; write `namespaces NAMESPACE...`"]),
    (Kubernetes, K + "ignore x", ["2: kubernetes ignore: `x` is not known here; write `ignore empty_service`"]),
    (
        Kubernetes,
        K + "startup_timeout 5x",
        ["2: kubernetes startup_timeout: `5x` is no duration; write it like 500ms, 5s or 1m30s"],
    ),
    (
        Kubernetes,
        "kubernetes a..b ::/999\nttl x\npods x\nwhat",
        [
            "1: kubernetes: label `a..b` is no zone: empty label in 'a..b'",
            "1: kubernetes: label `::/999` is no zone: '::/999' does not appear to be an IPv4 or IPv6 network",
            "2: kubernetes ttl: `x` is no whole number; SECONDS: 0 to 3600",
            "3: kubernetes pods: `x` is none of disabled, insecure, verified",
            "4: unknown option `what` in kubernetes; options: endpoint, tls, kubeconfig, namespaces, labels, pods, "
            "endpoint_pod_names, ttl, noendpoints, fallthrough, ignore, startup_timeout",
        ],
    ),
    (
        Acl,
        "acl\nallow net 10.0.0.0/33 x",
        [
            "2: acl allow: `10.0.0.0/33` is no network; write it like 10.0.0.0/8 or 2001:db8::/32",
            "2: acl allow: `x` is no network; write it like 10.0.0.0/8 or 2001:db8::/32",
        ],
    ),
    (
        Acl,
        "acl\nallow 10.0.0.0/8",
        ["2: acl allow: `10.0.0.0/8` is out of place; write `allow [type QTYPE...] [net SOURCE...]`"],
    ),
    (Acl, "acl\nallow net", ["2: acl allow: nothing follows net; write `net SOURCE...`"]),
    (
        Acl,
        "acl\nalow",
        ["2: unknown option `alow` in acl; did you mean `allow`? (allow [type QTYPE...] [net SOURCE...])"],
    ),
    (
        Errors,
        "errors\nconsolidate 5m (",
        ["2: errors consolidate: `(` is no regular expression: missing ), unterminated subpattern at position 0"],
    ),
    (Bind, "bind", ["1: bind: a value is needed; write `bind ADDR|IFACE...`"]),
    (Plain, "plain x", ["1: unexpected `x` after plain; write `plain`"]),
    (Plain, "plain\nx", ["2: unknown option `x` in plain; plain has none"]),
]


@pytest.mark.parametrize(("options", "text", "faults"), FAULTS)
def test_all_faults_are_told_at_once(options: type[PluginOptions], text: str, faults: list[str]) -> None:
    with pytest.raises(ConfigurationErrors) as caught:
        read_options(options, directive(text))
    assert str(caught.value).splitlines() == [f"Corefile:{fault}" for fault in faults]


WARNINGS = [
    (K + "ttl 5", []),
    (
        K + "resyncperiod 5m\nttl 1\nupstream\nttl 2\napiserver_qps 1",
        [
            "2: resyncperiod has no effect: CoreDNS no longer reads it",
            "3: ttl is set again below; the last one counts",
            "4: upstream has no effect: CoreDNS no longer reads it",
            "6: apiserver_qps has no effect: it only concerns an API server",
        ],
    ),
]


@pytest.mark.parametrize(("text", "warnings"), WARNINGS)
def test_warnings_come_with_the_options(text: str, warnings: list[str]) -> None:
    options = read_options(Kubernetes, directive(text))
    assert [str(warning) for warning in options.warnings] == [f"Corefile:{warning}" for warning in warnings]


def test_the_last_line_of_an_option_counts() -> None:
    assert read_options(Kubernetes, directive(K + "ttl 1\nttl 2")).ttl == 2
