"""``kubedns host-ip``: the address of the node that a Pod runs on, for ``http_proxy``."""

from __future__ import annotations

import asyncio
import ipaddress
import os
from collections.abc import Mapping
from pathlib import Path

import click

from kubedns.cluster.access import ApiAccess
from kubedns.corefile.values import AnyAddress
from kubedns.errors import ConfigurationError

_ADDRESS = ("HOST_IP", "NODE_IP")
"""What people call status.hostIP of the downward API."""
_NAMESPACE = ("NAMESPACE", "NS")
_POD = ("POD_NAME",)


@click.command("host-ip")
@click.option("--kubeconfig", metavar="FILE", help="Whom to ask. [default: the API server of the cluster around]")
@click.option("--context", metavar="NAME", help="Which context of the kubeconfig. [default: its current one]")
def command(*, kubeconfig: str | None, context: str | None) -> None:
    """Print the address of the node that this Pod runs on, as in http_proxy=http://$(kubedns host-ip):4140.

    HOST_IP (or NODE_IP) is printed where the downward API sets it from status.hostIP. Else the API server is asked for
    the Pod POD_NAME of NAMESPACE (or NS). An IPv6 address stands in brackets, as a URL has it. Exit status 1: no such
    Pod, or no node runs it yet; 3: the API server does not answer.
    """
    if context and not kubeconfig:
        raise click.UsageError("--context goes with --kubeconfig")
    address = _told(os.environ) or _asked(os.environ, _access(kubeconfig, context))
    click.echo(f"[{address}]" if address.version == 6 else str(address))


def _access(kubeconfig: str | None, context: str | None) -> ApiAccess:
    return ApiAccess(str(Path(kubeconfig).expanduser()) if kubeconfig else "", context or "")


def _told(environment: Mapping[str, str]) -> AnyAddress | None:
    """The address that the environment tells; None: it tells none.

    Raises:
        ConfigurationError: what it tells is no address.
    """
    name, text = _first(environment, _ADDRESS)
    if not text:
        return None
    try:
        return ipaddress.ip_address(text)
    except ValueError as error:
        remedy = "set it from fieldPath: status.hostIP"
        raise ConfigurationError(f"{name} is {text!r}, which is no address", remedy=remedy) from error


def _asked(environment: Mapping[str, str], access: ApiAccess) -> AnyAddress:
    from kubedns.cluster.sources.pod_host import pod_host  # whoever is told needs no client

    named = [_first(environment, names) for names in (_NAMESPACE, _POD)]
    missing = [name for name, text in named if not text]
    if missing:
        message = f"neither {_ADDRESS[0]} nor {' and '.join(missing)} {'are' if len(missing) > 1 else 'is'} set"
        remedy = "set them in the Pod's env by fieldRef: status.hostIP, or metadata.namespace and metadata.name"
        raise ConfigurationError(message, remedy=remedy)
    return asyncio.run(pod_host(access, *(text for _, text in named)))


def _first(environment: Mapping[str, str], names: tuple[str, ...]) -> tuple[str, str]:
    """The first of the variables that is set, with its value; where none is, the first with an empty one."""
    return next(((name, environment[name]) for name in names if environment.get(name)), (names[0], ""))
