"""What suites are given of the environment that they run against: its variables, its ports, where they stand. Pure."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping

from argus.environments.e2e.environment import Environment
from argus.environments.e2e.following import Moved
from argus.environments.ports import PortMapping
from argus.environments.waiting import reached

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HERE = "127.0.0.1"


def moved(mappings: Iterable[PortMapping]) -> Moved:
    """Where ports went, as the record of a run has it. Whoever names a number means the first of several."""
    first: dict[tuple[str, int], int] = {}
    for one in mappings:
        first.setdefault((one.service, one.original), one.actual)
    found: dict[str, dict[int, int]] = {}
    for (service, original), actual in first.items():
        if original != actual:
            found.setdefault(service, {})[original] = actual
    return found


def standing(project: str, caller: str) -> str:
    """Where commands run: where the caller stands, as in its own shell, unless that is not in the project."""
    inside = caller == project or caller.startswith(project.rstrip("/") + "/")
    return caller if inside else project


def exported(environment: Environment, *, engine: str, run: str | None) -> dict[str, str]:
    """The environment of every command of a run. What is said nearer to the tests goes before what is not:
    the caller's own and `.env`, then where the services are, then the file's `vars`."""
    config = environment.variables.config
    base_url = {"BASE_URL": environment.base_url} if environment.base_url else {}
    named = {name: value for name, value in config.items() if _VARIABLE.fullmatch(name) and "\0" not in value}
    own = {"ARGUS_PROJECT": environment.config.project.name, **({"ARGUS_RUN": run} if run else {})}
    return {**environment.source.env, **dict(_ports(environment, engine)), **base_url, **named, **own}


def _ports(environment: Environment, engine: str) -> Iterator[tuple[str, str]]:
    """`API_PORT` and `API_URL` of a service or mock `api`: its first port that the host has."""
    for service in environment.services:
        port = next((one for one in service.ports if one.protocol == "tcp"), None)
        if port is not None:
            yield from _place(service.name, reached(port.address, engine), port.host)
    for name, mock in environment.mocks.items():
        yield from _place(name, engine if mock.image is not None else _HERE, mock.port)


def _place(name: str, host: str, port: int) -> Iterator[tuple[str, str]]:
    word = re.sub(r"[^A-Z0-9]", "_", name.upper())
    word = f"_{word}" if word[:1].isdigit() else word
    yield f"{word}_PORT", str(port)
    yield f"{word}_URL", f"http://{f'[{host}]' if ':' in host else host}:{port}"


def path(environment: Environment, written: str | None) -> str | None:
    """A path of the file is seen from its folder."""
    return os.path.normpath(os.path.join(environment.folder, written)) if written else None


def of_suite(surroundings: Mapping[str, str], suite: str) -> dict[str, str]:
    return {**surroundings, "ARGUS_SUITE": suite}
