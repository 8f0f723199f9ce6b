"""What the program prints under CoreDNS's flags, in CoreDNS's form, for scripts read it."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from kubedns import __version__

if TYPE_CHECKING:  # the version is told without reading any of this
    from kubedns.corefile.blocks import ServerBlock


def version_lines() -> str:
    """``NAME-VERSION``, then what it runs on."""
    system = f"{platform.system().lower()}/{platform.machine()}"
    return f"kubedns-{__version__}\n{system}, {platform.python_implementation()} {platform.python_version()}"


def plugin_lines(words: Iterable[str]) -> str:
    """The words of the Corefile, as ``dns.WORD``."""
    lines = "\n".join(f"  dns.{word}" for word in sorted(words))
    return f"Server types:\n  dns\n\nOther plugins:\n{lines}"


def zone_lines(blocks: Iterable[ServerBlock], default_port: int) -> Iterator[str]:
    """``ZONE:PORT`` for everything that is served."""
    for block in blocks:
        for address in block.addresses:
            yield f"{address.zone}:{address.port or default_port}"
