"""docker: every container runs and, where it has a health check, is healthy."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from argus.core.errors import ArgusError
from argus.host.seam import Host
from argus.schema import PositiveDuration, lasting
from argus.services.checks.base import Interval, Service
from argus.services.containers import check_given, judged, look, place
from argus.services.model import Seen, Status
from argus.services.restarters.docker import DockerRestarter


class DockerService(Service):
    type: Literal["docker"] = Field(description="Looks whether containers run and are healthy.")
    interval: Interval = lasting("120s", "How often it is checked, at least 100ms; intervalMs takes milliseconds.")
    timeout: PositiveDuration = lasting("10s", "How long one check may take, everything included; also timeoutMs.")

    @model_validator(mode="before")
    @classmethod
    def _names_its_containers(cls, values: Any) -> Any:
        if isinstance(values, dict):
            check_given(values)
        return values

    @property
    def place(self) -> str:
        return place(self._which)

    @property
    def _which(self) -> tuple[str, ...] | str:
        return self.containers if self.containers is not None else self.label or ""

    def target(self, seen: Seen | None) -> str:
        acts_on = self.restart.docker if isinstance(self.restart, DockerRestarter) else None
        return seen.bad if seen and seen.bad and acts_on == self._which else super().target(seen)

    async def probe(self, host: Host) -> Seen:
        try:
            return judged(await look(self._which, host.engine, timeout=self.timeout))
        except ArgusError as error:
            # An engine that cannot be asked says nothing about its containers: most go on running without it.
            return Seen(Status.UNKNOWN, None, "Argus could not ask", error.message, error.code.value)
