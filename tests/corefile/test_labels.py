import pytest

from kubedns.corefile.blocks import Scheme, Word
from kubedns.corefile.labels import read_label
from kubedns.errors import ConfigurationError, Location


def label(text: str) -> Word:
    return Word(text, Location("Corefile", 1, 1, text))


READ = [
    (".", ["."], Scheme.DNS, None),
    (".:0", ["."], Scheme.DNS, 0),
    ("Cluster.Local.", ["Cluster.Local."], Scheme.DNS, None),
    ("cluster.local:65535", ["cluster.local."], Scheme.DNS, 65535),
    ("DNS://a:53", ["a."], Scheme.DNS, 53),
    ("tls://.", ["."], Scheme.TLS, None),
    ("quic://a:1", ["a."], Scheme.QUIC, 1),
    ("10.0.0.0/8", ["10.in-addr.arpa."], Scheme.DNS, None),
    ("10.1.2.3/8:53", ["10.in-addr.arpa."], Scheme.DNS, 53),
    ("10.0.0.0/31", ["0.0.0.10.in-addr.arpa.", "1.0.0.10.in-addr.arpa."], Scheme.DNS, None),
    ("0.0.0.0/0", ["in-addr.arpa."], Scheme.DNS, None),
    ("::/0", ["ip6.arpa."], Scheme.DNS, None),
    ("2001:db8::/31", ["8.b.d.0.1.0.0.2.ip6.arpa.", "9.b.d.0.1.0.0.2.ip6.arpa."], Scheme.DNS, None),
    ("2001:db8::/32:1053", ["8.b.d.0.1.0.0.2.ip6.arpa."], Scheme.DNS, 1053),
    ("0/25.2.0.192.in-addr.arpa", ["0/25.2.0.192.in-addr.arpa."], Scheme.DNS, None),
    ("_tcp.a", ["_tcp.a."], Scheme.DNS, None),
    ("*.a", ["*.a."], Scheme.DNS, None),
]


@pytest.mark.parametrize(("text", "zones", "scheme", "port"), READ)
def test_labels_are_read(text: str, zones: list[str], scheme: Scheme, port: int | None) -> None:
    addresses = read_label(label(text))
    assert [str(address.zone) for address in addresses] == zones
    assert {(address.scheme, address.port) for address in addresses} == {(scheme, port)}
    assert {address.location.word for address in addresses} == {text}


REFUSED = [
    ("a:", "label `a:` has no port after its colon; write ZONE:PORT"),
    ("a:65536", "label `a:65536` has no port 65536; ports are 0 to 65535"),
    ("a:99999999999999999999", "label `a:99999999999999999999` has no port 99999999999999999999; ports are 0 to 65535"),
    (":53", "label `:53` names no zone; the zone `.` is all names"),
    ("dns://", "label `dns://` names no zone; the zone `.` is all names"),
    ("a..b", "label `a..b` is no zone: empty label in 'a..b'"),
    ("\udcff.a", "label `'\\udcff.a'` is no text"),
    ("a:b", "label `a:b` is no zone; write ZONE, ZONE:PORT or a network like 10.0.0.0/8"),
    ("a b", "label `a b` is no zone; write ZONE, ZONE:PORT or a network like 10.0.0.0/8"),
    ("a,b", "label `a,b` is no zone; write ZONE, ZONE:PORT or a network like 10.0.0.0/8"),
    ("::1", "label `::1` is an address, not a zone; `bind ::1` listens there, `::1/128` is its reverse zone"),
    ("tsl://a", "unknown scheme `tsl://` in label `tsl://a`; did you mean `tls://`?"),
    (
        "10.0.0.0/33",
        "label `10.0.0.0/33` is no zone: '10.0.0.0/33' does not appear to be an IPv4 or IPv6 network",
    ),
    ("x" * 64, f"label `{'x' * 64}` is no zone: label of 64 octets in '{'x' * 64}': at most 63 are allowed"),
]


@pytest.mark.parametrize(("text", "fault"), REFUSED)
def test_labels_are_refused(text: str, fault: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        read_label(label(text))
    assert str(caught.value) == f"Corefile:1: {fault}"
