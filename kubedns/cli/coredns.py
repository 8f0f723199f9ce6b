"""What CoreDNS's own flags ask for; the output has CoreDNS's form, for scripts read it."""

from __future__ import annotations

import platform

import click

from kubedns import __version__
from kubedns.cli.coredns_flags import CorednsFlags
from kubedns.cli.status import Status


def run_as_coredns(flags: CorednsFlags) -> int:
    """Do what ``flags`` ask for; gives the exit status."""
    if flags.version:
        click.echo(version_lines())
    elif flags.plugins:
        click.echo(plugin_lines())
    return Status.DONE


def version_lines() -> str:
    """``NAME-VERSION``, then what it runs on."""
    system = f"{platform.system().lower()}/{platform.machine()}"
    return f"kubedns-{__version__}\n{system}, {platform.python_implementation()} {platform.python_version()}"


def plugin_lines() -> str:
    """Every word of the Corefile, as ``dns.WORD``."""
    from kubedns.plugins.order import PLUGINS

    words = "\n".join(f"  dns.{word}" for word in sorted(PLUGINS))
    return f"Server types:\n  dns\n\nOther plugins:\n{words}"
