"""How far each part of an environment has come while it is set up: what is told when that ends before its time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any

from argus.core.cutting import ending
from argus.core.errors import ArgusError, Code
from argus.environments.waiting import OUTPUT, last_words
from argus.host.engine.resources import Dock
from argus.host.engine.seam import EngineRefused

_LOGS = 5.0
"""Seconds for the logs of all that were not ready."""
_DIAGNOSIS = 20.0
Diagnose = Callable[[str, str], Awaitable[dict[str, Any]]]
"""Of a service, by its name and the id of its container."""


@dataclass(slots=True)
class Step:
    service: str
    state: str = "waiting"
    """waiting, for those it depends on; starting; started, and not ready; ready."""
    waiting_for: str = ""
    container: str = ""
    """Its id, once there is one."""

    def public(self) -> dict[str, Any]:
        return {"service": self.service, "state": self.state, "waitingFor": self.waiting_for or None}


class Standing:
    def __init__(self, services: Iterable[str] = ()) -> None:
        self.steps = {name: Step(name) for name in services}

    def waits(self, service: str, what: str) -> None:
        if service in self.steps:
            self.steps[service].waiting_for = what

    def comes_to(self, service: str, state: str, container: str = "") -> None:
        step = self.steps[service]
        step.state, step.waiting_for = state, ""
        step.container = container or step.container

    def public(self) -> list[dict[str, Any]]:
        return [one.public() for one in self.steps.values()]

    @property
    def late(self) -> list[Step]:
        return [one for one in self.steps.values() if one.state != "ready"]

    async def timeout(self, dock: Dock, seconds: float, diagnose: Diagnose) -> ArgusError:
        """Which were not ready when the time was over, what they waited for, said last and reach from inside."""
        waited = "; ".join(f"{one.service}: {one.waiting_for or one.state}" for one in self.late)
        return ArgusError(
            Code.HEALTH_CHECK_TIMEOUT,
            f"not up within {seconds:g} s: {waited or 'nothing was started yet'}",
            timeoutSeconds=seconds,
            notReady=[one.service for one in self.late],
            services=self.public(),
            logs=await self._logs(dock),
            diagnostics=await self._diagnostics(dock, diagnose),
        )

    async def _diagnostics(self, dock: Dock, diagnose: Diagnose) -> dict[str, dict[str, Any]]:
        """Of those that run and are not ready, what their own health check says, and what they reach from inside."""
        found: dict[str, dict[str, Any]] = {}
        try:
            async with asyncio.timeout(_DIAGNOSIS):
                for one in self.late:
                    made = await dock.container(one.container, timeout=_LOGS) if one.container else None
                    if made is not None and made.state == "running":
                        output = ending(made.health_output, OUTPUT) or one.waiting_for
                        found[one.service] = {"healthOutput": output, **await diagnose(one.service, made.id)}
        except (TimeoutError, ArgusError, EngineRefused):
            pass  # what there is will do
        return found

    async def _logs(self, dock: Dock) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        try:
            async with asyncio.timeout(_LOGS):
                for one in self.late:
                    if one.container:
                        found[one.service] = await last_words(dock, one.container)
        except TimeoutError:
            pass  # what there is will do
        return found
