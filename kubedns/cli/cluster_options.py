"""Flags that say which cluster a command is about: a folder of manifests, or what a Corefile names."""

from __future__ import annotations

import functools
import ipaddress
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeVar

import click

from kubedns.cli.corefiles import read_corefile
from kubedns.cli.defaults import OWN_PORT
from kubedns.cluster.allocation import Network
from kubedns.cluster.workloads import Networks
from kubedns.corefile.blocks import ServerBlock
from kubedns.corefile.kube_dns_corefile import KUBE_DNS_TTL, Surroundings
from kubedns.server.build import Settings
from kubedns.server.shorthand import Shorthand, server_blocks

_FEWEST_ADDRESSES = 4  # the first and the last of a network are given to nobody

_PATIENCE_SECONDS = 60
"""For the first lists of a big cluster."""

_ONE_OF = "give one of --manifests PATH, --kubeconfig FILE and --conf COREFILE"

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class ClusterFlags:
    """The flags as given. ``zone`` and ``ttl`` go with all but a Corefile; the networks with any manifests.

    Raises:
        click.UsageError: more than one of manifests, kubeconfig and Corefile are named.
    """

    manifests: tuple[str, ...]
    conf: str | None
    kubeconfig: str | None
    context: str | None
    zone: str | None
    ttl: int | None
    service_cidr: tuple[Network, ...]
    pod_cidr: tuple[Network, ...]

    def __post_init__(self) -> None:
        if sum(map(bool, (self.manifests, self.conf, self.kubeconfig))) > 1:
            raise click.UsageError(_ONE_OF)
        if self.context and not self.kubeconfig:
            raise click.UsageError("--context goes with --kubeconfig")
        if self.conf and (self.zone or self.ttl is not None):
            raise click.UsageError("--zone and --ttl go without a Corefile, where they stand in its server blocks")

    def refuse_beside(self, flag: str) -> None:
        """Have none of the flags stand beside ``flag``, which names a server that has a cluster already.

        Raises:
            click.UsageError: one does.
        """
        if words := self.words():
            raise click.UsageError(f"{words[0]} goes without {flag}: the server that runs there has its own cluster")

    def words(self) -> list[str]:
        """The flags as they are typed, so that another command speaks of the same cluster."""
        given: list[tuple[str, object]] = [("--manifests", path) for path in self.manifests]
        given += [("--conf", self.conf), ("--kubeconfig", self.kubeconfig), ("--context", self.context)]
        given += [("--zone", self.zone), ("--ttl", self.ttl)]
        given += [("--service-cidr", network) for network in self.service_cidr]
        given += [("--pod-cidr", network) for network in self.pod_cidr]
        return [word for flag, value in given if value is not None for word in (flag, str(value))]

    def blocks(self, listen: Sequence[str] = ("127.0.0.1",), port: int = OWN_PORT) -> tuple[ServerBlock, ...]:
        """The server blocks; with manifests they listen as told, a Corefile says it itself.

        Raises:
            click.UsageError: no cluster is named.
            ConfigurationErrors: the Corefile or the zone has faults; all of them.
        """
        if self.conf:
            return read_corefile(self.conf)
        if not (self.manifests or self.kubeconfig):
            raise click.UsageError(_ONE_OF)
        return server_blocks(replace(self._shorthand, listen=tuple(listen), port=port))

    def blocks_to_look_at(self, around: bool) -> tuple[ServerBlock, ...]:
        """The same for a look without sockets, which waits longer for an API server: no query waits meanwhile.

        ``around``: where no cluster is named, it is the one that the process runs in.

        Raises: as :meth:`blocks`.
        """
        if self.conf or not (self.manifests or self.kubeconfig or around):
            return self.blocks()
        return server_blocks(replace(self._shorthand, startup_seconds=_PATIENCE_SECONDS))

    @property
    def _shorthand(self) -> Shorthand:
        zone = self.zone or "cluster.local"
        return Shorthand(self.manifests, zone, ttl=self.ttl, kubeconfig=self._kubeconfig, context=self.context or "")

    def surroundings(self, listen: Sequence[str], port: int) -> Surroundings:
        """What a ConfigMap of kube-dns does not say. Without manifests and kubeconfig: the cluster around is served."""
        manifests = tuple(str(Path(path).absolute()) for path in self.manifests)
        zone, ttl = self.zone or "cluster.local", KUBE_DNS_TTL if self.ttl is None else self.ttl
        return Surroundings(port, tuple(listen), zone, manifests, ttl, self._kubeconfig, self.context or "")

    @property
    def _kubeconfig(self) -> str:
        return str(Path(self.kubeconfig).expanduser()) if self.kubeconfig else ""

    def settings(self, port: int = 53) -> Settings:
        """What is no matter of a Corefile. ``port``: of server blocks that name none."""
        defaults = Networks()
        networks = Networks(self.service_cidr or defaults.services, self.pod_cidr or defaults.pods)
        return Settings(default_port=port, networks=networks)


def cluster_options(command: Decorated) -> Decorated:
    """Give a command the flags, as ``flags``."""
    names = [each.name for each in fields(ClusterFlags)]

    @functools.wraps(command)
    def collected(**given: Any) -> object:  # noqa: ANN401 - click hands over what it has read
        flags = ClusterFlags(**{name: given.pop(name) for name in names})
        return command(flags=flags, **given)

    for option in reversed(_OPTIONS):
        collected = option(collected)
    return collected  # type: ignore[return-value] # it takes the flags one by one, as click needs it


def _networks(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> tuple[Network, ...]:
    try:
        networks = tuple(map(ipaddress.ip_network, values))
    except ValueError as error:
        raise click.BadParameter(str(error), ctx, param) from error
    for network in networks:
        if network.num_addresses < _FEWEST_ADDRESSES:
            raise click.BadParameter(f"{network} has no room for addresses; take a larger network", ctx, param)
    return networks


_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option("--manifests", multiple=True, metavar="PATH", help="File or folder of manifests; repeatable."),
    click.option("--kubeconfig", metavar="FILE", help="The cluster that it names, in place of --manifests."),
    click.option("--context", metavar="NAME", help="Which context of the kubeconfig. [default: its current one]"),
    click.option("--conf", metavar="COREFILE", help="Corefile, in place of --manifests."),
    click.option("--zone", help="Zone of the manifests' cluster. [default: cluster.local]"),
    click.option("--ttl", type=click.IntRange(0, 3600), metavar="SECONDS", help="TTL of its records. [default: 5]"),
    click.option(
        "--service-cidr", callback=_networks, multiple=True, metavar="CIDR",
        help="Network that addresses of Services are made up from; one for each family. [default: 10.96.0.0/12]",
    ),
    click.option(
        "--pod-cidr", callback=_networks, multiple=True, metavar="CIDR",
        help="The same for Pods. [default: 10.244.0.0/16]",
    ),
)  # fmt: skip
