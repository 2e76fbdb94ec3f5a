"""`argus doctor`: what is well with the installation, what is not, and what to do about it. Changes nothing."""

from __future__ import annotations

import json
import sys

import click

from argus.cli.doctoring import needed
from argus.cli.doctoring.finding import Finding, State


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def doctor(as_json: bool) -> None:
    """Examine the installation itself: what is well, what is not, and what to do about it.

    Starts nothing and changes nothing, and works with the daemon up or down. Exit code 1 when something is bad; what is
    only a warning leaves it at 0. How the services and agents are is what `argus status` says.
    """
    found = _examined(click.get_current_context().find_root().params.get("config"))
    well = all(one.state is not State.BAD for one in found)
    if as_json:
        click.echo(json.dumps({"well": well, "checks": [one.public() for one in found]}, indent=2))
    else:
        for one in found:
            click.echo(f"{one.state.value:<5} {one.name:<15} {_clean(one.detail)}")
            if one.next:
                click.echo(f"      {'':<15} -> {_clean(one.next)}")
    sys.exit(0 if well else 1)


def _examined(named: str | None) -> list[Finding]:
    """What Argus stands on comes first: without it, the rest cannot even be imported."""
    lacking = list(needed.lacking())
    if lacking:
        return [needed.finding(lacking)]
    try:
        from argus.cli import render  # noqa: F401 - what is printed goes through it
        from argus.cli.doctoring import examining
    except Exception as error:  # noqa: BLE001 - whatever a broken file raises, this is who has to name it
        return [needed.broken(error)]
    try:
        return list(examining.examine(named))
    except (ImportError, SyntaxError) as error:
        return [needed.broken(error)]


def _clean(text: str) -> str:
    """As all that is shown, but with the standard library alone where the rest is broken."""
    try:
        from argus.cli.render import clean
    except Exception:  # noqa: BLE001 - as above
        return text.encode("ascii", "backslashreplace").decode("ascii")
    return clean(text)
