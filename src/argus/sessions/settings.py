"""The section `sessions` of argus.yaml."""

from __future__ import annotations

import os
import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, field_validator, model_validator

from argus.core.depending import Thing, thing
from argus.core.names import LETTERS
from argus.schema import Dependencies, Duration, PositiveDuration, Section, lasting

_PROJECT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,49}")
_TMUX = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,99}")
PROMPT = r"^\s*[>❯›$#%]?\s*"


def _project(name: str) -> str:
    if not _PROJECT.fullmatch(name):
        raise ValueError(f"a project's name has {LETTERS}, digits, '.', '_' and '-', and at most 50 of them")
    return name


def _tmux(name: str) -> str:
    if not _TMUX.fullmatch(name):
        raise ValueError(f"a name in tmux has {LETTERS}, digits, '_' and '-'")
    return name


def _pattern(value: Any) -> Any:
    if isinstance(value, str):
        try:
            re.compile(value)
        except re.error as error:
            raise ValueError(f"not a regular expression: {error}") from None
    return value


def _folder(path: str) -> str:
    if not os.path.isabs(os.path.expanduser(path)) or not path.isprintable():
        raise ValueError("a folder is named in full: from / or ~")
    return path


def handoffs_problem(folder: str, handoffs: str) -> str:
    """Why documents cannot lie there; empty if they can. Links change: they are looked at whenever one is asked for."""
    if not handoffs.isprintable():
        return "a path that is typed into a terminal has no line breaks and no control characters"
    if handoffs.startswith("~"):
        return "it is read from the project's path, and `~` would be a folder of that name there"
    if not folder:
        return ""
    tops = {os.path.normpath(folder), os.path.realpath(folder)}
    asked = os.path.normpath(os.path.join(folder, handoffs))
    if not any(asked == top or asked.startswith(top.rstrip("/") + "/") for top in tops):
        return f"it leads out of the project's folder {folder}"
    return ""


Folder = Annotated[str, AfterValidator(_folder)]
ProjectName = Annotated[str, AfterValidator(_project)]
TmuxName = Annotated[str, AfterValidator(_tmux)]


class Project(Section):
    """One project and the session that works on it."""

    path: str = Field(min_length=1, description="The project's folder.")
    agent: Literal["claude", "codex", "plain"] = Field(
        default="claude", description="What runs in the session; plain: anything that is only read through its pane."
    )
    session: TmuxName | None = Field(default=None, description="The tmux session's name; by default NAME-ps.")
    handoffs: str = Field(default=".bmad/handoffs", min_length=1, description="Where handoffs are, from the path.")
    context_window: int = Field(
        default=200_000, ge=1_000, le=100_000_000, strict=True, description="Tokens, where nothing else tells it."
    )
    prompt: Annotated[str, BeforeValidator(_pattern)] = Field(
        default=PROMPT, max_length=200, description="Of a plain agent: what stands before what is typed."
    )
    resume_after_limit: bool = Field(
        default=True, strict=True, description="Whether it goes on by itself once a rate limit is over."
    )
    depends_on: Dependencies = Field(
        default=(),
        description="What its work needs: services, and environment:NAME. While one of them is down it is told so, "
        "takes no new work, and is not judged.",
    )

    @field_validator("handoffs")
    @classmethod
    def _stays_inside(cls, handoffs: str, info: ValidationInfo) -> str:
        problem = handoffs_problem(os.path.abspath(os.path.expanduser(info.data.get("path", "/"))), handoffs)
        if problem:
            raise ValueError(problem)
        return handoffs

    @property
    def folder(self) -> str:
        return os.path.expanduser(self.path)

    @property
    def needs(self) -> tuple[Thing, ...]:
        return tuple(map(thing, self.depends_on))


class Context(Section):
    ask_after: PositiveDuration = lasting("10m", "A reading that is older is asked for, by typing.")
    quiet_from: float = Field(
        default=70, ge=1, le=85, description="From this percentage on, a quiet moment is used before the limit comes."
    )
    look_ahead: PositiveDuration = lasting("20m", "How near the limit must be for that, by the growth so far.")


class HandoffSettings(Section):
    enabled: bool = Field(default=True, strict=True, description="false: people are told, and do it themselves.")
    timeout: PositiveDuration = lasting("4m", "How long the document is waited for.")
    settle: PositiveDuration = lasting("3s", "How long it must not have grown to be complete.")
    gap: Duration = lasting("30s", "Between the beginnings of two sessions' handoffs.")


class SpawnSettings(Section):
    stalled_after: PositiveDuration = lasting("15m", "Without output for longer, a spawn is stalled.")
    abandoned_after: PositiveDuration = lasting("30m", "Without output for longer, it is given up.")
    outputs: list[Folder] = Field(
        default_factory=list,
        description="Further folders in which outputs may lie, besides the project's and those for temporary files.",
    )

    @model_validator(mode="after")
    def _in_order(self) -> SpawnSettings:
        if self.abandoned_after <= self.stalled_after:
            raise ValueError("abandonedAfter must be longer than stalledAfter")
        return self


class Sessions(Section):
    """The sessions that supervise work, and what is done for them."""

    check_every: PositiveDuration = lasting("10m", "How often each is checked, with a row in the record.")
    look_every: PositiveDuration = lasting("10s", "How often their own signals are read in between.")
    tmux_socket: TmuxName = Field(
        default="default",
        description="The name given to tmux -L. Agents that Argus starts itself live on the default server.",
    )
    projects: dict[ProjectName, Project] = Field(default_factory=dict, description="The projects, by name.")
    context: Context = Field(default_factory=Context, description="How full it may get.")
    handoff: HandoffSettings = Field(default_factory=HandoffSettings, description="How work is handed on.")
    spawns: SpawnSettings = Field(default_factory=SpawnSettings, description="When delegated work counts as lost.")

    @model_validator(mode="after")
    def _one_each(self) -> Sessions:
        seen: dict[str, str] = {}
        for name, project in self.projects.items():
            session = project.session or f"{name}-ps"
            if not _TMUX.fullmatch(session):
                raise ValueError(f"{name!r} cannot be a name in tmux: say `session`")
            if session in seen:
                raise ValueError(f"{name!r} and {seen[session]!r} have the same session {session!r}")
            seen[session] = name
        return self
