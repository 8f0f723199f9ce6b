"""Flags of ``kubedns serve`` → the server block that a Corefile would give; whoever outgrows them can write it down.

::

    ZONE:PORT in-addr.arpa:PORT ip6.arpa:PORT {
        bind ADDRESS...
        errors
        loadbalance
        kubernetes {
            [manifests PATH...|kubeconfig FILE [CONTEXT]]
            pods verified
        }
    }
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kubedns.corefile.blocks import Directive, ServerAddress, ServerBlock, Word
from kubedns.corefile.labels import read_label
from kubedns.errors import ConfigurationError, ConfigurationErrors, Location


@dataclass(frozen=True, slots=True)
class Shorthand:
    """What the flags say: ``--manifests`` (paths), ``--zone``, ``--listen`` (addresses), ``--port`` and ``--ttl``.

    ``kubeconfig`` and ``context`` in place of manifests: the cluster that they name. Without any: the one around.
    ``startup_seconds``: how long an API server is waited for at the start.
    """

    manifests: tuple[str, ...] = ()
    zone: str = "cluster.local"
    listen: tuple[str, ...] = ("127.0.0.1",)
    port: int = 1053
    ttl: int | None = None
    kubeconfig: str = ""
    context: str = ""
    startup_seconds: int | None = None


def server_blocks(flags: Shorthand) -> tuple[ServerBlock, ...]:
    """The one server block for the cluster's names, forward and reverse.

    Pods are ``verified``: the manifests name every pod there is, so a name that answers is a pod that exists, and a
    slip in an address shows; the memory that a big cluster would save by ``insecure`` is nothing here.

    Raises:
        ConfigurationErrors: the zone is no zone.
    """
    lines = (
        _line("bind", "--listen", flags.listen),
        _line("errors"),
        _line("loadbalance"),
        Directive(
            _word("kubernetes"),
            block=_cluster(flags),
            has_block=True,
        ),
    )
    return (ServerBlock(_addresses(flags), lines, Location("--zone", word=flags.zone)),)


def _cluster(flags: Shorthand) -> tuple[Directive, ...]:
    lines = []
    if flags.manifests:
        lines.append(_line("manifests", "--manifests", flags.manifests))
    if flags.kubeconfig:
        lines.append(_line("kubeconfig", "--kubeconfig", filter(None, (flags.kubeconfig, flags.context))))
    lines.append(_line("pods", "", ("verified",)))
    if flags.startup_seconds is not None and not flags.manifests:
        lines.append(_line("startup_timeout", "", (f"{flags.startup_seconds}s",)))
    if flags.ttl is not None:
        lines.append(_line("ttl", "--ttl", (str(flags.ttl),)))
    return tuple(lines)


def _addresses(flags: Shorthand) -> tuple[ServerAddress, ...]:
    zones = [_word(flags.zone, "--zone"), _word("in-addr.arpa"), _word("ip6.arpa")]
    try:
        labels = [address for zone in zones for address in read_label(zone)]
    except ConfigurationError as fault:
        raise ConfigurationErrors([fault]) from fault
    return tuple(ServerAddress(label.zone, port=flags.port, location=label.location) for label in labels)


def _line(word: str, flag: str = "", arguments: Iterable[str] = ()) -> Directive:
    return Directive(_word(word, flag), tuple(_word(argument, flag) for argument in arguments))


def _word(text: str, flag: str = "") -> Word:
    """A word that stands nowhere but in a flag; faults name that, and an empty one is not blamed on a variable."""
    return Word(text, Location(flag or "kubedns serve", word=text), quoted=True)
