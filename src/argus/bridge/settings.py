"""The section `bridge` of argus.yaml."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, SecretStr, model_validator

from argus.core.names import LETTERS
from argus.core.patterns import WEB_ADDRESS
from argus.schema import PositiveDuration, Section, lasting

_NAME = re.compile(r"[A-Za-z0-9]+(?:(?:_|-+)[A-Za-z0-9]+)*")
NO_NAME = f"an MCP server's name has {LETTERS}, digits, '-' and single '_', and at most 64 of them"


def is_name(name: str) -> bool:
    """Whether an MCP server can be called so: `__` ends the name in that of its tools (`mcp__NAME__TOOL`)."""
    return len(name) <= 64 and _NAME.fullmatch(name) is not None


def _name(name: str) -> str:
    if not is_name(name):
        raise ValueError(NO_NAME)
    return name


class McpServer(Section):
    """As in a `.mcp.json`: a program with `command`, or an address with `url`. `${NAME}` and `${NAME:-else}` are read
    from the environment."""

    type: Literal["stdio", "http"] | None = Field(default=None, description="Found by `command` or `url` if left out.")
    command: str | None = Field(default=None, min_length=1, description="The program, spoken to by its pipes.")
    args: tuple[str, ...] = Field(default=(), description="Its arguments.")
    env: dict[str, SecretStr] = Field(default={}, description="What it is given besides Argus's own environment.")
    cwd: str | None = Field(default=None, description="Where it runs; the folder of this file if left out.")
    url: str | None = Field(default=None, pattern=WEB_ADDRESS, description="Its address: streamable HTTP.")
    headers: dict[str, SecretStr] = Field(default={}, description="What is sent with every request.")

    @model_validator(mode="before")
    @classmethod
    def _one_way(cls, data: Any) -> Any:
        if isinstance(data, dict):
            by_program, by_address = "command" in data, "url" in data
            if by_program == by_address:
                raise ValueError("say either `command` or `url`")
            if (data.get("type") or ("stdio" if by_program else "http")) != ("stdio" if by_program else "http"):
                raise ValueError("`type: stdio` goes with `command`, `type: http` with `url`")
        return data


class Bridge(Section):
    max_concurrent: int = Field(default=2, ge=1, le=16, description="Queries through a model at once, in all.")
    timeout: PositiveDuration = lasting("60s", "How long a query or a call may take, unless its caller says else.")
    slow_after: PositiveDuration = lasting(
        "30s",
        "A call that takes longer counts as a failure of its server, although its answer is passed on. A caller's own "
        "time limit below it counts as nothing.",
    )
    failures: int = Field(default=3, ge=1, le=100, description="Consecutive failures after which a server rests.")
    reset_after: PositiveDuration = lasting("5m", "How long it rests, until one call is let through to see.")

    @property
    def patience(self) -> float:
        """Seconds: who gives a server less time proves nothing about it by going away."""
        return min(self.slow_after, self.timeout)

    program: str = Field(default="claude", min_length=1, description="The program that queries are asked with.")
    servers: dict[Annotated[str, AfterValidator(_name)], McpServer] = Field(
        default={}, description="MCP servers for every caller, besides those of `.mcp.json` files."
    )
