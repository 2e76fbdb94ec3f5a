"""What the operations on agents share. Their JSON is snake_case, as in the agents' own sources."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_snake

from argus.core.errors import ArgusError, Code
from argus.ops.caller import Role
from argus.ops.house import House
from argus.ops.operation import Answer, Ask
from argus.schema import Name

TASK = 150_000
"""Characters of a task. Escaped, each may take six bytes, and a body has at most 1 MiB."""
PID = 2**31 - 1
_SAID = 125_000
"""Bytes of what an agent says that it works on: with some words around it still one argument of a program."""


class SnakeAsk(Ask):
    model_config = ConfigDict(defer_build=True, extra="forbid", alias_generator=to_snake, validate_by_name=False)


class SnakeAnswer(Answer):
    model_config = ConfigDict(defer_build=True, alias_generator=to_snake, validate_by_name=True, validate_by_alias=True)


def _said(text: str) -> str:
    """What an agent says may become the argument of its successor."""
    if "\0" in text:
        raise ValueError("it holds a NUL character")
    if len(text.encode()) > _SAID:
        raise ValueError(f"it has more than {_SAID} bytes")
    return text


Said = Annotated[str, AfterValidator(_said)]


def _number(value: Any) -> Any:
    """Neither true, which would be 1, nor text."""
    if isinstance(value, bool | str):
        raise ValueError("it must be a number")
    return value


IS_NUMBER = BeforeValidator(_number)
"""For a body. In a query everything is text."""


def _full(path: str) -> str:
    if path and (not path.startswith("/") or "\0" in path):
        raise ValueError("a path is given in full here, from /")
    return path


FullPath = Annotated[
    str,
    AfterValidator(_full),
    Field(max_length=4096, json_schema_extra={"format": "path", "pattern": r"^(/[^\x00]*)?$"}),
]
"""From outside. The CLI makes one of what its caller means."""


Pid = Annotated[int, Field(ge=1, le=PID), IS_NUMBER]


class AgentNamed(SnakeAsk):
    id: Name = Field(description="The agent's id")


def speaks_for(house: House, agent: str) -> None:
    """An agent's own token is good for that agent alone."""
    caller = house.caller
    if caller.role is Role.AGENT and caller.agent != agent:
        raise ArgusError(Code.FORBIDDEN, f"this token is of {caller.agent}, not of {agent}", agent=agent)
