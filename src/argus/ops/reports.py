"""What agents report of themselves, through their own hooks."""

from __future__ import annotations

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_snake

from argus.core.clock import milliseconds
from argus.ops.caller import Scope
from argus.ops.house import House
from argus.ops.operation import Answer, Ask, operation
from argus.schema import Name


class HookAsk(Ask):
    """The agents' own format: snake_case, and more fields than we know."""

    model_config = ConfigDict(extra="allow", alias_generator=to_snake, validate_by_name=False)

    agent: Name = Field(description="Which kind of agent reports, such as claude")
    hook_event_name: str = Field(min_length=1, max_length=100, description="What happened, such as PreToolUse")
    session_id: str = Field(default="", max_length=200, description="The agent's session")
    tool_name: str = Field(default="", max_length=200, description="The tool that is used")
    cwd: str = Field(default="", max_length=4096, description="Where the agent works")


class Taken(Answer):
    ok: bool
    timestamp: int


@operation("hooks.report", "POST /api/hooks/{agent}", scope=Scope.REPORT)
async def report(house: House, ask: HookAsk) -> Taken:
    """Takes an agent's own event, as its hooks post it. It goes out live on /api/events?live=true and is not recorded.

    What a tool was given or answered is not passed on.
    """
    told = {"agent": ask.agent, "event": ask.hook_event_name, "by": house.by}
    seen = {"session": ask.session_id, "tool": ask.tool_name, "folder": ask.cwd}
    house.live.show("agents", "reported", {**told, **{key: value for key, value in seen.items() if value}})
    return Taken(ok=True, timestamp=milliseconds(house.clock.wall()))


OPERATIONS = (report,)
