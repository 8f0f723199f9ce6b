import pytest

from kubedns.corefile.read_options import read_options
from kubedns.errors import ConfigurationErrors
from kubedns.plugins.kubernetes import Options
from kubedns.records.options import PodsMode
from kubedns.server.shorthand import Shorthand, server_blocks
from tests.corefile.reading import parse, shown_block

COREFILE = """\
cluster.local:1053 in-addr.arpa:1053 ip6.arpa:1053 {
    bind 127.0.0.1
    errors
    loadbalance
    kubernetes {
        manifests k8s
        pods verified
    }
}
"""

SAME = [
    (Shorthand(("k8s",)), COREFILE),
    (Shorthand(("k8s",), zone="k8s.test."), COREFILE.replace("cluster.local", "k8s.test")),
    (Shorthand(("k8s",), port=53), COREFILE.replace("1053", "53")),
    (Shorthand(("k8s",), startup_seconds=60), COREFILE),
    (Shorthand(), COREFILE.replace("        manifests k8s\n", "")),
    (
        Shorthand(kubeconfig="config", context="here", startup_seconds=60, ttl=30),
        COREFILE.replace("manifests k8s", "kubeconfig config here").replace(
            "pods verified", "pods verified\n        startup_timeout 60s\n        ttl 30"
        ),
    ),
    (Shorthand(("a", "b c"), listen=("::1", "lo")), COREFILE.replace("k8s", 'a "b c"').replace("127.0.0.1", "::1 lo")),
]


@pytest.mark.parametrize(("flags", "text"), SAME)
def test_flags_stand_for_a_corefile(flags: Shorthand, text: str) -> None:
    (block,), (written,) = server_blocks(flags), parse(text).blocks
    assert block.addresses == written.addresses
    assert shown_block(block).replace('"', "") == shown_block(written).replace('"', "")


def test_the_plugin_reads_what_the_flags_say() -> None:
    (block,) = server_blocks(Shorthand(("a", "b c")))
    options = read_options(Options, block.directives[-1])
    assert (options.manifests, options.pods) == (("a", "b c"), PodsMode.VERIFIED)


@pytest.mark.parametrize(
    ("zone", "fault"),
    [
        ("a..b", "--zone: label `a..b` is no zone: empty label in 'a..b'"),
        ("", "--zone: label `` names no zone; the zone `.` is all names"),
    ],
)
def test_a_fault_names_the_flag(zone: str, fault: str) -> None:
    with pytest.raises(ConfigurationErrors) as caught:
        server_blocks(Shorthand((".",), zone=zone))
    assert str(caught.value) == fault


def test_an_empty_path_names_the_flag() -> None:
    (block,) = server_blocks(Shorthand(("",)))
    with pytest.raises(ConfigurationErrors) as caught:
        read_options(Options, block.directives[-1])
    assert str(caught.value) == "--manifests: kubernetes manifests: `` is empty"
