"""What agents tell of themselves, through their own hooks and status lines.

Whoever posts here is in the middle of its work. So the answer holds nothing that an agent's program could take for a
decision (`continue`, `decision`, `hookSpecificOutput` and the like), and a body that makes no sense is no error: the
program would show that to its person, at every step.
"""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_snake

from argus.core.clock import milliseconds, stamp
from argus.ops.caller import Scope
from argus.ops.house import House
from argus.ops.operation import Answer, Ask, operation
from argus.ops.snake import SnakeAnswer
from argus.schema import Name
from argus.sessions import told
from argus.sessions.told import Told


class HookAsk(Ask):
    """The agents' own format: more fields than we know, and nothing in it is certain."""

    model_config = ConfigDict(defer_build=True, extra="allow", alias_generator=to_snake, validate_by_name=False)

    agent: Name = Field(description="Which kind of agent reports, such as claude")


class HeardAsk(Ask):
    pass


class Taken(Answer):
    ok: bool
    timestamp: int
    ignored: str | None = Field(default=None, description="Why it told nothing; what is ignored does no harm")


class HeardView(SnakeAnswer):
    agent: str
    signs: int = Field(description="That told something, since Argus started")
    ignored: int = Field(description="That told nothing")
    conversations: int
    last_event: str
    age_seconds: float | None = Field(description="Since the last one")


class HeardAnswer(SnakeAnswer):
    agents: list[HeardView]
    timestamp: int


@operation("hooks.report", "POST /api/hooks/{agent}", scope=Scope.REPORT)
async def report(house: House, ask: HookAsk) -> Taken:
    """Takes an agent's own event, as its hooks or its status line post it. What tells nothing is ignored, and says why.

    It goes out live on /api/events?live=true and is not recorded. What a tool was given or answered is not passed on.
    """
    body: dict[str, Any] = ask.model_extra or {}
    found = told.read(ask.agent, body, stamp(house.clock))
    if found.event:
        _show(house, ask.agent, found)
    if found.sign is not None:
        house.sessions.heard(ask.agent, found.folder, found.sign)
    else:
        house.sessions.ear.ignored(ask.agent)
    ignored = house.clean(found.ignored) or None
    return Taken(ok=True, timestamp=milliseconds(house.clock.wall()), ignored=ignored)


def _show(house: House, agent: str, found: Told) -> None:
    sign = found.sign
    seen: dict[str, Any] = {"folder": found.folder}
    if sign is not None:
        context = sign.context and {"used": sign.context.used, "total": sign.context.total}
        seen |= {"session": sign.session, "tool": sign.tool, "context": context}
    shown = {"agent": agent, "event": found.event, "by": house.by}
    house.live.show("agents", "reported", {**shown, **{key: value for key, value in seen.items() if value}})


@operation("hooks.heard", "GET /api/hooks", read_only=True)
async def heard(house: House, ask: HeardAsk) -> HeardAnswer:
    """Shows which kinds of agents report by hooks, and when one was last heard."""
    agents = [
        HeardView(
            agent=one.kind,
            signs=one.signs,
            ignored=one.ignored,
            conversations=one.conversations,
            last_event=house.clean(one.last_event),
            age_seconds=None if one.age is None else round(one.age, 3),
        )
        for one in house.sessions.ear.lately()
    ]
    return HeardAnswer(agents=agents, timestamp=milliseconds(house.clock.wall()))


OPERATIONS = (report, heard)
