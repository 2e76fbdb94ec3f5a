"""The runs of this state folder: which are alive, and what is on record of each. One for each project in a folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from argus.environments.blueprint import Blueprint, Part
from argus.environments.ports import PortMapping
from argus.store.records import Document, PutDocument

DOMAIN = "environments"


class State(StrEnum):
    NONE = "none"
    SETTING_UP = "setting up"
    UP = "up"
    CLEANING = "cleaning"
    INTERRUPTED = "interrupted"
    """A daemon died in the middle; what it left goes with the next setup or clean."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Run:
    project: str
    folder: str
    id: str
    state: State
    since: float
    network: str = ""
    containers: Mapping[str, str] = field(default_factory=dict)
    """The container's name, by its service's or mock's."""
    mocks: tuple[str, ...] = ()
    """Those of them that are mocks."""
    mappings: tuple[PortMapping, ...] = ()
    served: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The mocks that Argus answers itself, as they are on record: the next daemon goes on with them."""
    file: str = ""
    """That describes it, where it is not the folder's e2e.yaml."""
    problem: str = ""
    """Why its setup failed, without secrets."""

    @property
    def key(self) -> str:
        return key(self.project, self.folder)

    @property
    def was_up(self) -> bool:
        """Once complete. What a setup that never was has made, nobody has used."""
        return bool(self.network)

    @property
    def is_alive(self) -> bool:
        return self.state in (State.SETTING_UP, State.UP)

    @property
    def is_kept(self) -> bool:
        """Also while it is being cleaned: what it has is its cleaner's alone, for a clean that cannot even begin leaves
        it as it was."""
        return self.is_alive or self.state is State.CLEANING

    def written(self) -> PutDocument:
        data: dict[str, Any] = {
            "project": self.project,
            "folder": self.folder,
            "run": self.id,
            "state": self.state.value,
            "since": self.since,
            "network": self.network,
            "containers": dict(self.containers),
            "mocks": list(self.mocks),
            "mappings": [[one.service, one.original, one.actual] for one in self.mappings],
            "served": {name: dict(one) for name, one in self.served.items()},
            "file": self.file,
            "problem": self.problem,
        }
        return PutDocument(Document(DOMAIN, self.key, data, live=self.state is not State.NONE))


def key(project: str, folder: str) -> str:
    return f"{project}@{folder}"


def read(data: Mapping[str, Any]) -> Run:
    return Run(
        data["project"],
        data["folder"],
        data["run"],
        State(data["state"]),
        data["since"],
        data["network"],
        dict(data["containers"]),
        tuple(data["mocks"]),
        tuple(PortMapping(*one) for one in data["mappings"]),
        data.get("served", {}),
        data.get("file", ""),
        data.get("problem", ""),
    )


def recorded(run: Run) -> Blueprint:
    """As much of an environment as its record tells, where its file cannot be read."""
    parts = (Part(name, one, "", is_mock=name in run.mocks) for name, one in run.containers.items())
    return Blueprint(run.project, run.folder, run.network, tuple(parts), is_recorded=True)


def taken_over(run: Run, now: float) -> Run:
    """By a new daemon on the same state folder: what was complete lives on, what was under way is over."""
    if run.state in (State.SETTING_UP, State.CLEANING):
        return replace(run, state=State.INTERRUPTED, since=now)
    return run
