"""``kubedns serve``: the server, from a folder of manifests or by a Corefile."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from kubedns import __version__
from kubedns.cli.addresses import TypedAddress, read_address
from kubedns.cli.cluster_options import ClusterFlags, cluster_options
from kubedns.cli.corefiles import reloader_for
from kubedns.cli.defaults import ADMIN_PORT, OWN_PORT
from kubedns.cli.examples import Surroundings, examples
from kubedns.observe.logs import LogFormat, set_up
from kubedns.observe.pages import HttpAddress
from kubedns.observe.rows import LOG_DROPPED
from kubedns.server.admin import Admin
from kubedns.server.build import build_server
from kubedns.server.configmaps import load_kube_dns
from kubedns.server.lifecycle import serve
from kubedns.server.reloading import Reloader


def _admin(ctx: click.Context, param: click.Parameter, value: str | None) -> TypedAddress | None:
    """The address of the admin endpoint, which tells whoever asks, and so may listen on loopback only."""
    if value is None:
        return None
    address = read_address(value, ADMIN_PORT)
    if not ipaddress.ip_address(address.host).is_loopback:
        raise click.BadParameter(f"{address.host} is no address of loopback, such as 127.0.0.1 or ::1")
    return address


@click.command("serve")
@cluster_options
@click.option(
    "--listen", multiple=True, metavar="ADDRESS", help="Address to listen on; repeatable. [default: 127.0.0.1]"
)
@click.option(
    "--port", type=click.IntRange(1, 65535), help=f"Port; with --conf of labels without one. [default: {OWN_PORT}; 53]"
)
@click.option(
    "--kube-dns-config",
    metavar="FOLDER",
    help="Mounted ConfigMap of kube-dns, whose stub domains and upstreams are served beside the cluster's names.",
)
@click.option(
    "--admin",
    callback=_admin,
    metavar="ADDRESS[:PORT]",
    help="Tell `kubedns explain` and `records` of this machine what is served, by HTTP on loopback. [default: nobody]",
)
@click.option(
    "--log-format",
    type=click.Choice([form.value for form in LogFormat]),
    default="text",
    show_default=True,
    help="CoreDNS's lines, or an object of JSON on each.",
)
@click.option(
    "--reuse-port",
    is_flag=True,
    help="Share all addresses with other servers of the same user that say so too: one can take over from another.",
)
@click.option("-q", "--quiet", is_flag=True, help="Log only what goes wrong, and do not say what to try.")
def command(
    *,
    flags: ClusterFlags,
    listen: Sequence[str],
    port: int | None,
    kube_dns_config: str | None,
    admin: TypedAddress | None,
    log_format: str,
    reuse_port: bool,
    quiet: bool,
) -> None:
    """Answer queries until SIGTERM or Ctrl-C.

    With --manifests it serves Services, Deployments, StatefulSets and what else is there as a cluster would, and
    follows edits of the files. With --conf it serves by a Corefile. With --kube-dns-config alone it serves the cluster
    that it runs in, as kube-dns does: on port 53 of every address, with probes and metrics.
    """
    if flags.conf and (listen or kube_dns_config):
        raise click.UsageError("--listen and --kube-dns-config go without --conf; a Corefile says it itself")
    is_inside = bool(kube_dns_config) and not (flags.manifests or flags.kubeconfig)
    listen = tuple(listen) or (() if is_inside else ("127.0.0.1",))
    own_port = port or (53 if is_inside else OWN_PORT)
    sink = set_up(time.monotonic, sys.stderr, logging.WARNING if quiet else logging.INFO, LogFormat(log_format))
    settings = replace(flags.settings(port or 53), shares_addresses=reuse_port)
    reloader = reloader_for(flags.conf, settings) if flags.conf else None
    if kube_dns_config:
        around = flags.surroundings(listen, own_port)
        reloader = Reloader(kube_dns_config, lambda files: load_kube_dns(kube_dns_config, around, files), settings)
        blocks = load_kube_dns(kube_dns_config, around).blocks
    else:
        blocks = flags.blocks(listen, own_port)
    server = build_server(blocks, settings)
    server.lasting.metrics.cell(LOG_DROPPED).read = lambda: sink.dropped

    def announce(listeners: Sequence[str]) -> None:
        if quiet:
            return
        click.echo(f"kubedns {__version__} answers on {', '.join(listeners)}", err=True)
        words = flags.words() if admin is None else ["--admin", str(admin)]
        surroundings = Surroundings(_program(), next(iter(server.resolvers)), words)
        for cluster in server.cluster_zones[:1]:
            for line in examples(cluster, surroundings):
                click.echo(f"  {line}", err=True)

    asyncio.run(serve(server, announce, reloader, _endpoint(admin)))


def _endpoint(address: TypedAddress | None) -> Admin | None:
    if address is None:
        return None
    from kubedns.cli.admin_pages import PAGES  # only who wants the endpoint needs what writes explanations

    return Admin(HttpAddress(address.host, address.port), PAGES)


def _program() -> str:
    """The program as the shell that started it finds it."""
    called = Path(sys.argv[0])
    return "kubedns" if called.name != "kubedns" or shutil.which("kubedns") else str(called)
