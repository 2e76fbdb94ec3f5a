"""`argus completion`: a script by which a shell completes commands, options and the names of what is watched."""

from __future__ import annotations

import os

import click

from argus import home
from argus.cli import client
from argus.core.errors import ArgusError

_PATIENCE = 1.0
"""Seconds: somebody has pressed Tab and waits."""
_NAMES: dict[str, tuple[str, str | None]] = {
    "services": ("services", "name"),
    "agents": ("agents", "agent_id"),
    "configs": ("agents", None),
    "sessions": ("sessions", "project"),
    "spawns": ("spawns", "id"),
    "breakers": ("breakers", "name"),
    "incidents": ("incidents", "id"),
}
"""By what is completed: the page that lists them, and which field of each is its name. None: they are names."""


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]), required=False)
@click.option("--names", type=click.Choice(list(_NAMES)), hidden=True, help="What the scripts ask.")
def completion(shell: str | None, names: str | None) -> None:
    """Print a script that makes a shell complete argus.

    bash: source <(argus completion bash) in ~/.bashrc; zsh: the same in ~/.zshrc, after compinit; fish:
    argus completion fish > ~/.config/fish/completions/argus.fish. Names of services and agents are asked of a daemon
    that runs; none is started.
    """
    if names is not None:
        for name in _known(names):
            click.echo(name)
    elif shell is None:
        raise click.UsageError("say which shell: bash, zsh, fish", click.get_current_context())
    else:
        from argus.cli.completing import scripts, tree

        root = click.get_current_context().find_root().command
        click.echo(scripts.script(shell, list(tree.walk(root))), nl=False)


def _known(kind: str) -> list[str]:
    """Nothing where it cannot be known: a Tab is no place for an error."""
    try:
        if client.running(home.folder(os.environ)) is None:
            return []
        page, name = _NAMES[kind]
        said = client.ask(None, "GET", f"/api/{page}", timeout=_PATIENCE, start=False)
        found = [str(one if name is None else one[name]) for one in said[kind]]
    except (ArgusError, client.Refused, LookupError, TypeError):
        return []
    return [name for name in dict.fromkeys(found) if name.isprintable()]
