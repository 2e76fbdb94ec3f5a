"""Waiting until a container is ready: it runs, and it answers where the file says. What is in the way is told."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from argus.core.clock import Clock
from argus.core.cutting import beginning, ending
from argus.core.errors import ArgusError, Code
from argus.environments.blueprint import HealthWish, Part
from argus.host.engine.resources import Dock, Made
from argus.host.engine.seam import EngineRefused
from argus.host.seam import HttpReply, HttpRequest, ProbeFailed

_LOOK = 5.0
_POLL = 0.25
_LINES = 100
_SAID = 200
"""Characters of what a health check printed last, its beginning; and with all that is known, its end."""
OUTPUT = 2000


class Http(Protocol):
    async def __call__(self, request: HttpRequest, *, timeout: float) -> HttpReply: ...


async def _nothing(part: Part, id: str) -> dict[str, Any]:
    return {}


@dataclass(frozen=True, slots=True)
class Waiter:
    dock: Dock
    http: Http
    clock: Clock
    address: str
    """Where published ports are: this machine, or the one that the engine is on."""
    told: Callable[[str, str], None]
    """What is waited for, of which part."""
    diagnose: Callable[[Part, str], Awaitable[dict[str, Any]]] = _nothing
    """What one that is not ready reaches from inside, by its container's id."""
    clean: Callable[[str], str] = str
    """Takes secrets out of what a health check said: it goes into records and answers."""
    peaks: dict[str, int] = field(default_factory=dict)
    """The most memory that was seen in use, by container: once it is dead the engine does not know."""

    async def until_ready(self, part: Part, id: str) -> Made:
        began, last, said, ran = self.clock.monotonic(), "it does not run yet", "", False
        patience = part.health.patience if part.health else HealthWish("/", 0).patience
        while True:
            made = await self.look(part, id)
            await self._measure(made)
            last = await self._missing(part, made)
            # Without a health check it is ready while it runs; one that ends at once runs for a moment too.
            if not last and (part.health or ran):
                return made
            ran = not last
            if last and last != said:
                said = last
                self.told(part.name, last)
            waited = self.clock.monotonic() - began
            # Docker says so after all the tries its own check has: it has given up.
            is_given_up = part.health is None and made.health == "unhealthy"
            if last and (waited > patience or is_given_up):
                raise await self._timeout(part, made, last, waited)
            await asyncio.sleep(min(_POLL, part.health.interval) if part.health else _POLL)

    async def look(self, part: Part, id: str) -> Made:
        """Raises what became of one that does not run any more."""
        made = await self.dock.container(id, timeout=_LOOK)
        if made is None:
            raise ArgusError(
                Code.CONTAINER_NOT_FOUND, f"the container of {part.name} is gone", container=part.container
            )
        if made.state in ("exited", "dead"):
            raise await crashed(self.dock, part.name, made, self.peaks.get(made.id))
        return made

    async def _measure(self, made: Made) -> None:
        """Only where there is a limit to run into."""
        if made.memory_limit is None or made.state != "running":
            return
        try:
            usage = await self.dock.stats(made.id, timeout=_LOOK)
        except (ArgusError, EngineRefused):
            return  # it may have ended just now; whatever it is, the next look tells
        self.peaks[made.id] = max(self.peaks.get(made.id, 0), usage.peak or 0, usage.memory or 0)

    async def _missing(self, part: Part, made: Made) -> str:
        """What it is not ready for; empty when it is."""
        if made.state != "running":
            return f"it is {made.state}"
        if part.health is None:
            ready = made.health in (None, "healthy")
            said = beginning(self.clean(made.health_output.strip()), _SAID)
            return "" if ready else f"its own health check says {made.health}: {said}".rstrip(": ")
        host, port = self.where(part, part.health, made)
        try:
            host = f"[{host}]" if ":" in host else host
            request = HttpRequest(f"http://{host}:{port}{part.health.path}")
            answer = await self.http(request, timeout=part.health.timeout)
        except ProbeFailed as failed:
            return self.clean(f"{part.health.path} on {host}:{port}: {failed.detail}")
        return "" if answer.status < 400 else self.clean(f"{part.health.path} answers {answer.status}")

    def where(self, part: Part, health: HealthWish, made: Made) -> tuple[str, int]:
        for binding in made.ports:
            if binding.container_port == health.port and binding.protocol == "tcp":
                # The engine says only "everywhere" where the file may have meant every address of IPv6.
                wished = {one.host for one in part.ports if one.host_port == binding.host_port}
                bound = binding.host or ("::" if wished == {"::"} else "")
                return reached(bound, self.address), binding.host_port
        address = next((ip for ip in made.networks.values() if ip), self.address)
        return address, health.port

    async def _timeout(self, part: Part, made: Made, last: str, waited: float) -> ArgusError:
        details: dict[str, Any] = {
            "service": part.name,
            "container": made.name,
            "waitedSeconds": round(waited, 1),
            "lastResult": last,
            "healthOutput": ending(self.clean(made.health_output), OUTPUT) or last,
            "logs": await last_words(self.dock, made.id),  # it was made to be waited for: all of them are of that time
            "networks": dict(made.networks),
            **await self.diagnose(part, made.id),
        }
        message = f"{part.name} did not become ready within {waited:.3g} s: {last}"
        return ArgusError(Code.HEALTH_CHECK_TIMEOUT, message, **details)


def reached(bound: str, engine: str) -> str:
    """The address to ask for a port that is bound to one, of an engine that is here or elsewhere."""
    is_here = ipaddress.ip_address(engine).is_loopback if _is_address(engine) else engine == "localhost"
    if not bound or not _is_address(bound):
        return engine
    address = ipaddress.ip_address(bound)
    if address.is_unspecified:
        return "::1" if is_here and address.version == 6 else engine
    # The loopback of another machine is reached by nobody here; what is asked then says so best.
    return engine if address.is_loopback and not is_here else bound


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


async def crashed(dock: Dock, name: str, made: Made, peak: int | None = None) -> ArgusError:
    """OOM is what the engine says, not exit code 137 alone."""
    details: dict[str, Any] = {
        "service": name,
        "container": made.name,
        "exitCode": made.exit_code,
        "oomKilled": made.oom_killed,
        "logs": await last_words(dock, made.id),
    }
    if made.oom_killed:
        details |= {"memoryLimit": made.memory_limit, "memoryPeak": peak or None}
        return ArgusError(Code.CONTAINER_OOM, f"{name} ran out of memory", **details)
    by = " (killed)" if made.exit_code == 137 else ""
    return ArgusError(Code.CONTAINER_CRASH, f"{name} ended with exit status {made.exit_code}{by}", **details)


async def last_words(dock: Dock, id: str) -> list[str]:
    try:
        return await dock.logs(id, _LINES, timeout=_LOOK)
    except Exception:  # noqa: BLE001 - why it ended is worth saying also without its log
        return []
