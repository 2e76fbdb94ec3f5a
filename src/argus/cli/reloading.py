"""`argus reload` around the operation: whether the file that is meant is the one that is read again."""

from __future__ import annotations

import os
from pathlib import Path

import click

from argus import config_file
from argus.cli import taking_up
from argus.cli.render import clean
from argus.core.errors import ArgusError, Code


def refuse_another(named: str | None) -> None:
    """Who names a file by --config or ARGUS_CONFIG, and means another one than is read, would wait for its effect."""
    if not named and not os.environ.get("ARGUS_CONFIG"):
        return
    path = config_file.find(named, os.environ, Path.cwd())
    running = taking_up.running()
    if path is not None and running is not None and not running.uses(path):
        follows = taking_up.command(path, running, os.environ, Path.cwd())
        raise ArgusError(
            Code.INVALID_REQUEST,
            f"{path} is not read again: {running.said}, and a file is named at the start",
            file=str(path), hint=follows,
        )  # fmt: skip


def mention_another(named: str | None = None) -> None:
    """A file that lies here may be what is meant."""
    try:
        path = config_file.find(named, os.environ, Path.cwd())
    except ArgusError:
        return
    running = taking_up.running()
    if path is not None and running is not None and not running.uses(path):
        follows = taking_up.command(path, running, os.environ, Path.cwd())
        click.echo(f"argus: {clean(path)} is not read: {clean(running.said)}. To use it: {follows}", err=True)
