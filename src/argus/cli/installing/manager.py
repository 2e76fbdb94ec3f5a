"""What systemd and launchd have in common, as `argus service` sees it."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from argus.cli.installing.plan import Plan

_PATIENCE = 20.0
STARTING = 120.0
"""Seconds: a manager gives a service ninety to be ready."""


@dataclass(frozen=True, slots=True)
class Ran:
    well: bool
    said: str


@dataclass(frozen=True, slots=True)
class Standing:
    """How the manager sees it. `reached` is why it cannot be asked, or empty."""

    reached: str = ""
    enabled: bool = False
    active: bool = False
    state: str = ""
    pid: int | None = None


class Manager(Protocol):
    name: str
    file: Path

    def render(self, plan: Plan) -> str: ...

    def prepare(self, plan: Plan) -> None:
        """What must be there before it is started."""
        ...

    def look(self) -> Standing: ...

    def enable(self) -> Ran:
        """Starts it now, and with every login or boot from now on."""
        ...

    def load(self) -> Ran:
        """Makes it known without starting it: somebody else's Argus runs on its state folder."""
        ...

    def disable(self) -> Ran:
        """Ends it, and takes away what starts it; the file is still there."""
        ...

    def forget(self) -> None:
        """The file is gone."""
        ...

    def unlink(self) -> None:
        """The file is gone and the manager cannot be reached: nothing is left that leads to it."""
        ...

    def by_hand(self) -> list[str]:
        """The commands that do what could not be done from here."""
        ...

    def undone_by_hand(self) -> list[str]:
        """The same, where it was taken back."""
        ...

    def advice(self) -> list[str]: ...


def ask(words: list[str], *, patience: float = _PATIENCE) -> Ran:
    try:
        ran = subprocess.run(  # noqa: S603 - a list of arguments, all our own
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=patience
        )
    except FileNotFoundError:
        return Ran(False, f"there is no {words[0]} here")
    except subprocess.TimeoutExpired:
        return Ran(False, f"{words[0]} did not answer within {patience:g} s")
    except OSError as error:
        return Ran(False, f"{words[0]}: {error.strerror}")
    return Ran(ran.returncode == 0, ran.stdout.decode("utf-8", "replace").strip()[:2000])
