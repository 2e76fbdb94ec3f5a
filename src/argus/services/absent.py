"""Restarts whose program is not there: no mistake, for it may come later, and else found in the first outage."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from argus.host.finding import Finder
from argus.services.checks.base import Service
from argus.services.restarters import CommandRestarter

_MOST = 10
"""Programs that are named."""
_NAMED = 5
"""Services of each."""
_LONGEST = 200
"""Characters of a program."""


def notices(services: Iterable[Service], folder: str) -> list[str]:
    """`folder`: where relative paths begin."""
    restarts: dict[str, list[str]] = {}
    for service in services:
        if isinstance(service.restart, CommandRestarter):
            restarts.setdefault(service.restart.command[0], []).append(service.name)
    found = list(_lacking(restarts, folder))
    more = len(found) - _MOST
    said = f"health.services: programs of {more} more restarts are not there or cannot be executed"
    return [*found[:_MOST], *([said] if more > 0 else [])]


def _lacking(restarts: dict[str, list[str]], folder: str) -> Iterator[str]:
    # As a restart will look for it: in the folder of the file, and on the PATH of whoever starts it.
    finder = Finder(folder, {"PATH": os.environ.get("PATH", os.defpath)})
    for program, names in restarts.items():
        is_path = "/" in program
        place = os.path.join(folder, program) if is_path else program
        if finder.on_path(place) is None:
            why = "is not on the PATH" if not is_path else _why(place)
            yield f"health.services: {_short(program)} {why}: it restarts {_listed(names)}"


def _why(place: str) -> str:
    return "cannot be executed" if os.path.exists(place) else "is not there"


def _short(program: str) -> str:
    return program if len(program) <= _LONGEST else f"{program[:_LONGEST]}…"


def _listed(names: list[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
