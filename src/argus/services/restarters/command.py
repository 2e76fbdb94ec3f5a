"""command: a program of the user's own."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from argus.host.seam import Host, Ran
from argus.schema import PositiveDuration, Section, lasting


def _list(value: Any) -> Any:
    if not isinstance(value, list | tuple):
        raise ValueError("a command is a list: [program, argument]")
    return value


def _startable(command: tuple[str, ...]) -> tuple[str, ...]:
    if (command and not command[0]) or any("\0" in argument for argument in command):
        raise ValueError("the program has a name, and no argument holds a NUL")
    return command


Command = Annotated[tuple[str, ...], BeforeValidator(_list), AfterValidator(_startable)]


class CommandRestarter(Section):
    command: Command = Field(min_length=1, description="The program and its arguments, as a list; no shell.")
    timeout: PositiveDuration = lasting("60s", "How long it may run; then it and all it started are ended.")

    def target(self, service: str) -> str:
        """What is restarted, as notifications name it."""
        return service

    async def restart(self, host: Host, *, log: str) -> Ran:
        return await host.run(list(self.command), timeout=self.timeout, log=log)
