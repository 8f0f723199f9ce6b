"""``kubedns check``: what a configuration would serve, and everything that is wrong with it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator, Sequence

import click

from kubedns.cli.checking import Checked, checked
from kubedns.cli.status import Status


@click.command("check")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option(
    "--port", type=click.IntRange(1, 65535), default=53, show_default=True, help="Port of labels without one."
)
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(*, paths: Sequence[str], port: int, output: str) -> int:
    """Say what Corefiles and ConfigMaps would serve, and everything that is wrong with them. Nothing is listened on.

    PATH is a Corefile, ./Corefile unless given; a manifest with ConfigMaps of CoreDNS or kube-dns; or a folder that
    such a ConfigMap is mounted at.
    """
    found = [each for path in paths or ("Corefile",) for each in checked(path, port)]
    if output == "json":
        click.echo(json.dumps([dataclasses.asdict(each) for each in found], indent=2))
    else:
        click.echo("\n".join(_lines(found)))
    return Status.BAD_CONFIGURATION if any(each.faults for each in found) else Status.DONE


def _lines(found: Iterable[Checked]) -> Iterator[str]:
    for each in found:
        yield f"{each.name}: {_verdict(each)}"
        yield from (f"  fault    {fault}" for fault in each.faults)
        yield from (f"  warning  {warning}" for warning in each.warnings)
        for block in each.blocks:
            yield f"  {' '.join(block.zones)}"
            yield f"    listens  {', '.join(block.listens)}"
            yield f"    plugins  {', '.join(block.plugins)}"
            if block.upstreams:
                yield f"    asks     {', '.join(block.upstreams)}"


def _verdict(each: Checked) -> str:
    faults, warnings = len(each.faults), len(each.warnings)
    noted = f", {warnings} warning{'s' * (warnings != 1)}" if warnings else ""
    return f"{faults} fault{'s' * (faults != 1)}{noted}" if faults else f"good{noted}"
