"""The agents as they are kept: in memory, and as documents in the store, the same values in both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any

from argus.agents import policy
from argus.agents.model import Agent, Origin, Process, State
from argus.core.clock import Stamp

DOMAIN = "agents"


class Book:
    """Every agent that is not over, and for each stem of an id the highest number that was ever used."""

    def __init__(self) -> None:
        self._agents: dict[str, Agent] = {}
        self._numbers: dict[str, int] = {}
        self._used: set[str] = set()

    def __iter__(self) -> Iterator[Agent]:
        return iter(list(self._agents.values()))

    def get(self, id: str) -> Agent | None:
        return self._agents.get(id)

    def put(self, agent: Agent) -> None:
        self._agents[agent.id] = agent
        self._used.add(agent.id)
        stem, digits = policy.split(agent.id)
        self._numbers[stem] = max(self._numbers.get(stem, 0), int(digits or 1))

    def forget(self, id: str) -> None:
        """It is over; its number stays used."""
        self._agents.pop(id, None)

    def next_id(self, id: str) -> str:
        following = policy.next_id(id, self._highest(id))
        while following in self._used:  # a number that outgrew its width reads as another stem
            following = policy.next_id(following, self._highest(following))
        return following

    def first_id(self, config: str) -> str:
        id = policy.first_id(config)
        is_new = id not in self._used and int(policy.split(id)[1]) > self._highest(id)
        return id if is_new else self.next_id(id)

    def _highest(self, id: str) -> int:
        return self._numbers.get(policy.split(id)[0], 0)


def written(agent: Agent) -> dict[str, Any]:
    return {**asdict(agent), "state": agent.state.value, "origin": agent.origin.value}


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
