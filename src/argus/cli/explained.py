"""`argus explain CODE`: what an error code means and what to do, as docs/errors.md has it."""

from __future__ import annotations

import json

import click

from argus.core.codes import REGISTRY, Code
from argus.core.errors import ACTIONS, ArgusError, exit_code


def explain(name: str, as_json: bool) -> None:
    try:
        code = Code(name)
    except ValueError:
        raise ArgusError(Code.NOT_FOUND, f"there is no error code {name[:60]}", code=name[:60]) from None
    entry = REGISTRY[code]
    if as_json:
        said = {
            "code": code.value, "category": entry.category.value, "severity": entry.severity.value,
            "status": entry.status, "exitCode": exit_code(code), "means": entry.means, "when": entry.when,
            "retry": entry.retry.name.lower(), "suggestedActions": list(entry.actions), "agent": entry.agent,
        }  # fmt: skip
        click.echo(json.dumps(said, indent=2))
        return
    click.echo(f"{code.value}: {entry.means}")
    click.echo(f"  When:    {entry.when}")
    click.echo(f"  Again?   {entry.retry.value}")
    for action in entry.actions:
        click.echo(f"  -> {ACTIONS[action]}")
    click.echo(f"  Agents:  {entry.agent}")
