"""All examinations, one after the other."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from argus import config as configuration
from argus import home, startup
from argus.cli import client, here, taking_up
from argus.cli.doctoring import around, folder, needed, program, record, running
from argus.cli.doctoring.finding import Case, Finding, State, bad, ok, warn
from argus.core.errors import ACTIONS, ArgusError
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


def examine(named: str | None) -> Iterator[Finding]:
    about, loaded, path = _configuration(named)
    case = Case(home.folder(os.environ), loaded)
    with contextlib.suppress(ArgusError):  # somebody else's folder: STATE_FOLDER says so
        case = replace(case, daemon=client.running(case.home))
    case = running.asked(case)
    yield _as_it_runs(case, about, path)
    for name, look in _EXAMINATIONS.items():
        try:
            found = look(case)
        except (ImportError, SyntaxError) as error:
            found = needed.broken(error)
        except Exception as error:  # noqa: BLE001 - one part that cannot be examined must not hide the others
            found = bad(name, f"could not be examined: {type(error).__name__}: {error}", "report it: this is a fault")
        yield from found if isinstance(found, list) else [found]


def _as_it_runs(case: Case, about: Finding, path: Path | None) -> Finding:
    """A file that is well, and that nobody reads, is what one looks for the longest."""
    if case.state is None or path is None or about.state is not State.OK:
        return about
    used = taking_up.Running(case.said().get("config"))
    if used.uses(path):
        return about
    return warn("CONFIGURATION", f"{path} is well, but {used.said}", taking_up.command(path, used))


def _configuration(named: str | None) -> tuple[Finding, configuration.Config, Path | None]:
    try:
        path = here.configuration(named)
        loaded = configuration.load(path)
        startup.check(loaded, path, Redactor())
    except ArgusError as error:
        follows = ACTIONS[error.actions[0]] if error.actions else "argus check says where"
        return bad("CONFIGURATION", error.message, follows), configuration.Config(), None
    if path is None:
        said = "none found from here: Argus looks around and touches nothing"
        return ok("CONFIGURATION", said, "argus init writes a first one"), loaded, None
    said = f"{path}, {len(loaded.health.services)} services, autonomy {loaded.autonomy.value}"
    return ok("CONFIGURATION", said), loaded, path
