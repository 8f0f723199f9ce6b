"""``kubedns version``."""

from __future__ import annotations

import json
import platform

import click

from kubedns import __version__


def version_facts() -> dict[str, str]:
    """What runs here; the keys are those of ``-o json``."""
    return {
        "version": __version__,
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "platform": f"{platform.system().lower()}/{platform.machine()}",
    }


@click.command("version")
@click.option("-o", "--output", "output", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(output: str) -> None:
    """Print the version of kubedns and of what it runs on."""
    facts = version_facts()
    if output == "json":
        click.echo(json.dumps(facts))
    else:
        click.echo("kubedns {version} ({implementation} {python}, {platform})".format_map(facts))
