"""``kubedns convert``: a ConfigMap of kube-dns as a Corefile."""

from __future__ import annotations

from pathlib import Path

import click

from kubedns.corefile.kube_dns import KEYS, KubeDns, read_kube_dns
from kubedns.corefile.kube_dns_corefile import Surroundings, corefile_text
from kubedns.errors import ConfigurationError, ConfigurationErrors, Location
from kubedns.server.configmaps import mounted, written
from kubedns.server.files import DiskFiles


@click.command("convert")
@click.argument("path")
@click.option("--zone", default="cluster.local", show_default=True, help="The cluster's zone.")
@click.option("--output", metavar="FILE", help="Where the Corefile goes; else to standard output.")
def command(*, path: str, zone: str, output: str | None) -> None:
    """Turn a ConfigMap of kube-dns into a Corefile that serves the same.

    PATH is a manifest with the ConfigMap, or the folder that it is mounted at. Of federations the names of this
    cluster's own Services are kept.
    """
    config = _config(path)
    for name in config.federations:
        click.echo(f"{path}: federation {name} is kept for this cluster's own Services alone", err=True)
    text = f"# Made of kube-dns's ConfigMap: {path}\n{corefile_text(config, Surroundings(zone=zone))}"
    if output is None:
        click.echo(text, nl=False)
    else:
        Path(output).write_text(text)


def _config(path: str) -> KubeDns:
    """What kube-dns's ConfigMap at ``path`` says.

    Raises:
        ConfigurationErrors: its faults, or that there is none.
    """
    if Path(path).is_dir():
        return read_kube_dns(mounted(path, DiskFiles()), path, converts=True)
    try:
        text = DiskFiles().read(path)
    except ConfigurationError as fault:
        raise ConfigurationErrors([fault]) from fault
    for name, texts in written(path, text):
        if name == "kube-dns" or set(KEYS) & set(texts):
            return read_kube_dns(texts, path, converts=True)
    remedy = f"its keys are {', '.join(KEYS)}"
    raise ConfigurationErrors(
        [ConfigurationError("no ConfigMap of kube-dns in it", location=Location(path), remedy=remedy)]
    )
