"""What other MCP servers look like from here: opened, asked for their tools, called, closed.

A program is spoken to by its pipes, an address by streamable HTTP. Whoever calls says how long it waits, by ending the
wait: a call that is cancelled tells the server so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

LARGEST = 4 * 1024 * 1024
"""Bytes of one answer. What is larger is passed over, and said."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How to come to one: a program with all that it is given, or an address."""

    command: tuple[str, ...] = ()
    folder: str = ""
    environ: Mapping[str, str] = field(default_factory=dict)
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_program(self) -> bool:
        return not self.url

    @property
    def key(self) -> tuple[object, ...]:
        """The same for whoever can share a session."""
        given = (tuple(sorted(one.items())) for one in (self.environ, self.headers))
        return self.command, self.folder, self.url, *given


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    description: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None = None
    annotations: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a tool answered. `is_error`: it did not do it, and says why in its content."""

    content: list[dict[str, Any]]
    structured: Any = None
    is_error: bool = False


class Unreachable(Exception):
    """It could not be started or does not answer, or it went away; its session is over. Why, in words."""

    reason = "unreachable"

    def __init__(self, why: str, *, said: str = "") -> None:
        super().__init__(why)
        self.said = said
        """The last that its program wrote to its second output."""


class CannotStart(Unreachable):
    reason = "cannot_start"


class Died(Unreachable):
    reason = "died"


class NotMcp(Unreachable):
    """What it says is no MCP."""

    reason = "not_mcp"


class Forgotten(Unreachable):
    """It does not know the session any more, and has not done what it was asked: that can be sent again."""


class Closed(Unreachable):
    """We closed the session ourselves while the answer was awaited."""

    reason = "ended_with_another"


class TooLarge(Exception):
    """It answered, with more than LARGEST."""


class Refused(Exception):
    """It answered that it does not do this: an error of the protocol, not of the tool."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Session(Protocol):
    @property
    def is_open(self) -> bool: ...

    @property
    def tools_changed(self) -> int:
        """Counts how often it said that its tools are others now."""
        ...

    @property
    def said(self) -> str:
        """The last that its program wrote to its second output."""
        ...

    async def tools(self) -> list[Tool]: ...

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Reply: ...

    async def close(self, *, at_once: bool = False) -> None:
        """Its program ends, with all that belongs to it. What is under way raises Closed. `at_once`: it hangs."""
        ...


class Opener(Protocol):
    async def open(self, reach: Reach) -> Session:
        """Until it is greeted. Raises Unreachable. Cancelled, it leaves nothing behind."""
        ...
