"""Other servers of a zone, as the Corefile names them."""

from __future__ import annotations

import ipaddress

from kubedns.corefile.blocks import Word
from kubedns.corefile.shapes import OneWord, unfit
from kubedns.plugins.forward_reading import split_address
from kubedns.upstream.exchange import UpstreamAddress


class Peer(OneWord[UpstreamAddress]):
    """``ADDRESS[:PORT]``; the port is 53 unless given."""

    syntax = "ADDRESS[:PORT]"

    def convert(self, word: Word) -> UpstreamAddress:
        """The address."""
        host, _, port = split_address(word.text, over_tls=False)
        try:
            return UpstreamAddress(str(ipaddress.ip_address(host)), int(port))
        except ValueError as error:
            raise unfit(word, "no address", "write it like 192.0.2.1, 192.0.2.1:53 or [2001:db8::1]:53") from error


def packed(peer: UpstreamAddress) -> bytes:
    """The octets of the peer's address, as a client's are."""
    return ipaddress.ip_address(peer.host).packed
