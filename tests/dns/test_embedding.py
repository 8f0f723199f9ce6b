import ipaddress

import pytest

from kubedns.dns.embedding import prefix_of

# The table of RFC 6052 §2.4, for 192.0.2.33.
EMBEDDED = [
    ("2001:db8::/32", "2001:db8:c000:221::"),
    ("2001:db8:100::/40", "2001:db8:1c0:2:21::"),
    ("2001:db8:122::/48", "2001:db8:122:c000:2:2100::"),
    ("2001:db8:122:300::/56", "2001:db8:122:3c0:0:221::"),
    ("2001:db8:122:344::/64", "2001:db8:122:344:c0:2:2100::"),
    ("2001:db8:122:344::/96", "2001:db8:122:344::192.0.2.33"),
    ("64:ff9b::/96", "64:ff9b::192.0.2.33"),
]


@pytest.mark.parametrize(("network", "address"), EMBEDDED)
def test_addresses_are_embedded_and_found_again(network: str, address: str) -> None:
    prefix = prefix_of(ipaddress.IPv6Network(network))
    inner, outer = bytes((192, 0, 2, 33)), ipaddress.IPv6Address(address).packed
    assert prefix.embed(inner) == outer
    assert prefix.extract(outer) == inner
    assert prefix.extract(ipaddress.IPv6Address("2001:db9::1").packed) is None
