from pathlib import Path

import pytest

from kubedns.corefile.blocks import Directive, Word
from kubedns.corefile.read_options import read_options
from kubedns.errors import ConfigurationErrors, Location
from kubedns.plugins.forward import Options


def read(*words: str) -> Options:
    line = [Word(text, Location("Corefile", 1, 1, text)) for text in ("forward", *words)]
    return read_options(Options, Directive(line[0], tuple(line[1:])))


TO = [
    (["192.0.2.1"], ["192.0.2.1:53"]),
    (["192.0.2.1:5353", "dns://192.0.2.2", "192.0.2.1:5353"], ["192.0.2.1:5353", "192.0.2.2:53"]),
    (
        ["2001:db8::1", "[2001:db8::2]:5353", "[2001:db8::3]"],
        ["[2001:db8::1]:53", "[2001:db8::2]:5353", "[2001:db8::3]:53"],
    ),
]


@pytest.mark.parametrize(("words", "upstreams"), TO)
def test_upstreams_are_addresses(words: list[str], upstreams: list[str]) -> None:
    assert [str(address) for address in read(".", *words).route.upstreams] == upstreams


def test_upstreams_are_those_of_a_resolv_conf(tmp_path: Path) -> None:
    file = tmp_path / "resolv.conf"
    file.write_text("# mine\nsearch a.test\nnameserver 192.0.2.1 # one\nnameserver fe80::1%eth0\nnameserver x\n")
    assert [str(address) for address in read(".", str(file)).route.upstreams] == ["192.0.2.1:53", "[fe80::1]:53"]
    file.write_text("search a.test\n")
    with pytest.raises(ConfigurationErrors, match="a file without nameserver lines"):
        read(".", str(file))


FAULTS = [
    (["."], "more words are needed"),
    ([".", "nobody"], "`nobody` is no address and no file"),
    ([".", "192.0.2.1:0x"], "is no address and no file"),
    ([".", "tls://192.0.2.1"], "a transport that is not spoken to upstreams"),
    ([".", *(f"192.0.2.{octet}" for octet in range(16))], "16 upstreams; at most 15 are asked"),
]


@pytest.mark.parametrize(("words", "fault"), FAULTS)
def test_what_is_no_upstream_is_refused(words: list[str], fault: str) -> None:
    with pytest.raises(ConfigurationErrors, match=fault):
        read(*words)
