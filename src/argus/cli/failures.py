"""How a command that failed says so. Imported only then."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, NoReturn

import click

from argus.cli import here
from argus.cli.client import Refused
from argus.cli.render import clean
from argus.core.clock import SystemClock, milliseconds
from argus.core.errors import ACTIONS, NOT_WHOLE, OF_A_COMMAND, ArgusError, Code, exit_code

_WRONG_USE = 2
_SHOWN = 100
_LINES, _LISTS, _WIDTH = 10, 5, 500
_AT_A_TERMINAL = {
    "fix_request": ACTIONS["read_help"],
    "read_openapi": "",
    "read_gate": "",
    "ask_person": "An agent asks its person, or waits until the gate opens; it does not go round it.",
}
"""Where a program and a person do different things; empty: it is printed already, or nothing for a person."""


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
            _say(_structured(_wrong_use(error)), as_json)
        case FileNotFoundError(filename=None) if here.is_gone():
            _say(_structured(here.gone()), as_json)
        case _ if os.environ.get("ARGUS_DEBUG"):
            raise error
        case ModuleNotFoundError() if error.name and not error.name.startswith("argus"):
            lacking = ArgusError(Code.INTERNAL_ERROR, f"{error.name} is not installed, and Argus needs it")
            lacking.actions = NOT_WHOLE
            _say(_structured(lacking), as_json)
        case ImportError() | SyntaxError():
            place = f"{error.filename}:{error.lineno}: " if isinstance(error, SyntaxError) else ""
            broken = ArgusError(
                Code.INTERNAL_ERROR, f"what Argus is made of cannot be imported: {place}{error.msg or error}"
            )
            broken.actions = NOT_WHOLE
            _say(_structured(broken), as_json)
        case UnicodeEncodeError(reason="surrogates not allowed"):
            _say(_structured(ArgusError(Code.INVALID_REQUEST, f"this is not UTF-8: {_cut(error.object)}")), as_json)
        case OSError(errno=errno.ENAMETOOLONG):
            _say(
                _structured(ArgusError(Code.INVALID_REQUEST, f"the name is too long: {_cut(error.filename)}")), as_json
            )
        case OSError(filename=None, errno=errno.ENOSPC | errno.EDQUOT | errno.EFBIG | errno.EIO):
            _unheard(error)
        case _:
            _say(_structured(ArgusError(Code.INTERNAL_ERROR, f"{type(error).__name__}: {error}")), as_json)


def _unheard(error: OSError) -> NoReturn:
    """What was to be printed could not be, in whatever form: the sentence goes where there may be room."""
    # Python would try once more when it flushes at its end, and complain in its own words.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    click.echo(f"argus: {Code.DISK_SPACE_LOW.value}: the output could not be written: {error.strerror}", err=True)
    sys.exit(exit_code(Code.DISK_SPACE_LOW))


def _cut(name: Any) -> str:
    text = ascii(str(name))
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}... ({len(text)} characters)"


def _wrong_use(error: click.ClickException) -> ArgusError:
    wrong = ArgusError(Code.INVALID_REQUEST, error.format_message())
    context = getattr(error, "ctx", None)
    return wrong.adding(help=f"{context.command_path} --help") if context else wrong


def _structured(error: ArgusError) -> dict[str, Any]:
    if error.code is Code.INVALID_REQUEST and error.actions is None:
        error.actions = OF_A_COMMAND
    return error.structured(milliseconds(SystemClock().wall()))


def _say(error: dict[str, Any], as_json: bool) -> NoReturn:
    if as_json:
        click.echo(json.dumps({"error": error}, indent=2))
    else:
        click.echo(f"argus: {error.get('code')}: {error.get('message')}", err=True)
        for one in (error.get("details") or {}).get("errors", [])[:20]:
            place = ":".join(str(part) for part in (one.get("line"), one.get("path") or one.get("field")) if part)
            click.echo(f"  {place}: {one.get('message')}" if place else f"  {one.get('message')}", err=True)
        details = error.get("details") or {}
        if details.get("hint"):
            click.echo(f"  {details['hint']}", err=True)
        said = list(last_lines(details))
        for line in said:
            click.echo(f"  {line}", err=True)
        for line in advice(error.get("suggestedActions", []), with_logs=bool(said)):
            click.echo(f"  -> {line}", err=True)
    sys.exit(exit_code(str(error.get("code"))))


def last_lines(details: Mapping[str, Any]) -> Iterator[str]:
    """Of what a container printed: it may be gone, and its log with it. One list, or one for each container."""
    logs = details.get("logs") or ()
    several = logs if isinstance(logs, Mapping) else {"": logs}
    for name, lines in islice(several.items(), _LISTS):
        if lines:
            yield f"its last lines{f' ({clean(name)})' if name else ''}:"
            yield from (f"  | {clean(line)[:_WIDTH]}" for line in lines[-_LINES:])


def advice(actions: Iterable[str], *, with_logs: bool) -> Iterator[str]:
    for action in actions:
        words = _AT_A_TERMINAL.get(action, ACTIONS.get(action, action))
        if words and not (action == "read_logs" and with_logs):
            yield f"{words} (--json prints the details)" if "details" in words else words
