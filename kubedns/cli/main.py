"""The program: its commands, and CoreDNS's own flags when there is no command.

Nothing but click is imported before a command is known, so that ``--help`` and completion answer at once.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import click

from kubedns.cli.coredns_flags import CorednsFlags, coredns_flags
from kubedns.cli.coredns_output import plugin_lines, version_lines
from kubedns.cli.program import LazyCommand, Program
from kubedns.cli.status import Status

HELP = """A cluster DNS server for Kubernetes whose answers are right, fresh and explained.

\b
  kubedns serve --manifests ./k8s              serve a folder of manifests on 127.0.0.1:1053
  kubedns explain web --manifests ./k8s        why a pod gets the answer it gets
  kubedns -conf Corefile -dns.port 1053        serve by a Corefile, with CoreDNS's flags

Without a command it serves as CoreDNS would, by the flags below or by ./Corefile where there is one.
"""


class _Kubedns(Program):
    table = (
        LazyCommand("serve", "Answer queries, from manifests or by a Corefile."),
        LazyCommand("explain", "Tell how a name as typed in a pod is answered, and why."),
        LazyCommand("records", "List every name there is."),
        LazyCommand("check", "Say what a Corefile or ConfigMap would serve, and what is wrong with it."),
        LazyCommand("convert", "Turn a ConfigMap of kube-dns into a Corefile."),
        LazyCommand("query", "Ask a DNS server."),
        LazyCommand("compare", "Ask two servers for every name of a cluster, and print what they answer differently."),
        LazyCommand("host-ip", "Print the address of the node that this Pod runs on, for http_proxy."),
        LazyCommand("version", "Print the version."),
        LazyCommand("completion", "Print the completion script of a shell."),
    )


@click.group(
    cls=_Kubedns,
    name="kubedns",
    help=HELP,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "-help", "--help"], "max_content_width": 120},
)
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@coredns_flags
@click.pass_context
def kubedns(ctx: click.Context, /, debug: bool, **given: object) -> int:
    """Run what the flags ask for, unless a command is given."""
    flags = CorednsFlags.of(given)
    if ctx.invoked_subcommand is not None:
        if flags.any_given:
            raise click.UsageError("CoreDNS's flags (-conf, -dns.port, ...) go without a command")
        return Status.DONE
    # A newcomer who types the bare name wants to know what there is. Who moves over from CoreDNS and has a Corefile
    # in the folder expects it to be served.
    if not flags.any_given and not Path("Corefile").exists():
        click.echo(ctx.get_help())
        return Status.DONE
    _run_as_coredns(flags)
    return Status.DONE


def _run_as_coredns(flags: CorednsFlags) -> None:
    if flags.version:
        click.echo(version_lines())
    elif flags.plugins:
        from kubedns.plugins.order import PLUGINS

        click.echo(plugin_lines(PLUGINS))
    else:
        from kubedns.cli.coredns import serve_as_coredns

        serve_as_coredns(flags)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line; gives the exit status."""
    try:
        status = kubedns.main(arguments, prog_name="kubedns", standalone_mode=False)
    except click.ClickException as error:
        hint = f"; see {error.ctx.command_path} --help" if isinstance(error, click.UsageError) and error.ctx else ""
        click.echo(f"kubedns: {error.format_message().rstrip('.')}{hint}", err=True)
        return error.exit_code
    except click.Abort:
        return Status.INTERRUPTED
    return int(status or Status.DONE)


def run() -> NoReturn:
    """The console script."""
    sys.exit(main())
