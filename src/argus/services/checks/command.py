"""command: a program of the user's own; exit status 0 means up."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from argus.core.cutting import ending
from argus.host.seam import Host
from argus.schema import PositiveDuration, lasting
from argus.services.checks.base import Service
from argus.services.model import Seen, Status
from argus.services.restarters.command import Command

_SAID = 200


class CommandService(Service):
    type: Literal["command"] = Field(description="Runs a program; exit status 0 means up.")
    timeout: PositiveDuration = lasting("10s", "How long one check may take, everything included; also timeoutMs.")
    command: Command = Field(min_length=1, description="The program and its arguments, as a list; no shell.")

    @property
    def place(self) -> str:
        return f"Command {self.command[0]}"

    async def probe(self, host: Host) -> Seen:
        ran = await host.ask(list(self.command), timeout=self.timeout)
        said = ending(" ".join(ran.output.split()), _SAID)
        if ran.problem.startswith("cannot start"):
            # A check that cannot be run says nothing about the service: nothing may be restarted because of it.
            return Seen(Status.UNKNOWN, None, "Argus could not ask", ran.problem)
        if ran.problem:
            return Seen(Status.DOWN, None, "timeout", ran.problem, "HEALTH_CHECK_TIMEOUT")
        if ran.exit_code == 0:
            return Seen(Status.UP, ran.seconds, "", said or "exit status 0")
        how = f"exit status {ran.exit_code}"
        return Seen(Status.DOWN, ran.seconds, how, f"{how}: {said}" if said else how, "SERVICE_DOWN")
