import pytest

from kubedns.dns.names import (
    ROOT,
    BadNameError,
    name_of,
    parse_name,
    reverse_name,
    reverse_prefix,
    reverse_zones,
)

TEXTS = [
    (".", ()),
    ("web.shop.", (b"web", b"shop")),
    ("web.shop", (b"web", b"shop")),
    (r"web\.shop.svc.", (b"web.shop", b"svc")),
    (r"a\\b.", (b"a\\b",)),
    (r"\255\000x.", (b"\xff\x00x",)),
    ("_http._tcp.", (b"_http", b"_tcp")),
]


@pytest.mark.parametrize(("text", "labels"), TEXTS)
def test_presentation_form_is_read_and_written_alike(text: str, labels: tuple[bytes, ...]) -> None:
    name = parse_name(text)
    assert name.labels == labels
    assert parse_name(str(name)).labels == labels


@pytest.mark.parametrize("text", ["", "a..b", ".a", "a" * 64, r"a\25", r"a\256", "a\\", ".".join(["a" * 60] * 5)])
def test_text_that_is_no_name_is_refused(text: str) -> None:
    with pytest.raises(BadNameError):
        parse_name(text)


def test_every_octet_survives_presentation() -> None:
    for octet in range(256):
        label = bytes((octet, 0x61))
        shown = str(name_of((label,)))
        assert parse_name(shown).labels == (label,)
        assert shown.isascii()
        assert shown.isprintable()


def test_comparison_folds_ascii_only() -> None:
    assert parse_name("WeB.ShOp.") == parse_name("web.shop.")
    assert not parse_name("WeB.ShOp.") != parse_name("web.shop.")  # noqa: SIM202
    assert hash(parse_name("WEB.")) == hash(parse_name("web."))
    assert name_of((b"\xc4\xb1",)) != name_of((b"i",))
    assert name_of((b"a.b",)) != name_of((b"a", b"b"))
    assert parse_name("web.") != "web."


BELOW = [
    ("web.cluster.local.", "cluster.local.", True),
    ("cluster.local.", "CLUSTER.local.", True),
    ("evilcluster.local.", "cluster.local.", False),
    ("local.", "cluster.local.", False),
    ("cluster.local.", ".", True),
]


@pytest.mark.parametrize(("name", "zone", "expected"), BELOW)
def test_descent_is_by_label(name: str, zone: str, expected: bool) -> None:
    assert parse_name(name).is_at_or_below(parse_name(zone)) is expected


def test_octets_count_the_wire_form() -> None:
    assert ROOT.octets() == 1
    assert parse_name("web.shop.").octets() == 10


REVERSES = [
    (bytes((10, 96, 0, 1)), "1.0.96.10.in-addr.arpa."),
    (bytes.fromhex("fd00") + bytes(13) + b"\x2a", "a.2." + "0." * 26 + "0.0.d.f.ip6.arpa."),
]


@pytest.mark.parametrize(("address", "name"), REVERSES)
def test_reverse_names_lead_to_and_fro(address: bytes, name: str) -> None:
    assert str(reverse_name(address)) == name
    assert reverse_prefix(reverse_name(address).key) == (address, len(address) * 8)


PREFIXES = [
    ("in-addr.arpa.", (b"", 0)),
    ("10.in-addr.arpa.", (b"\x0a", 8)),
    ("96.10.in-addr.arpa.", (b"\x0a\x60", 16)),
    ("256.10.in-addr.arpa.", None),
    ("01.10.in-addr.arpa.", None),
    ("x.10.in-addr.arpa.", None),
    ("1.1.1.1.1.in-addr.arpa.", None),
    ("ip6.arpa.", (b"", 0)),
    ("d.f.ip6.arpa.", (b"\xfd", 8)),
    ("0.d.f.ip6.arpa.", (b"\xfd\x00", 12)),
    ("g.f.ip6.arpa.", None),
    ("00.f.ip6.arpa.", None),
    ("0." * 33 + "ip6.arpa.", None),
    ("cluster.local.", None),
]


@pytest.mark.parametrize(("name", "expected"), PREFIXES)
def test_reverse_prefixes(name: str, expected: tuple[bytes, int] | None) -> None:
    assert reverse_prefix(parse_name(name).key) == expected


ZONES = [
    ("10.0.0.0/8", ["10.in-addr.arpa."]),
    ("10.96.0.0/24", ["0.96.10.in-addr.arpa."]),
    ("10.96.0.0/12", [f"{octet}.10.in-addr.arpa." for octet in range(96, 112)]),
    ("10.1.2.3/32", ["3.2.1.10.in-addr.arpa."]),
    ("0.0.0.0/0", ["in-addr.arpa."]),
    ("2001:db8::/32", ["8.b.d.0.1.0.0.2.ip6.arpa."]),
    ("fd00::/31", ["0.0.0.0.0.0.d.f.ip6.arpa.", "1.0.0.0.0.0.d.f.ip6.arpa."]),
]


@pytest.mark.parametrize(("network", "zones"), ZONES)
def test_a_network_is_exactly_its_reverse_zones(network: str, zones: list[str]) -> None:
    assert [str(zone) for zone in reverse_zones(network)] == zones


def test_no_network_is_refused() -> None:
    with pytest.raises(BadNameError):
        reverse_zones("10.0.0.0/33")


def test_names_are_equal_or_different_and_never_both() -> None:
    name, same, other = parse_name("a.test."), parse_name("A.test."), parse_name("b.test.")
    assert (name == same, name != same) == (True, False)
    assert (name == other, name != other) == (False, True)
