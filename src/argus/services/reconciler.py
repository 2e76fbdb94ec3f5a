"""The sole writer of the services' state: takes in readings and requests one by one, and decides.

Observe, decide, record the intent, act, look again, record the outcome. State in memory changes only after the record
has it, or, for what was seen and calls for no act, after it is noted: when the store cannot be written, nothing is
acted on, what happens meanwhile is kept, and the next reading tries again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from argus.core.budget import Budget
from argus.core.clock import Stamp, age, stamp
from argus.core.errors import ArgusError, Code
from argus.core.failpoints import Place, reach
from argus.loops import log
from argus.services import policy, registry, repairs, reports
from argus.services.checks.base import Service
from argus.services.correlation import Correlator
from argus.services.messages import Asked, Jumped, Message, Observed, Paused, Reconfigured, Repaired
from argus.services.model import Gate, Health, Observation, Outage, Status
from argus.services.pauses import Pauses
from argus.services.policy import Hold, Restart
from argus.services.repairs import Repairs
from argus.services.settings import Health as Settings
from argus.services.surroundings import Surroundings
from argus.services.tools import Tools
from argus.store.intents import Intents
from argus.store.records import (
    Act,
    Append,
    CloseAct,
    Condition,
    Incident,
    OpenAct,
    PutCondition,
    PutIncident,
    Write,
)

OUTAGE = "service_outage"
RESTART = "restart_service"
_DOMAIN = "services"
_WINDOW = 3600.0 + repairs.LATEST
"""The budget's hour. Intents are counted, and a restart may follow its intent by LATEST: were the window no longer,
two restarts could lie within one hour although their intents do not."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """What a handled message comes to: written as one commit, then taken over, then acted on."""

    health: Health
    writes: tuple[Write, ...] = ()
    act: Act | None = None


class Reconciler:
    def __init__(
        self,
        settings: Settings,
        services: dict[str, Service],
        tools: Tools,
        probe: Callable[[Service], Awaitable[Observation]],
    ) -> None:
        self.settings = settings
        self.services = services
        self._tools = tools
        self._spent: list[Stamp] = []
        self._unknown_until: Stamp | None = None
        self._trusted_from = float("-inf")
        self._repairing: dict[str, str] = {}
        """The act under way for a name, also when the service is taken out of the configuration meanwhile."""
        self._intents = Intents(tools.store, tools.notes)
        self.queue: asyncio.Queue[Message] = asyncio.Queue()
        self.healths = {name: Health() for name in services}
        self.pauses = Pauses(tools)
        self.correlator = Correlator(settings, services, tools)
        self.repairs = Repairs(settings.verify_after, tools, probe, self._is_trusted, self.queue.put_nowait)
        self._surroundings = Surroundings(self.repairs, self.queue.put_nowait, self.healths)

    async def restore(self) -> None:
        """What the record says: states, outages, spent budget, and acts that an earlier Argus left open."""
        store = self._tools.store
        for name, condition in (await store.conditions(_DOMAIN)).items():
            if name in self.healths:
                recorded = Status(condition.state)
                self.healths[name] = replace(self.healths[name], recorded=recorded, since=condition.since)
        self._spent = [act.begun for act in await store.acts(kind=RESTART)]
        mark = await store.setting("store.set_aside")
        if mark:
            self._unknown_until = Stamp(mark["boot_id"], mark["boot"], mark["wall"])
        await self.pauses.restore()
        for incident in await store.incidents(open_only=True, limit=100_000):
            await self._restore_incident(incident)
        for act in await store.open_acts():
            if act.kind == RESTART:
                self._restore_act(act)

    async def run(self) -> None:
        while True:
            await self._handle(await self.queue.get())

    def budget_left(self) -> int:
        now = stamp(self._tools.clock)
        budget = Budget(self.settings.restart_budget.max_per_hour, _WINDOW)
        # The record before a set-aside store is not known: for one window everything counts as spent.
        if self._unknown_until and age(self._unknown_until, now) <= budget.window:
            return 0
        return budget.left(self._spent, now)

    async def _handle(self, message: Message) -> None:
        try:
            if not isinstance(message, Jumped):
                await self._intents.settle()
            match message:
                case Observed(name, observation, reply):
                    await self._observed(self._find(name), observation)
                    _answer(reply, self.healths[name])
                case Asked(name, by, reply):
                    _answer(reply, await self._asked(self._find(name), by))
                case Paused(name, seconds, by, reply):
                    self._find(name)
                    _answer(reply, await self.pauses.set(name, seconds, by))
                case Reconfigured(settings, services, writes, take_over, reply):
                    _answer(reply, await self._reconfigured(settings, services, writes, take_over))
                case Jumped():
                    self._distrust()
                case Repaired():
                    await self._repaired(message)
        except Exception as error:  # noqa: BLE001 - one bad message must not end the reader of all the others
            if not isinstance(error, ArgusError):
                log.exception("a message to the services could not be handled: %r", message)
            if isinstance(message, Repaired):
                # An act gets its one outcome, however long the store is away.
                self.repairs.report_again(message)
            elif not isinstance(message, Jumped) and not message.reply.done():
                message.reply.set_exception(error)

    async def _observed(self, service: Service, observation: Observation) -> None:
        name, health = service.name, self.healths[service.name]
        if health.repair:
            self.healths[name] = replace(health, last=observation)
            return
        if observation.at < health.judged_from:
            return  # it looked at what was there before the restart
        if observation.seen.status is Status.DOWN and not self._is_trusted(observation):
            return  # the machine slept or Argus stalled: this failure may be ours
        judged = policy.judge(health, observation, self._limit(service))
        if judged.failing_since is not None or self.correlator.event is not None:
            await self.correlator.look({**self.healths, name: judged}, observation.at)
        if judged.status is Status.DOWN and judged.failures >= self._limit(service):
            if self._must_look_around(service, health, judged):
                self._surroundings.look(name, judged, observation, self.services)
                return
            await self._carry_out(name, self._plan_down(service, health, judged))
        elif health.outage and judged.status.alive:
            await self._carry_out(name, self._plan_recovery(service, judged, health.outage))
        else:
            await self._carry_out(name, self._plan_plain(service, health, judged))

    def _must_look_around(self, service: Service, health: Health, judged: Health) -> bool:
        """Before a restart, when others have not been seen since this one began to fail: they may be down as well, and
        then it is an infrastructure event."""
        if self._surroundings.is_looking(service.name):
            return True
        if self._surroundings.are_known(service.name, judged):
            return False
        return isinstance(self._tools.decide(self._facts(service, health.outage)), Restart)

    def _plan_plain(self, service: Service, health: Health, judged: Health) -> _Plan:
        """A change that calls for nothing: it is recorded, unless the record says so already."""
        if judged.status is health.status or judged.status is Status.PENDING:
            return _Plan(judged)
        if judged.status is health.recorded:
            return _Plan(replace(judged, since=health.since or judged.since))
        before = health.recorded.value if health.recorded else None
        return _Plan(
            replace(judged, recorded=judged.status),
            (self._condition(service, judged), Append(reports.state_changed(service, before, judged))),
        )

    def _plan_down(self, service: Service, health: Health, judged: Health) -> _Plan:
        fresh = health.outage is None
        outage = health.outage or self._new_outage(judged)
        facts = self._facts(service, outage)
        decision = self._tools.decide(facts)
        if not fresh and isinstance(decision, Hold) and decision.gate is outage.gate:
            return _Plan(replace(judged, outage=outage))
        decided = policy.decided(outage, decision)
        hint = reports.hint(service, decision, facts, self.settings.restart_budget.max_per_hour)
        report = (
            reports.down(service, judged, decided, decision, facts.autonomy, hint)
            if fresh
            else reports.decision_changed(
                service, judged, decided, decision, facts.autonomy, hint, news=decided.told and not outage.told
            )
        )
        writes: list[Write] = [self._condition(service, judged)] if fresh else []
        writes += [self._incident(service, decided), Append(report)]
        health = replace(judged, outage=decided, recorded=Status.DOWN)
        if isinstance(decision, Restart):
            act, intent = self._intend(service, decided.incident, "argus")
            return _Plan(replace(health, repair=act.id), (*writes, *intent), act)
        return _Plan(health, tuple(writes))

    def _new_outage(self, judged: Health) -> Outage:
        cause = judged.last.seen.detail if judged.last else ""
        return Outage(self._tools.new_id(), self._tools.clock.wall(), cause=cause)

    def _plan_recovery(self, service: Service, judged: Health, outage: Outage) -> _Plan:
        wall = self._tools.clock.wall()
        report = reports.recovered(service, outage, wall, restarted=outage.restarts > 0)
        return _Plan(
            replace(judged, outage=None, recorded=judged.status),
            (
                self._condition(service, judged),
                self._incident(service, outage, closed=wall),
                Append(report),
            ),
        )

    async def _asked(self, service: Service, by: str) -> str:
        """A restart that somebody asked for, through the same gates."""
        health = self.healths[service.name]
        if health.repair:
            raise ArgusError(Code.INVALID_STATE, f"{service.name} is being restarted already", act=health.repair)
        facts = self._facts(service, health.outage)
        decision = self._tools.decide(facts)
        if isinstance(decision, Hold):
            hint = reports.hint(service, decision, facts, self.settings.restart_budget.max_per_hour)
            await self._tools.store.commit(Append(reports.restart_refused(service, decision.gate, by, hint)))
            code = Code.RESTART_BUDGET_EXHAUSTED if decision.gate is Gate.BUDGET else Code.GATE_REFUSED
            raise ArgusError(
                code,
                f"{service.name} was not restarted: {decision.gate.value}",
                service=service.name,
                gate=decision.gate.value,
                hint=hint,
            )
        outage = policy.decided(health.outage, decision) if health.outage else None
        act, intent = self._intend(service, outage.incident if outage else None, by)
        writes = (*([self._incident(service, outage)] if outage else []), *intent)
        await self._carry_out(service.name, _Plan(replace(health, outage=outage, repair=act.id), writes, act))
        return act.id

    async def _repaired(self, message: Repaired) -> None:
        """Gives the act its outcome: recovered, still down, or a restart that could not be carried out."""
        act, observation = message.act, message.observation
        outcome = repairs.outcome(message.ran, observation)
        detail = repairs.evidence(message.ran, observation)
        writes: tuple[Write, ...] = (
            CloseAct(act.id, outcome, self._tools.clock.wall(), detail),
            Append(reports.restart_finished(act, outcome, detail)),
        )
        plan = self._plan_repaired(act.subject, observation, outcome)
        reach(Place.OUTCOME_PLANNED)
        try:
            await self._tools.notes.commit(*writes, *(plan.writes if plan else ()))
        except ArgusError as error:
            if error.code is not Code.CONFLICT:
                raise
            # The act has its outcome on record: only the answer to that commit was lost on its way.
        self._repairing.pop(act.subject, None)
        if plan is not None:
            self.healths[act.subject] = plan.health
        reach(Place.OUTCOME_RECORDED)

    def _plan_repaired(self, name: str, observation: Observation, outcome: str) -> _Plan | None:
        if name not in self.services:
            return None  # taken out of the configuration meanwhile: the act gets its outcome, and that is all
        service = self.services[name]
        health = replace(self.healths[name], repair=None, judged_from=observation.at)
        judged = policy.judge(health, observation, self._limit(service))
        if health.outage is None:
            return self._plan_plain(service, health, judged)
        if judged.status.alive:
            return self._plan_recovery(service, judged, health.outage)
        return self._plan_escalation(service, judged, health.outage, outcome)

    def _plan_escalation(self, service: Service, judged: Health, outage: Outage, outcome: str) -> _Plan:
        """Down after its restart: a person has to look, unless another restart is allowed."""
        facts = self._facts(service, outage)
        decision = self._tools.decide(facts)
        if isinstance(decision, Restart) or outage.escalated:
            return _Plan(replace(judged, outage=outage))
        escalated = replace(outage, gate=decision.gate, escalated=True, told=True)
        report = reports.escalated(service, judged, escalated, facts.autonomy, outcome)
        return _Plan(replace(judged, outage=escalated), (self._incident(service, escalated), Append(report)))

    async def _reconfigured(
        self, settings: Settings, services: dict[str, Service], writes: tuple[Write, ...], take_over: Callable[[], None]
    ) -> registry.Change:
        """Another configuration: recorded, then taken over in one step. What did not change keeps its state."""
        store, wall = self._tools.store, self._tools.clock.wall()
        change = registry.change(self.services, services)
        ending: list[Write] = []
        for name in change.removed:
            outage = self.healths[name].outage
            if outage is not None:
                ended = reports.no_longer_watched(self.services[name], outage)
                ending += [self._incident(self.services[name], outage, closed=wall), Append(ended)]
        ending += self.correlator.ending() if not services else ()
        conditions = await store.conditions(_DOMAIN) if change.added else {}

        async def then() -> None:
            self._take_over(settings, services, change, conditions)
            take_over()

        await self._intents.commit(*writes, *ending, then=then)
        return change

    def _take_over(
        self,
        settings: Settings,
        services: dict[str, Service],
        change: registry.Change,
        conditions: dict[str, Condition],
    ) -> None:
        self.settings, self.services = settings, services
        now = self._tools.clock.monotonic()
        for name in change.removed:
            del self.healths[name]
        for name in change.changed:
            # Judged afresh; but its outage goes on, or a small change of the file would refill what it may do in it.
            fresh = replace(self.healths[name], failures=0, failing_since=None, judged_from=now)
            self.healths[name] = fresh
        for name in change.added:
            known = conditions.get(name)
            self.healths[name] = Health(
                since=known.since if known else 0.0,
                recorded=Status(known.state) if known else None,
                repair=self._repairing.get(name),
                judged_from=now,
            )
        self.correlator.configure(settings, services)
        self.repairs.verify_after = settings.verify_after

    def _find(self, name: str) -> Service:
        """A message may be about a service that a new configuration has just taken out."""
        if name not in self.services:
            raise ArgusError(Code.SERVICE_NOT_FOUND, f"{name} is no longer watched", service=name)
        return self.services[name]

    async def _carry_out(self, name: str, plan: _Plan) -> None:
        if plan.act is None:
            await self._tools.notes.note(*plan.writes)
            self.healths[name] = plan.health
            return
        act = plan.act

        async def then() -> None:
            self.healths[name] = plan.health
            now = stamp(self._tools.clock)
            self._repairing[name] = act.id
            self._spent = [*(one for one in self._spent if age(one, now) <= _WINDOW), act.begun]
            reach(Place.INTENT_RECORDED)
            self.repairs.start(self.services[name], act)

        await self._intents.commit(*plan.writes, then=then)

    def _is_trusted(self, observation: Observation) -> bool:
        return observation.at >= self._trusted_from and self._tools.time_is_sound()

    def _distrust(self) -> None:
        """Time jumped: every count of failures starts over, and nothing is decided before a full new run of them."""
        self._trusted_from = self._tools.clock.monotonic()
        for name, health in self.healths.items():
            self.healths[name] = replace(health, failures=0, failing_since=None)

    async def _restore_incident(self, incident: Incident) -> None:
        if incident.kind == self.correlator.KIND:
            self.correlator.restore(incident)
        elif incident.kind == OUTAGE and incident.subject in self.healths:
            data = incident.data
            outage = Outage(
                incident.id,
                incident.opened,
                restarts=int(data.get("restarts", 0)),
                gate=Gate(data["gate"]) if data.get("gate") else None,
                told=bool(data.get("told")),
                escalated=bool(data.get("escalated")),
                cause=incident.cause,
            )
            health = self.healths[incident.subject]
            self.healths[incident.subject] = replace(health, status=Status.DOWN, recorded=Status.DOWN, outage=outage)
        elif incident.kind == OUTAGE:
            wall = self._tools.clock.wall()
            data = {**incident.data, "ended": "no longer watched"}
            await self._tools.store.commit(PutIncident(replace(incident, closed=wall, data=data)))

    def _restore_act(self, act: Act) -> None:
        health = self.healths.get(act.subject)
        self._repairing[act.subject] = act.id
        if health is None:
            # Not in the configuration: nobody looks any more. But its command may still run, and the service may come
            # back with the next configuration; so the act ends when the command has.
            self.repairs.outlast_later(act)
            return
        self.healths[act.subject] = replace(health, repair=act.id)
        self.repairs.finish_later(self.services[act.subject], act)

    def _facts(self, service: Service, outage: Outage | None) -> policy.Facts:
        return policy.Facts(
            paused=self.pauses.until(service.name) is not None,
            infrastructure_event=self.correlator.event is not None,
            failed_dependency=policy.failed_dependency(service.name, self.correlator.depends_on, self.healths),
            autonomy=self._tools.autonomy(),
            restartable=service.restart is not None,
            restarts=outage.restarts if outage else 0,
            budget_left=self.budget_left(),
            recordable=not self._tools.notes.is_away,
        )

    def _intend(self, service: Service, incident: str | None, by: str) -> tuple[Act, tuple[Write, ...]]:
        assert service.restart is not None
        reach(Place.INTENT_PLANNED)
        target = service.restart.target(service.name)
        intent: dict[str, Any] = {"target": target, "timeout": service.restart.timeout}
        act = Act(self._tools.new_id(), RESTART, service.name, stamp(self._tools.clock), incident, intent)
        return act, (OpenAct(act), Append(reports.restart_started(service, act, by)))

    def _condition(self, service: Service, judged: Health) -> Write:
        return PutCondition(Condition(_DOMAIN, service.name, judged.status.value, judged.since))

    def _incident(self, service: Service, outage: Outage, closed: float | None = None) -> Write:
        incident = Incident(outage.incident, OUTAGE, service.name, outage.opened, closed, outage.cause, outage.data())
        return PutIncident(incident)

    def _limit(self, service: Service) -> int:
        return service.failures_before_action or self.settings.failures_before_action


def _answer(reply: asyncio.Future[Any], value: Any) -> None:
    if not reply.done():
        reply.set_result(value)
