"""command: a program of the user's own."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, field_validator

from argus.host.seam import Host, Ran
from argus.schema import PositiveDuration, Section, lasting


def _list(value: Any) -> Any:
    if not isinstance(value, list | tuple):
        raise ValueError("a command is a list: [program, argument]")
    return value


class CommandRestarter(Section):
    command: Annotated[tuple[str, ...], BeforeValidator(_list)] = Field(
        min_length=1, description="The program and its arguments, as a list; no shell."
    )
    timeout: PositiveDuration = lasting("60s", "How long it may run; then it and all it started are ended.")

    @field_validator("command")
    @classmethod
    def _can_be_started(cls, command: tuple[str, ...]) -> tuple[str, ...]:
        if not command[0] or any("\0" in argument for argument in command):
            raise ValueError("the program has a name, and no argument holds a NUL")
        return command

    def target(self, service: str) -> str:
        """What is restarted, as notifications name it."""
        return service

    async def restart(self, host: Host, *, log: str) -> Ran:
        return await host.run(list(self.command), timeout=self.timeout, log=log)
