"""What the keeper is told and asked. One queue, one reader: the sole writer of the agents' state."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from argus.agents.model import Agent, Process
from argus.agents.settings import Agents as Settings
from argus.host.launching import Ended, Running
from argus.store.records import Act


@dataclass(frozen=True, slots=True)
class Beat:
    """One sign of life. What is empty was not said."""

    agent_id: str
    status: str = ""
    task: str = ""
    config: str = ""
    project: str = ""
    pid: int = 0
    host: str = ""
    session: str = ""


@dataclass(frozen=True, slots=True)
class Pulse:
    """What a beat is answered with."""

    ok: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Beaten:
    beat: Beat
    reply: asyncio.Future[Pulse]


@dataclass(frozen=True, slots=True)
class SpawnAsked:
    config: str
    project: str
    task: str
    by: str
    reply: asyncio.Future[Agent]
    terminal: Process | None = None
    """The launcher that will carry it out in its terminal."""


@dataclass(frozen=True, slots=True)
class RespawnAsked:
    """A person approves what autonomy did not allow."""

    id: str
    by: str
    reply: asyncio.Future[Agent]


@dataclass(frozen=True, slots=True)
class StopAsked:
    id: str
    grace: float
    by: str
    reply: asyncio.Future[Agent]


@dataclass(frozen=True, slots=True)
class Forgotten:
    id: str
    by: str
    reply: asyncio.Future[Agent]


@dataclass(frozen=True, slots=True)
class Turn:
    """Work of another module that changes agents: done in the keeper's turn, so that nothing happens in between."""

    work: Callable[[], Awaitable[Any]]
    reply: asyncio.Future[Any]


@dataclass(frozen=True, slots=True)
class Launched:
    """A start was carried out; `failure` says why it was not."""

    id: str
    act: Act
    running: Running | None
    failure: str = ""
    ended: Ended | None = None
    """It ran, and was over before anybody looked."""


@dataclass(frozen=True, slots=True)
class Exited:
    id: str
    ended: Ended


@dataclass(frozen=True, slots=True)
class EndReported:
    """Its companion saw it end."""

    id: str
    ended: Ended
    reply: asyncio.Future[Agent]


@dataclass(frozen=True, slots=True)
class Look:
    """Time to look at one agent, or at all of them."""

    id: str | None = None


@dataclass(frozen=True, slots=True)
class TurnTold:
    """With every sign of its program: whether it is in a turn."""

    id: str
    in_turn: bool


@dataclass(frozen=True, slots=True)
class WriteSeen:
    """Time to write who was seen."""


@dataclass(frozen=True, slots=True)
class Reconfigured:
    settings: Settings


Asked = Beaten | SpawnAsked | RespawnAsked | StopAsked | Forgotten | EndReported | Turn
Message = Asked | Launched | Exited | Look | TurnTold | WriteSeen | Reconfigured
