"""One session as it is kept: where it works, how it stands, and how far its handoff is."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import TypeAdapter

from argus.core.clock import Stamp
from argus.sessions.handoff import Handoff
from argus.sessions.model import Activity, ContextReading
from argus.sessions.settings import PROMPT, Project
from argus.store.records import SessionRow

CLI, SDK = "cli", "sdk"


@dataclass(frozen=True, slots=True)
class Place:
    """Which session is meant, and where it works."""

    project: str
    type: Literal["cli", "sdk"] = "cli"
    """In tmux; or somewhere that nobody can type into."""
    session: str = ""
    """The tmux session's name, or what somebody calls the conversation."""
    folder: str = ""
    agent: Literal["claude", "codex", "plain"] = "claude"
    handoffs: str = ".bmad/handoffs"
    window: int = 200_000
    prompt: str = PROMPT
    resume_after_limit: bool = True
    configured: bool = False
    """It stands in argus.yaml, which says all of this."""

    @property
    def handoff_folder(self) -> str:
        return os.path.normpath(os.path.join(self.folder, self.handoffs))


def configured(name: str, project: Project) -> Place:
    return Place(
        name,
        "cli",
        project.session or f"{name}-ps",
        # As an agent tells where it works: links are followed.
        os.path.realpath(project.folder),
        project.agent,
        project.handoffs,
        project.context_window,
        project.prompt,
        project.resume_after_limit,
        configured=True,
    )


@dataclass(frozen=True, slots=True)
class Session:
    place: Place
    started: Stamp
    active: Stamp
    """When it was last seen to do anything."""
    state: Activity = Activity.UNKNOWN
    since: float = 0.0
    """Wall time of that state."""
    context: ContextReading | None = None
    asked: Stamp | None = None
    """When it was last asked for its context, by typing."""
    handoff: Handoff | None = None
    """Under way, or the last one."""
    failures: int = 0
    """Handoffs in a row that failed."""
    handed: Stamp | None = None
    """When the last one was begun."""
    told: str = ""
    """What a person was told last, so that it is told once."""
    resumed: float = 0.0
    """The end of the rate limit after which it was told to go on."""
    window: int = 0
    """Tokens of the whole context, as its agent told it last; 0: it did not."""
    window_told: Stamp | None = None

    @property
    def project(self) -> str:
        return self.place.project

    @property
    def share(self) -> float | None:
        return self.context.share if self.context else None

    @property
    def is_handing_off(self) -> bool:
        return self.handoff is not None and not self.handoff.is_over

    def row(self) -> SessionRow:
        context = self.context
        return SessionRow(
            self.project,
            self.place.type,
            self.place.session,
            self.started.wall,
            self.active.wall,
            context.at.wall if context else None,
            context.share if context else None,
            context.used if context else None,
            _KEPT.dump_python(self, mode="json"),
        )


_KEPT = TypeAdapter(Session)


def read(data: Mapping[str, Any]) -> Session:
    return _KEPT.validate_python(dict(data))
