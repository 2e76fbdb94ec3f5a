"""Which command runs a suite. Pure, but for looking where a program is.

Where there is a file, `command` is the program that runs it; what the runner needs is added.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from argus.core.cutting import beginning
from argus.environments.e2e.suites import RUNNERS, Suite


class Programs(Protocol):
    """Where programs are, as the caller would find them."""

    def on_path(self, name: str) -> str | None: ...

    def of_project(self, name: str) -> str | None:
        """Installed by npm into the project, or on the path."""
        ...


class Unfit(Exception):
    """It cannot be run, and why."""


@dataclass(frozen=True, slots=True)
class Command:
    argv: tuple[str, ...]
    environ: Mapping[str, str] = field(default_factory=dict)
    report: str | None = None
    """Where it writes its JUnit report. None: its exit status is all there is, and it is one case."""


def choose(suite: Suite, file: str | None, report: str, programs: Programs) -> Command:
    """`file`: the suite's, as a full path. `report`: a file that is not there yet. Raises Unfit."""
    make = _MAKERS.get(suite.runner)
    if make is None:
        raise Unfit(f"there is no runner {suite.runner!r}: {', '.join(RUNNERS)} are known")
    return make(suite, file, report, programs)


def _pytest(suite: Suite, file: str | None, report: str, programs: Programs) -> Command:
    argv = _split(suite.command) if suite.command else _python(programs)
    config = ("-c", suite.config) if suite.config else ()
    return Command((*argv, *config, f"--junitxml={report}", *_some(file)), report=report)


def _python(programs: Programs) -> tuple[str, ...]:
    found = programs.on_path("pytest")
    if found:
        return (found,)
    for name in ("python3", "python"):
        python = programs.on_path(name)
        if python:
            return python, "-m", "pytest"
    raise Unfit("pytest is not installed: neither it nor a Python is on the PATH. pip install pytest")


def _vitest(suite: Suite, file: str | None, report: str, programs: Programs) -> Command:
    argv = _split(suite.command) if suite.command else (_node(programs, "vitest", "vitest"), "run")
    config = ("--config", suite.config) if suite.config else ()
    reporters = ("--reporter=default", "--reporter=junit", f"--outputFile.junit={report}")
    return Command((*argv, *config, *reporters, *_some(file)), report=report)


def _playwright(suite: Suite, file: str | None, report: str, programs: Programs) -> Command:
    argv = _split(suite.command) if suite.command else (_node(programs, "playwright", "@playwright/test"), "test")
    config = ("--config", suite.config) if suite.config else ()
    folder, _, name = report.rpartition("/")
    # Which of them is read depends on its version; all of them say the same.
    places = {"FILE": report, "DIR": folder, "NAME": name}
    environ = {f"PLAYWRIGHT_JUNIT_OUTPUT_{what}": where for what, where in places.items()}
    return Command((*argv, *config, "--reporter=list,junit", *_some(file)), environ, report)


def _node(programs: Programs, name: str, package: str) -> str:
    found = programs.of_project(name)
    if found is None:
        # npx would fetch it from the network, of whatever version there is today.
        raise Unfit(f"{name} is not installed in the project, nor on the PATH: npm install --save-dev {package}")
    return found


def _shell(suite: Suite, file: str | None, report: str, programs: Programs) -> Command:
    if suite.command and file:
        return Command(("sh", "-c", f'{suite.command} "$@"', "sh", file), _config(suite))
    if suite.command:
        return Command(("sh", "-c", suite.command), _config(suite))
    return Command(("sh", _needed(suite, file)), _config(suite))


def _exec(suite: Suite, file: str | None, report: str, programs: Programs) -> Command:
    if suite.command:
        return Command((*_split(suite.command), *_some(file)), _config(suite))
    return Command((_needed(suite, file),), _config(suite))


def _config(suite: Suite) -> dict[str, str]:
    """No command knows how another takes its configuration; it can look where it is."""
    return {"ARGUS_SUITE_CONFIG": suite.config} if suite.config else {}


def _needed(suite: Suite, file: str | None) -> str:
    if file is None:
        raise Unfit(f"a suite with the runner {suite.runner} needs a `file` or a `command`")
    return file


def _some(file: str | None) -> tuple[str, ...]:
    return (file,) if file else ()


def _split(command: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise Unfit(f"the command cannot be read: {error}: {beginning(command, 200)}") from None
    if not words:
        raise Unfit("the command is empty")
    return words


_MAKERS: Mapping[str, Callable[[Suite, str | None, str, Programs], Command]] = {
    "pytest": _pytest,
    "vitest": _vitest,
    "playwright": _playwright,
    "shell": _shell,
    "exec": _exec,
}
