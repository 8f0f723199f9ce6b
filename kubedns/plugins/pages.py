"""Where a plugin's page is: ``ADDRESS`` as ``:8080``, ``127.0.0.1:8080`` or ``[::1]:8080``."""

from __future__ import annotations

import ipaddress

from kubedns.corefile.blocks import Word
from kubedns.corefile.shapes import OneWord, unfit
from kubedns.observe.pages import HttpAddress

_REMEDY = "write it like :8080, 127.0.0.1:8080 or [::1]:8080"


class PageAddress(OneWord[HttpAddress]):
    """An address and port for pages; without an address, every one of the machine."""

    syntax = "ADDRESS"

    def convert(self, word: Word) -> HttpAddress:
        """The address."""
        host, colon, port = word.text.rpartition(":")
        if not colon or not port.isascii() or not port.isdigit() or not 1 <= int(port) <= 65535:
            raise unfit(word, "no address with a port", _REMEDY)
        if host in ("", "localhost"):
            return HttpAddress("127.0.0.1" if host else "", int(port))
        try:
            return HttpAddress(str(ipaddress.ip_address(host.removeprefix("[").removesuffix("]"))), int(port))
        except ValueError as error:
            raise unfit(word, "no address", _REMEDY) from error
