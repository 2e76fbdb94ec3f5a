"""The agents as they are kept: in memory, and as documents in the store, the same values in both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from argus.agents import policy
from argus.agents.model import Agent, Origin, Process, State
from argus.core.clock import Stamp
from argus.core.trouble import Trouble

DOMAIN = "agents"
_COUNTED = 3
"""Digits of the number of nearly every id; where the config is not known, those before them are its name's."""


@dataclass(slots=True)
class Heard:
    """What an agent said since its own value was last looked at: a beat must not cost a new value of so many fields."""

    seen: Stamp
    status: str = ""
    task: str = ""


class Book:
    """Every agent that is not over, every id that was ever used, and for each config's the highest number."""

    def __init__(self) -> None:
        self._agents: dict[str, Agent] = {}
        self._heard: dict[str, Heard] = {}
        self._numbers: dict[str, int] = {}
        self._used: set[str] = set()

    def __iter__(self) -> Iterator[Agent]:
        return iter([self._with_what_was_heard(agent) for agent in self._agents.values()])

    def get(self, id: str) -> Agent | None:
        agent = self._agents.get(id)
        return self._with_what_was_heard(agent) if agent is not None else None

    def _with_what_was_heard(self, agent: Agent) -> Agent:
        """Looking changes nothing: another value of this agent may be on its way to the record."""
        heard = self._heard.get(agent.id)
        if heard is None:
            return agent
        agent = replace(agent, seen=heard.seen, status=heard.status or agent.status)
        if heard.task:
            # The task of what we launched is the one it was given; of any other, what it says.
            is_ours = agent.origin is not Origin.FOREIGN
            agent = replace(agent, doing=heard.task) if is_ours else replace(agent, task=heard.task)
        return agent

    def peek(self, id: str) -> Agent | None:
        """Without what was heard of it since: cheap, and all but its last words are as they are."""
        return self._agents.get(id)

    def peek_at_all(self) -> list[Agent]:
        return list(self._agents.values())

    def hear(self, id: str, seen: Stamp, status: str = "", task: str = "") -> None:
        """Beside the agent's value, and so on top of one that is on its way to the record meanwhile."""
        heard = self._heard.get(id)
        if heard is None:
            self._heard[id] = Heard(seen, status, task)
            return
        heard.seen = seen
        heard.status = status or heard.status
        heard.task = task or heard.task

    def put(self, agent: Agent) -> None:
        known = agent.id in self._agents
        self._agents[agent.id] = agent
        heard = self._heard.get(agent.id)
        if heard is not None and agent.seen is not None and heard.seen.boot <= agent.seen.boot:
            del self._heard[agent.id]  # this value was made with it; what came later stays on top
        if known:
            return
        self._used.add(agent.id)
        if policy.is_of(agent.id, agent.config):
            # Of no other's: `worker2001` is the first of worker2, and not the 2001st of worker.
            self._count(*policy.split(agent.id, agent.config))

    def use(self, id: str) -> None:
        """The id of an agent of whom nothing else is known: nobody gets it again, nor one before it."""
        self._used.add(id)
        stem, digits = id[:-_COUNTED], id[-_COUNTED:]
        if digits.isascii() and digits.isdigit():
            self._count(stem, digits)

    def _count(self, stem: str, digits: str) -> None:
        self._numbers[stem] = max(self._numbers.get(stem, 0), int(digits))

    def forget(self, id: str) -> None:
        """It is over; its number stays used."""
        self._agents.pop(id, None)
        self._heard.pop(id, None)

    def next_id(self, id: str, config: str = "") -> str:
        following = policy.next_id(id, self._highest(id, config), config)
        while following in self._used:
            following = policy.next_id(following, self._highest(following, config), config)
        return following

    def first_id(self, config: str) -> str:
        id = policy.first_id(config)
        is_new = id not in self._used and not self._highest(id, config)
        return id if is_new else self.next_id(id, config)

    def _highest(self, id: str, config: str) -> int:
        return self._numbers.get(policy.split(id, config)[0], 0)


_FIELDS = tuple(one.name for one in fields(Agent))
_PARTS: dict[type, tuple[str, ...]] = {
    kind: tuple(one.name for one in fields(kind)) for kind in (Stamp, Process, Trouble)
}


def written(agent: Agent) -> dict[str, Any]:
    """A thousand of them are written twice a second, so nothing is copied that cannot change."""
    data = {name: getattr(agent, name) for name in _FIELDS}
    for name, value in data.items():
        if (parts := _PARTS.get(type(value))) is not None:
            data[name] = {part: getattr(value, part) for part in parts}
    data["state"], data["origin"] = agent.state.value, agent.origin.value
    return data


def read(data: Mapping[str, Any]) -> Agent:
    """What an older Argus did not write is as at the beginning; what a newer one wrote besides is left."""
    known = {key: value for key, value in data.items() if key in Agent.__dataclass_fields__}
    return Agent(
        **{
            **known,
            "state": State(data["state"]),
            "origin": Origin(data.get("origin", Origin.FOREIGN)),
            "process": Process(**data["process"]) if data.get("process") else None,
            "seen": Stamp(**data["seen"]) if data.get("seen") else None,
            "spawned": Stamp(**data["spawned"]) if data.get("spawned") else None,
            "died": Stamp(**data["died"]) if data.get("died") else None,
            "terminal": Process(**data["terminal"]) if data.get("terminal") else None,
            "trouble": Trouble(**data["trouble"]) if data.get("trouble") else None,
            "waits_under": tuple(data.get("waits_under", ())),
        }
    )


def merged(agent: Agent, *, status: str, task: str, config: str, project: str) -> Agent:
    """An empty or missing field never erases what is known."""
    return replace(
        agent,
        status=status or agent.status,
        task=task or agent.task,
        config=config or agent.config,
        project=project or agent.project,
    )
