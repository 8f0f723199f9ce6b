"""What must not be there twice: a zone on one port, a plugin in one server block."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from kubedns.corefile.blocks import Directive, ServerAddress, ServerBlock
from kubedns.errors import ConfigurationError

_VIEW = "view"
Bound = Callable[[ServerBlock], Collection[str]]
"""The addresses that a server block listens on; empty: all."""


def find_overlaps(blocks: Iterable[ServerBlock], default_port: int, bound: Bound) -> list[ConfigurationError]:
    """A fault for each zone that two blocks, or two labels of one, serve on the same port of the same address.

    ``default_port`` is that of labels without one. A block that listens on all addresses overlaps with every other.
    Blocks that take some queries alone, by ``view``, may be many, as long as one that takes all stands below them.
    """
    faults: list[ConfigurationError] = []
    served: dict[object, list[tuple[ServerAddress, frozenset[str]]]] = {}
    for block in blocks:
        listens_on = frozenset(bound(block))
        takes_some = any(directive.word.text == _VIEW for directive in block.directives)
        for address in block.addresses:
            port = default_port if address.port is None else address.port
            others = served.setdefault((address.scheme, address.zone, port), [])
            for other, others_listen_on in others:
                if not listens_on or not others_listen_on or listens_on & others_listen_on:
                    faults.append(_overlap(address, other, port))
                    break
            if not takes_some:
                others.append((address, listens_on))
    return faults


def _overlap(address: ServerAddress, other: ServerAddress, port: int) -> ConfigurationError:
    return ConfigurationError(
        f"{address.zone} on port {port} is already served by the block at {other.location}",
        location=address.location,
        remedy="put both blocks into one, let each `bind` other addresses, or give the first a `view`",
    )


def find_repeats(block: ServerBlock, once: Collection[str]) -> list[ConfigurationError]:
    """A fault for each plugin of ``once`` that stands in ``block`` again."""
    first: dict[str, Directive] = {}
    faults: list[ConfigurationError] = []
    for directive in block.directives:
        word = directive.word.text
        earlier = first.setdefault(word, directive)
        if word in once and earlier is not directive:
            message = f"{word} may stand once in a server block; it does so at {earlier.word.location}"
            faults.append(directive.word.fault(message, "keep one of them"))
    return faults
