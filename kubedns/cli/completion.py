"""``kubedns completion``: scripts that ask this program what may come next."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

VARIABLE = "_KUBEDNS_COMPLETE"
"""The environment variable by which a script tells the program to complete instead of to run; click derives it."""


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the completion script of SHELL.

    \b
      bash:  source <(kubedns completion bash)
      zsh:   source <(kubedns completion zsh)
      fish:  kubedns completion fish | source
    """  # noqa: D301 - click's mark is the character itself
    make = get_completion_class(shell)
    assert make is not None  # click has one for each of the choices
    complete = make(ctx.find_root().command, {}, "kubedns", VARIABLE)
    click.echo(complete.source_template % complete.source_vars())
