"""`argus explain` of a word: an incident's story, what an error code means as docs/errors.md has it, or all codes."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable
from typing import Any

import click

from argus.cli.client import Refused
from argus.core.codes import REGISTRY, Code
from argus.core.errors import ABOUT_STORIES, ACTIONS, ArgusError, exit_code

WORDS = ("last", "codes")
_LONGEST = 64
_ID = re.compile(r"[0-9a-f]+")


def explain(word: str, as_json: bool, story: Callable[[str], None]) -> None:
    if len(word) > _LONGEST:
        what = f"{word[:20]}... is neither an incident nor an error code: it has {len(word)} characters"
        raise _advised(ArgusError(Code.INVALID_REQUEST, what))
    low, code = word.lower(), word.upper().replace("-", "_")
    if low == "codes":
        _list(as_json)
    elif code in Code.__members__:
        _code(Code(code), as_json)
    elif low in WORDS or _ID.fullmatch(low):
        story(low)
    elif word.isupper():  # incidents' ids never are
        raise _unknown(word, code)
    else:
        try:
            story(word)
        except Refused as refused:
            if refused.error.get("code") != Code.NOT_FOUND:
                raise
            raise _unknown(word, code) from None


def _unknown(word: str, code: str) -> ArgusError:
    close = difflib.get_close_matches(code, list(Code), n=1, cutoff=0.7)
    hint = f"; did you mean {close[0]}?" if close else ""
    return _advised(ArgusError(Code.NOT_FOUND, f"there is no incident and no error code {word!r}{hint}", incident=word))


def _advised(error: ArgusError) -> ArgusError:
    error.actions = ABOUT_STORIES
    return error


def _list(as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({"codes": [_public(code) for code in Code]}, indent=2))
        return
    width = max(map(len, Code))
    for code in Code:
        click.echo(f"{code.value:<{width}}  {REGISTRY[code].means}")


def _code(code: Code, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(_public(code), indent=2))
        return
    entry = REGISTRY[code]
    click.echo(f"{code.value}: {entry.means}")
    click.echo(f"  When:    {entry.when}")
    click.echo(f"  Again?   {entry.retry.value}")
    said = [*(f"-> {ACTIONS[action]}" for action in entry.actions), f"Agents:  {entry.agent}"]
    for line in said:
        click.echo(f"  {line}")
    if any("details" in line for line in said):
        click.echo("  The details stand in the error as --json prints it.")


def _public(code: Code) -> dict[str, Any]:
    entry = REGISTRY[code]
    return {
        "code": code.value, "category": entry.category.value, "severity": entry.severity.value,
        "status": entry.status, "exitCode": exit_code(code), "means": entry.means, "when": entry.when,
        "retry": entry.retry.name.lower(), "suggestedActions": list(entry.actions), "agent": entry.agent,
    }  # fmt: skip
