"""The services' part as the rest of Argus sees it: what is watched, how it stands, and what may be asked of it."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Callable, Iterable, Mapping

from argus.core.clock import Jump, rfc3339
from argus.core.errors import ArgusError, Code
from argus.host.deadlines import Deadlines
from argus.live import overhear
from argus.loops import keep_running, log
from argus.services import certainty, policy, registry
from argus.services.checks.base import Service
from argus.services.history import History
from argus.services.messages import Asked, Observed, Paused, Reconfigured, Withdrawn
from argus.services.model import Gate, Health, Observation, Seen, Status
from argus.services.reconciler import Reconciler
from argus.services.registry import Change
from argus.services.restoring import restore
from argus.services.schedule import TICK, Schedule
from argus.services.settings import Health as Settings
from argus.services.tools import Tools
from argus.services.waiting import Asking, Waiting
from argus.store.records import Write

_GRACE = 2.0
"""A check that outlives its own deadline by this much is ended and says so."""
_LATE = 0.25
"""A failure that took so much longer than its timeout was ours: the loop did not run while the answer came."""


_MOMENT = 0.5


class Watch:
    def __init__(self, settings: Settings, services: tuple[Service, ...], tools: Tools) -> None:
        self._tools = tools
        named = {service.name: service for service in services}
        self._schedule = Schedule(_intervals(named), tools.clock.monotonic())
        self.history = History(tools.store, tools.clock)
        # Every check keeps its deadline by itself; this is the net below, for a fault of ours.
        self._net = Deadlines(tick=1.0)
        self._moved = asyncio.Event()
        self._checking: set[str] = set()
        self._asked: dict[str, list[asyncio.Future[Health]]] = {}
        """Who else waits for a look that somebody asked for."""
        self._reconciler = Reconciler(settings, named, tools, self.probe)
        self._queue = self._reconciler.queue

    async def restore(self) -> None:
        """Takes up what the record says: states, outages, open acts. Before `run`."""
        await restore(self._reconciler, self._tools)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            self._reconciler.repairs.adopt(group)
            group.create_task(keep_running("services.reconciler", self._reconciler.run, self._tools.store))
            group.create_task(keep_running("services.history", self.history.run, self._tools.store))
            group.create_task(keep_running("services.schedule", lambda: self._keep_schedule(group), self._tools.store))

    def time_jumped(self, jump: Jump) -> None:
        self._reconciler.time_jumped(jump)
        self._schedule.soon(self.services, self._tools.clock.monotonic())
        self._moved.set()

    @property
    def services(self) -> dict[str, Service]:
        return self._reconciler.services

    @property
    def settings(self) -> Settings:
        return self._reconciler.settings

    @property
    def healths(self) -> dict[str, Health]:
        return self._reconciler.healths

    @property
    def infrastructure_event(self) -> str | None:
        event = self._reconciler.correlator.event
        return event.incident if event else None

    @property
    def event_needs_a_person(self) -> bool:
        return self._reconciler.correlator.needs_a_person

    def explained_by(self, name: str) -> str | None:
        """The incident of what makes this one fail: of the event, also before the outage is confirmed, or of what it
        depends on."""
        health = self.healths[name]
        if self._reconciler.correlator.explains(name, health):
            return self.infrastructure_event
        known = health.outage.explained_by if health.outage else ""
        if not known or known == self.infrastructure_event:
            return known or None
        # The outage keeps what explained it. What is over explains nothing that is down now, nor does what it does not
        # depend on any more.
        depends_on = self._reconciler.correlator.depends_on
        return known if policy.stands_under(name, known, depends_on, self.healths) else None

    def is_open(self, name: str) -> bool:
        """Whether it may show in a moment that something else explains its outage, or that it is over."""
        return certainty.is_open(name, self.services, self.healths, self._failures, self._tools.clock.monotonic())

    def is_failing(self, names: Iterable[str]) -> bool:
        """Whether one of these fails, or what explains it, and is not confirmed yet."""
        return certainty.is_failing(names, self.services, self.healths, self._failures, self._tools.clock.monotonic())

    def _failures(self, service: Service) -> int:
        return service.failures_before_action or self.settings.failures_before_action

    def is_counted_anew(self, name: str) -> bool:
        """Whether it fails for longer than its failures were counted."""
        health, clock = self.healths[name], self._tools.clock
        return policy.failing_before(health, health.outage, clock.monotonic(), clock.wall()) is not None

    def paused_until(self, name: str) -> float | None:
        return self._reconciler.quiet_until(name)

    def budget(self) -> tuple[int, int]:
        """How many restarts are left in this hour, and of how many."""
        return self._reconciler.budget_left(), self.settings.restart_budget.max_per_hour

    def find(self, name: str) -> Service:
        service = self.services.get(name)
        if service is None:
            known = sorted(self.services)
            raise ArgusError(
                Code.SERVICE_NOT_FOUND, f"there is no service {name[:100]!r}", service=name[:100], known=known[:50]
            )
        return service

    async def check(self, name: str) -> Health:
        """Looks now; the reading counts like any other. Who asks while somebody else's look is under way shares it:
        many looks at one moment are one."""
        service = self.find(name)
        sharing = self._asked.get(name)
        if sharing is not None:
            shared: asyncio.Future[Health] = asyncio.get_running_loop().create_future()
            sharing.append(shared)
            return await shared
        sharing = self._asked[name] = []
        try:
            health = await self._look(service)
        except BaseException as error:
            failure = error if isinstance(error, Exception) else ArgusError(Code.INVALID_STATE, "it was given up")
            for one in sharing:
                if not one.done():
                    one.set_exception(failure)
            raise
        finally:
            del self._asked[name]
        for one in sharing:
            if not one.done():
                one.set_result(health)
        return health

    async def _look(self, service: Service) -> Health:
        name = service.name
        observation = await self.probe(service)
        self._show(name, observation)
        reply: asyncio.Future[Health] = asyncio.get_running_loop().create_future()
        self._queue.put_nowait(Observed(name, observation, reply))
        return await reply

    async def restart(self, name: str, by: str, *, is_person: bool = False, agent: str = "") -> str:
        """Asks for a restart through the gates; returns the act's id once the intent is on record. Cancelled while it
        waits for who works with the service, nothing is restarted. `agent`: which it is that asks."""
        asking, waited, why = Asking(by, agent, is_person), False, ""
        try:
            while True:
                self.find(name)
                reply: asyncio.Future[str] = asyncio.get_running_loop().create_future()
                self._queue.put_nowait(Asked(name, asking, reply))
                try:
                    return await reply
                except ArgusError as error:
                    if waited and error.code is Code.INVALID_STATE and "act" in error.details:
                        return str(error.details["act"])  # Argus waited by itself as well, and was first
                    # Somebody works with it: that is waited for, up to a limit that the gate keeps.
                    if error.code is not Code.GATE_REFUSED or error.details.get("gate") != Gate.IN_USE.value:
                        raise
                    if not waited:
                        overhear("services", "restart_waits", error.details)
                    waited = True
                await asyncio.sleep(_MOMENT)
        except Exception as error:
            why = str(error)
            raise
        finally:
            # It waits no more, however it ended; of one that is on record already this takes nothing back.
            self._queue.put_nowait(Withdrawn(name, asking, why))

    def waiting(self, name: str) -> Waiting | None:
        """Whom a restart of it waits for."""
        return self._reconciler.waits.of(name)

    async def pause(self, name: str, seconds: float | None, by: str) -> float | None:
        """Holds alerts and restarts back for a while; None ends that. Returns until when, as wall time."""
        self.find(name)
        if seconds is not None and not (seconds > 0 and math.isfinite(seconds)):
            raise ArgusError(Code.INVALID_REQUEST, "a pause is longer than 0 s")
        reply: asyncio.Future[float | None] = asyncio.get_running_loop().create_future()
        self._queue.put_nowait(Paused(name, seconds, by, reply))
        return await reply

    async def reconfigure(
        self,
        settings: Settings,
        services: tuple[Service, ...],
        writes: tuple[Write, ...],
        take_over: Callable[[], None],
    ) -> Change:
        """Takes another configuration up, with everything else that changes with it, or raises and changes nothing."""
        named = {service.name: service for service in services}
        change = registry.change(self.services, named)

        def all_of_it() -> None:
            self._schedule.change(_intervals(named), (*change.added, *change.changed), self._tools.clock.monotonic())
            self._moved.set()
            self.history.recent.forget(set(change.removed))
            take_over()

        reply: asyncio.Future[Change] = asyncio.get_running_loop().create_future()
        self._queue.put_nowait(Reconfigured(settings, named, writes, all_of_it, reply))
        return await reply

    async def probe(self, service: Service) -> Observation:
        began = self._tools.clock.monotonic()
        try:
            with self._net.within(service.timeout + _GRACE):
                seen = await service.probe(self._tools.host)
        except TimeoutError:
            seen = Seen(Status.UNKNOWN, None, "check overran", "the check did not keep its deadline")
        except Exception as error:  # noqa: BLE001 - a check that crashes says nothing about the service
            log.exception("the check of %s crashed", service.name)
            seen = Seen(Status.UNKNOWN, None, "check crashed", f"{type(error).__name__}: {error}")
        held_up = self._tools.clock.monotonic() - began - service.timeout
        if seen.status is Status.DOWN and held_up > _LATE:
            seen = Seen(
                Status.UNKNOWN, None, "held up", f"Argus itself was held up for {held_up:.1f} s during the check"
            )
        observation = Observation(seen, began, self._tools.clock.wall())
        self.history.take(service.name, observation)
        return observation

    def _show(self, name: str, observation: Observation) -> None:
        seen = observation.seen
        latency = None if seen.latency is None else round(seen.latency * 1000, 2)
        self._tools.show("checked", {"service": name, "state": seen.status.value, "latencyMs": latency})

    async def _keep_schedule(self, group: asyncio.TaskGroup) -> None:
        clock = self._tools.clock
        while True:
            self._moved.clear()
            if not self._tools.time_is_sound():
                # After sleep or a stall everything is due at once; the jump puts it all in order first.
                await asyncio.sleep(TICK)
                continue
            for name in self._schedule.due(clock.monotonic()):
                # A check that is still under way is not started again: it never overlaps itself.
                if name not in self._checking:
                    self._checking.add(name)
                    group.create_task(self._check(self.services[name]))
            due = self._schedule.next()
            wait = None if due is None else max(0.0, math.ceil(due / TICK) * TICK - clock.monotonic())
            try:
                async with asyncio.timeout(wait):
                    await self._moved.wait()
            except TimeoutError:
                continue

    async def _check(self, service: Service) -> None:
        name = service.name
        try:
            observation = await self.probe(service)
            self._show(name, observation)
            if self._reconciler.take_as_before(name, observation):
                return
            done: asyncio.Future[Health] = asyncio.get_running_loop().create_future()
            self._queue.put_nowait(Observed(name, observation, done))
            # The next check of this service starts only when this reading is taken in: so the queue is bounded by
            # the number of services, however long the store may stall.
            with contextlib.suppress(Exception):  # what was wrong with the reading is said where it was judged
                await done
        finally:
            self._checking.discard(name)


def _intervals(services: Mapping[str, Service]) -> dict[str, float]:
    return {name: service.interval for name, service in services.items()}


def describe(watch: Watch, name: str, now_wall: float) -> dict[str, object]:
    """One service as REST, MCP and the CLI show it."""
    service, health = watch.find(name), watch.healths[name]
    seen = health.last.seen if health.last else None
    until, waiting = watch.paused_until(name), watch.waiting(name)
    held = health.outage.gate if health.outage else None
    gate = Gate.IN_USE if waiting is not None and waiting.asking is not None else held
    return {
        "name": name,
        "type": getattr(service, "type", ""),
        "state": health.status.value,
        "since": rfc3339(health.since or now_wall),
        "latencyMs": round(seen.latency * 1000, 2) if seen and seen.latency is not None else None,
        "detail": seen.detail if seen else "not checked yet",
        "code": seen.code if seen else None,
        "failures": health.failures,
        "countedAnew": watch.is_counted_anew(name),
        "flapping": health.flapping is not None,
        "tlsExpires": rfc3339(seen.tls_expires) if seen and seen.tls_expires else None,
        "lastCheck": rfc3339(health.last.wall) if health.last else None,
        "place": service.place,
        "port": service.port_number,
        "interval": service.interval,
        "restartable": service.restart is not None,
        "repairing": health.repair is not None,
        "incident": health.outage.incident if health.outage else None,
        "explainedBy": watch.explained_by(name),
        "gate": gate.value if gate else None,
        "waitsFor": str(waiting.use) if waiting is not None and gate is Gate.IN_USE else None,
        "restarts": health.outage.restarts if health.outage else 0,
        "pausedUntil": rfc3339(until) if until else None,
        "dependsOn": list(service.depends_on),
    }
