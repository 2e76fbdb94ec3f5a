"""Whether a process lives."""

from __future__ import annotations

from enum import StrEnum


class Vital(StrEnum):
    ALIVE = "alive"
    STOPPED = "stopped"
    """It exists and does not run: SIGSTOP, a debugger, a frozen group."""
    DEAD = "dead"
    """Gone, a zombie, or another process that got its number."""
