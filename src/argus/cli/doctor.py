"""`argus doctor`: what is well with the installation, what is not, and what to do about it. Changes nothing."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import click

from argus import config as configuration
from argus import config_file, home, startup
from argus.cli import client
from argus.cli.doctoring import around, folder, program, record, running
from argus.cli.doctoring.finding import Case, Finding, State, bad, ok
from argus.core.errors import ArgusError
from argus.core.redact import Redactor

Examination = Callable[[Case], "Finding | list[Finding]"]

_EXAMINATIONS: dict[str, Examination] = {
    "PYTHON": program.python,
    "PROGRAM": program.program,
    "PACKAGE": program.package,
    "STATE_FOLDER": folder.state_folder,
    "DISK_SPACE": folder.space,
    "TOKEN": folder.token,
    "LOCK": folder.lock,
    "STORE": record.store,
    "DAEMON": running.daemon,
    "PORT": running.port,
    "LEFTOVERS": running.leftovers,
    "SERVICE": around.service,
    "CLOCK": around.clock,
    "DOCKER": around.docker,
    "TMUX": around.tmux,
    "CLAUDE": lambda case: around.agent(case, "claude"),
    "CODEX": lambda case: around.agent(case, "codex"),
}


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def doctor(as_json: bool) -> None:
    """Examine the installation itself: what is well, what is not, and what to do about it.

    Starts nothing and changes nothing, and works with the daemon up or down. Exit code 1 when something is bad; what is
    only a warning leaves it at 0. How the services and agents are is what `argus status` says.
    """
    found = list(_examine(click.get_current_context().find_root().params.get("config")))
    well = all(one.state is not State.BAD for one in found)
    if as_json:
        click.echo(json.dumps({"well": well, "checks": [one.public() for one in found]}, indent=2))
    else:
        from argus.cli.render import clean

        for one in found:
            click.echo(f"{one.state.value:<5} {one.name:<15} {clean(one.detail)}")
            if one.next:
                click.echo(f"      {'':<15} -> {clean(one.next)}")
    sys.exit(0 if well else 1)


def _examine(named: str | None) -> Iterator[Finding]:
    case = Case(home.folder(os.environ))
    about, loaded = _configuration(named)
    yield about
    try:
        case = replace(case, config=loaded, daemon=client.running(case.home))
    except ArgusError:
        case = replace(case, config=loaded)  # somebody else's folder: STATE_FOLDER says so
    case = replace(case, state=running.ask(case.daemon))
    for name, examine in _EXAMINATIONS.items():
        try:
            found = examine(case)
        except Exception as error:  # noqa: BLE001 - one part that cannot be examined must not hide the others
            found = bad(name, f"could not be examined: {type(error).__name__}: {error}", "report it: this is a fault")
        yield from found if isinstance(found, list) else [found]


def _configuration(named: str | None) -> tuple[Finding, configuration.Config]:
    try:
        path = config_file.find(named, os.environ, Path.cwd())
        loaded = configuration.load(path)
        startup.check(loaded, path, Redactor())
    except ArgusError as error:
        return bad("CONFIGURATION", error.message, "argus check says where"), configuration.Config()
    if path is None:
        said = "none found from here: Argus looks around and touches nothing"
        return ok("CONFIGURATION", said, "argus init writes a first one"), loaded
    return ok(
        "CONFIGURATION", f"{path}, {len(loaded.health.services)} services, autonomy {loaded.autonomy.value}"
    ), loaded
