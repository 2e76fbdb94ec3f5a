"""Errors in the structured form that programs and agents act on.

A failed probe is an observation. An `ArgusError` means that Argus could not do what it was asked to do. The codes
themselves are in `codes.py`.
"""

from __future__ import annotations

from typing import Any

from argus.core.actions import (
    ABOUT_BREAKERS,
    ABOUT_CONFIGS,
    ABOUT_INCIDENTS,
    ABOUT_SESSIONS,
    ABOUT_SPAWNS,
    ABOUT_STORIES,
    ACTIONS,
    FROM_NOWHERE,
    HELD_UP,
    IN_A_WRONG_FOLDER,
    IN_ANSWERS,
    IN_BRIDGE,
    IN_DATABASE,
    IN_ENVIRONMENTS,
    IN_SETTINGS,
    IN_THE_STORES_VARIABLE,
    IN_THE_WAY,
    NO_FILE,
    NOT_TO_BE_READ,
    NOT_WHOLE,
    OF_A_COMMAND,
    OF_A_NEWER,
    ON_A_SHARED_STORE,
    WITH_A_WRONG_TOKEN,
    WITHOUT_A_FOLDER,
)
from argus.core.codes import REGISTRY, Category, Code, Entry, Severity

__all__ = [
    "ABOUT_BREAKERS", "ABOUT_CONFIGS", "ABOUT_INCIDENTS", "ABOUT_SESSIONS", "ABOUT_SPAWNS", "ABOUT_STORIES",
    "ACTIONS", "FROM_NOWHERE", "HELD_UP", "IN_ANSWERS", "IN_A_WRONG_FOLDER", "IN_BRIDGE", "IN_DATABASE",
    "IN_ENVIRONMENTS", "IN_SETTINGS", "IN_THE_STORES_VARIABLE", "IN_THE_WAY", "NOT_TO_BE_READ", "NOT_WHOLE", "NO_FILE",
    "OF_A_COMMAND", "OF_A_NEWER", "ON_A_SHARED_STORE", "REGISTRY", "WITHOUT_A_FOLDER", "WITH_A_WRONG_TOKEN",
    "ArgusError", "Category", "Code", "Entry", "Severity", "exit_code",
]  # fmt: skip

# What the CLI answers with; everything else is 1: the thing asked about is not well.
_EXIT = {
    Code.NO_DAEMON: 3,
    Code.GATE_REFUSED: 4,
    Code.RESTART_BUDGET_EXHAUSTED: 4,
    Code.CONFIG_INVALID: 2,
    Code.CONFIG_NOT_FOUND: 2,
    Code.INVALID_REQUEST: 2,
    Code.SERVICE_NOT_FOUND: 2,
    Code.AGENT_NOT_FOUND: 2,
    Code.SUITE_NOT_FOUND: 2,
    Code.CONTAINER_NOT_FOUND: 2,
    Code.MOCK_NOT_FOUND: 2,
    Code.IMAGE_NOT_FOUND: 2,
    Code.DOCKER_REFUSED: 1,
    Code.PANE_NOT_FOUND: 2,
    Code.NOT_FOUND: 2,
}


def exit_code(code: str) -> int:
    return _EXIT.get(Code(code), 1) if code in Code.__members__ else 1


class ArgusError(Exception):
    """Argus could not do what it was asked to do; `code` says what, `details` says with which values."""

    def __init__(self, code: Code, message: str, /, *, severity: Severity | None = None, **details: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.severity = severity or REGISTRY[code].severity
        self.details = details
        self.actions: tuple[str, ...] | None = None
        """Where others fit than the code's own."""

    @property
    def status(self) -> int:
        return REGISTRY[self.code].status

    def adding(self, **details: Any) -> ArgusError:
        """The same, with more to say."""
        made = ArgusError(self.code, self.message, severity=self.severity, **{**self.details, **details})
        made.actions = self.actions
        return made

    def structured(self, timestamp: int) -> dict[str, Any]:
        """The form every face of Argus shows; `timestamp` is epoch milliseconds."""
        entry = REGISTRY[self.code]
        return {
            "code": self.code.value,
            "category": entry.category.value,
            "severity": self.severity.value,
            "message": self.message,
            "details": self.details,
            "suggestedActions": list(self.actions or entry.actions),
            "timestamp": timestamp,
        }
