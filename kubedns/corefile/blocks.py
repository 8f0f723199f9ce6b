"""What a Corefile says, before anybody knows the plugins: server blocks, directives, words with their places."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum

from kubedns.dns.names import Name
from kubedns.errors import ConfigurationError, Location

Texts = tuple[tuple[tuple[str, ...], bool, "Texts"], ...]
"""The words of directives, each with those of its block, without their places."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word, its variables filled in. ``location.word`` keeps what is written; ``quoted`` words are never braces."""

    text: str
    location: Location
    quoted: bool = False

    def fault(self, message: str, remedy: str = "") -> ConfigurationError:
        """What is wrong here, and what to do about it."""
        return ConfigurationError(message, location=self.location, remedy=remedy)


@dataclass(frozen=True, slots=True)
class Directive:
    """A line of a block: a plugin, or an option inside a plugin's own ``block``."""

    word: Word
    arguments: tuple[Word, ...] = ()
    block: tuple[Directive, ...] = ()
    has_block: bool = False


class Scheme(Enum):
    """How a server block is spoken to."""

    DNS = "dns"
    TLS = "tls"
    HTTPS = "https"
    GRPC = "grpc"
    QUIC = "quic"


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """One zone that a server block serves. ``port`` is None where the label names none: the default port."""

    zone: Name
    scheme: Scheme = Scheme.DNS
    port: int | None = None
    location: Location = field(default=Location(""), compare=False)


@dataclass(frozen=True, slots=True)
class ServerBlock:
    """``addresses`` in the order of the labels, a network's reverse zones side by side; ``directives`` as written."""

    addresses: tuple[ServerAddress, ...]
    directives: tuple[Directive, ...]
    location: Location

    def says_the_same_as(self, other: ServerBlock) -> bool:
        """Whether it serves the same in the same way, wherever it is written and however it is laid out."""
        return self.addresses == other.addresses and _texts(self.directives) == _texts(other.directives)


def _texts(directives: Iterable[Directive]) -> Texts:
    return tuple(
        (tuple(word.text for word in (each.word, *each.arguments)), each.has_block, _texts(each.block))
        for each in directives
    )


@dataclass(frozen=True, slots=True)
class Corefile:
    """A file with all its imports. ``warnings``: what is read, but better written otherwise."""

    blocks: tuple[ServerBlock, ...]
    warnings: tuple[ConfigurationError, ...] = ()
