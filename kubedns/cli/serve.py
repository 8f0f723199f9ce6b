"""``kubedns serve``: the server, from a folder of manifests or by a Corefile."""

from __future__ import annotations

import asyncio
import logging
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import click

from kubedns import __version__
from kubedns.cli.cluster_options import ClusterFlags, cluster_options
from kubedns.cli.corefiles import reloader_for
from kubedns.cli.defaults import OWN_PORT
from kubedns.cli.examples import Surroundings, examples
from kubedns.observe.logs import LogFormat, set_up
from kubedns.observe.rows import LOG_DROPPED
from kubedns.server.build import build_server
from kubedns.server.configmaps import load_kube_dns
from kubedns.server.lifecycle import serve
from kubedns.server.reloading import Reloader


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
    "--log-format",
    type=click.Choice([form.value for form in LogFormat]),
    default="text",
    show_default=True,
    help="CoreDNS's lines, or an object of JSON on each.",
)
@click.option("-q", "--quiet", is_flag=True, help="Log only what goes wrong, and do not say what to try.")
def command(
    *,
    flags: ClusterFlags,
    listen: Sequence[str],
    port: int | None,
    kube_dns_config: str | None,
    log_format: str,
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
    settings = flags.settings(port or 53)
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
        surroundings = Surroundings(_program(), next(iter(server.resolvers)), flags.words())
        for cluster in server.cluster_zones[:1]:
            for line in examples(cluster, surroundings):
                click.echo(f"  {line}", err=True)

    asyncio.run(serve(server, announce, reloader))


def _program() -> str:
    """The program as the shell that started it finds it."""
    called = Path(sys.argv[0])
    return "kubedns" if called.name != "kubedns" or shutil.which("kubedns") else str(called)
