"""How a command that failed says so. Imported only then."""

from __future__ import annotations

import json
import os
import sys
from typing import Any, NoReturn

import click

from argus.cli.client import Refused
from argus.core.clock import SystemClock, milliseconds
from argus.core.errors import ACTIONS, ArgusError, Code, exit_code

_WRONG_USE = 2


def leave(error: Exception, as_json: bool) -> NoReturn:
    """Says what went wrong and what to do, and leaves with the right exit code."""
    match error:
        case Refused():
            _say(error.error, as_json)
        case ArgusError():
            _say(_structured(error), as_json)
        case click.ClickException() if not as_json:
            error.show()
            sys.exit(_WRONG_USE)
        case click.ClickException():
            _say(_structured(ArgusError(Code.INVALID_REQUEST, error.format_message())), as_json)
        case _ if os.environ.get("ARGUS_DEBUG"):
            raise error
        case _:
            _say(_structured(ArgusError(Code.INTERNAL_ERROR, f"{type(error).__name__}: {error}")), as_json)


def _structured(error: ArgusError) -> dict[str, Any]:
    return error.structured(milliseconds(SystemClock().wall()))


def _say(error: dict[str, Any], as_json: bool) -> NoReturn:
    if as_json:
        click.echo(json.dumps({"error": error}, indent=2))
    else:
        click.echo(f"argus: {error.get('code')}: {error.get('message')}", err=True)
        for one in (error.get("details") or {}).get("errors", [])[:20]:
            place = ":".join(str(part) for part in (one.get("line"), one.get("path") or one.get("field")) if part)
            click.echo(f"  {place}: {one.get('message')}" if place else f"  {one.get('message')}", err=True)
        hint = (error.get("details") or {}).get("hint")
        if hint:
            click.echo(f"  {hint}", err=True)
        for action in error.get("suggestedActions", []):
            click.echo(f"  -> {ACTIONS.get(action, action)}", err=True)
    sys.exit(exit_code(str(error.get("code"))))
