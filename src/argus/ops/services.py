"""Operations on services."""

from __future__ import annotations

from pydantic import Field

from argus.core.clock import rfc3339
from argus.core.errors import Code
from argus.ops.caller import Scope
from argus.ops.house import House
from argus.ops.operation import Answer, Ask, operation
from argus.schema import Name, PositiveDuration
from argus.services.history import Uptime, rounded
from argus.services.watch import describe


class UptimeView(Answer):
    """The share, from 0 to 1, of the checks that were judged and found it alive; null where none was judged."""

    day: float | None = Field(alias="24h")
    week: float | None = Field(alias="7d")
    month: float | None = Field(alias="30d")


class ServiceView(Answer):
    """One service as it stands."""

    name: str
    type: str
    state: str = Field(description="pending, up, degraded, down or unknown")
    since: str = Field(description="When it came into this state, RFC 3339")
    latency_ms: float | None
    detail: str = Field(description="What the last check saw")
    code: str | None = Field(description="The error code of the last failure")
    flapping: bool = Field(description="It goes up and down; it is not restarted until it has settled")
    failures: int = Field(description="Consecutive failures")
    counted_anew: bool = Field(
        description="It fails for longer than `failures` says: these were counted anew after a restart of Argus, a "
        "change of its configuration or a jump of the clock"
    )
    tls_expires: str | None = Field(description="When the certificate ends that it showed")
    last_check: str | None
    place: str
    port: int | None
    interval: float = Field(description="Seconds between checks")
    restartable: bool
    repairing: bool = Field(description="A restart is under way or being verified")
    incident: str | None = Field(description="The open incident; argus explain shows its story")
    explained_by: str | None = Field(
        description="The incident of what explains that it fails: of what it depends on, or an infrastructure event"
    )
    gate: str | None = Field(description="What holds a restart back")
    waits_for: str | None = Field(description="Who works with it, at the gate `in use`: a restart waits for that")
    restarts: int = Field(description="Restarts in this outage")
    paused_until: str | None
    depends_on: list[str]
    uptime: UptimeView


class ServiceList(Answer):
    services: list[ServiceView]


class Nothing(Ask):
    pass


class Named(Ask):
    name: Name = Field(description="The service's name")


class PauseAsk(Named):
    for_: PositiveDuration = Field(alias="for", description='How long, such as "30m" or "1h"')


class Restarted(Answer):
    service: str
    act: str = Field(description="The restart's id in the record")
    accepted: bool


class PauseState(Answer):
    service: str
    paused_until: str | None


def view(house: House, name: str, uptime: Uptime) -> ServiceView:
    shares = {"24h": rounded(uptime.day), "7d": rounded(uptime.week), "30d": rounded(uptime.month)}
    said = describe(house.watch, name, house.clock.wall())
    # A check's own words may hold what a program printed.
    return ServiceView.model_validate({**said, "detail": house.clean(str(said["detail"])), "uptime": shares})


async def views(house: House, *names: str) -> list[ServiceView]:
    uptimes = await house.watch.history.uptimes(names)
    return [view(house, name, uptimes[name]) for name in names if name in house.watch.services]


async def _one(house: House, name: str) -> ServiceView:
    uptimes = await house.watch.history.uptimes([house.watch.find(name).name])
    return view(house, name, uptimes[name])


@operation("services.list", "GET /api/services", verb="services list", tool="argus_services", read_only=True)
async def list_services(house: House, ask: Nothing) -> ServiceList:
    """Lists every watched service with its state, latency, uptime, last check and open incident.

    Changes nothing. Look here first when something does not answer: a service that is down says since when and why,
    what holds a restart back (`gate`), and the incident whose story `explain` tells.
    """
    return ServiceList(services=await views(house, *sorted(house.watch.services)))


@operation("services.show", "GET /api/services/{name}", read_only=True, errors=(Code.SERVICE_NOT_FOUND,))
async def show_service(house: House, ask: Named) -> ServiceView:
    """Shows one service."""
    return await _one(house, ask.name)


@operation(
    "services.check",
    "POST /api/services/{name}/check",
    verb="services check",
    tool="argus_check_service",
    scope=Scope.ASK,
    errors=(Code.SERVICE_NOT_FOUND, Code.STORE_UNAVAILABLE),
)
async def check_service(house: House, ask: Named) -> ServiceView:
    """Checks one service now and returns what was seen.

    Changes nothing outside; the reading counts like any other, so a failure counts towards confirming an outage. Call
    it after you have mended something, instead of waiting for the next check. SERVICE_NOT_FOUND: `services` lists the
    names.
    """
    await house.watch.check(ask.name)
    return await _one(house, ask.name)


@operation(
    "services.restart",
    "POST /api/services/{name}/restart",
    verb="services restart",
    tool="argus_restart_service",
    scope=Scope.ASK,
    destructive=True,
    ends_with_caller=True,
    status=202,
    errors=(
        Code.SERVICE_NOT_FOUND,
        Code.GATE_REFUSED,
        Code.RESTART_BUDGET_EXHAUSTED,
        Code.INVALID_STATE,
        Code.STORE_UNAVAILABLE,
    ),
)
async def restart_service(house: House, ask: Named) -> Restarted:
    """Asks for a restart of one service, through the gates.

    Changes the service: it is restarted when every gate allows it (maintenance, infrastructure event, dependency,
    autonomy, one restart an outage, budget). A person who asks for it in an outage approves what Argus proposed at
    autonomy cautious, and may restart again what was restarted in it already; an agent may not. A refusal is
    GATE_REFUSED or RESTART_BUDGET_EXHAUSTED and names the gate and how it opens: do not ask again at once, and do not
    restart it by hand. INVALID_STATE: a restart is under way, or waits already. While others are in the middle of
    working with the service (a turn, a test case; never the caller's own) it waits for them, at most
    `health.waitForWork`; who goes away meanwhile takes it back. Returns as soon as the intent is on record; the outcome
    is an event `services:restart_finished`, and shows in the service's state.
    """
    caller = house.caller
    act = await house.watch.restart(ask.name, house.by, is_person=caller.is_person, agent=caller.agent or "")
    return Restarted(service=ask.name, act=act, accepted=True)


@operation(
    "services.pause",
    "POST /api/services/{name}/pause",
    verb="services pause",
    errors=(Code.SERVICE_NOT_FOUND, Code.STORE_UNAVAILABLE),
)
async def pause_service(house: House, ask: PauseAsk) -> PauseState:
    """Holds alerts and restarts of one service back for a while. It goes on being checked."""
    until = await house.watch.pause(ask.name, ask.for_, house.by)
    return PauseState(service=ask.name, paused_until=rfc3339(until) if until else None)


@operation(
    "services.resume",
    "POST /api/services/{name}/resume",
    verb="services resume",
    errors=(Code.SERVICE_NOT_FOUND, Code.STORE_UNAVAILABLE),
)
async def resume_service(house: House, ask: Named) -> PauseState:
    """Ends a pause."""
    await house.watch.pause(ask.name, None, house.by)
    return PauseState(service=ask.name, paused_until=None)


OPERATIONS = (list_services, show_service, check_service, restart_service, pause_service, resume_service)
