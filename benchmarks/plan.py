"""How much is measured, and what a piece of work is."""

from __future__ import annotations

import contextlib
import importlib.util
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import ROOT
from benchmarks.rows import Row

_LOCK = ROOT / "requirements-bench.lock"


@dataclass(frozen=True, slots=True)
class Plan:
    rounds: int
    quick: bool
    """One look whether everything runs: the figures mean nothing."""
    idle: float
    """Seconds for which the idle daemon is watched."""
    folder: Path
    """For state folders and store files; what a sync costs depends on the disk under it."""

    def size(self, full: int, quick: int) -> int:
        return quick if self.quick else full


@dataclass(frozen=True, slots=True)
class Work:
    """One piece of work, which makes one row or a few."""

    name: str
    measure: Callable[[Plan], Iterable[Row]]
    packages: tuple[str, ...] = ()
    """Modules of peers, which only `make bench` installs."""


def install(packages: Iterable[str]) -> None:
    """The peers from PyPI, at the versions of their lock. Without them the rows say that the peer is missing."""
    if all(importlib.util.find_spec(name) for name in packages):
        return
    wanted = ["--require-hashes", "-r", str(_LOCK)]
    with contextlib.suppress(OSError):
        subprocess.run(
            [
                sys.executable,
                *["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"],
                *wanted,
            ],
            stdin=subprocess.DEVNULL,
            check=False,
        )
    importlib.invalidate_caches()


def npm(package: str, version: str) -> Path | None:
    """The program of a peer from npm, in a folder of its own beside the peers from PyPI."""
    folder = Path(sys.prefix) / "npm" / f"{package}-{version}"
    program = folder / "node_modules" / ".bin" / package
    if not program.exists():
        command = ["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--loglevel=error"]
        with contextlib.suppress(OSError):
            subprocess.run(
                [*command, f"{package}@{version}"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False
            )
    return program if program.exists() else None


class Skipped(Exception):
    """What this work needs is not here."""
