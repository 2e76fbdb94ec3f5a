"""`argus reload` around the operation: whether the file that is meant is the one that is read again."""

from __future__ import annotations

import os

import click

from argus.cli import here, taking_up
from argus.cli.render import clean
from argus.core.errors import ArgusError, Code


def refuse_another(named: str | None) -> None:
    """Who names a file by --config or ARGUS_CONFIG, and means another one than is read, would wait for its effect."""
    if not named and not os.environ.get("ARGUS_CONFIG"):
        return
    path = here.configuration(named)
    running = taking_up.running()
    if path is not None and running is not None and not running.uses(path):
        follows = taking_up.command(path, running)
        raise ArgusError(
            Code.INVALID_REQUEST,
            f"{path} is not read again: {running.said}, and a file is named at the start",
            file=str(path), hint=follows,
        )  # fmt: skip


def mention_another(named: str | None = None) -> None:
    """A file that lies here may be what is meant."""
    try:
        path = here.configuration(named)
    except ArgusError:
        return
    running = taking_up.running()
    if path is not None and running is not None and not running.uses(path):
        follows = taking_up.command(path, running)
        click.echo(f"argus: {clean(path)} is not read: {clean(running.said)}. To use it: {follows}", err=True)
