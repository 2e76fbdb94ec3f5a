"""The sole writer of the services' state: takes in readings and requests one by one, and decides.

Observe, decide, record the intent, act, look again, record the outcome. State in memory changes only after the record
has it, or, for what was seen and calls for no act, after it is noted: when the store cannot be written, nothing is
acted on, what happens meanwhile is kept, and the next reading tries again.
"""

from __future__ import annotations

import asyncio
from collections import ChainMap
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from argus.core.clock import Jump
from argus.core.errors import ArgusError, Code
from argus.core.failpoints import Place, reach
from argus.loops import log
from argus.services import policy, registry, repairs, reports
from argus.services.checks.base import Service
from argus.services.correlation import Correlator
from argus.services.healths import Healths
from argus.services.messages import Asked, Jumped, Looked, Message, Observed, Paused, Reconfigured, Repaired, Withdrawn
from argus.services.model import Gate, Health, Observation, Status, Use
from argus.services.pauses import Pauses
from argus.services.plans import DOMAIN, UNDONE, Plan, Planner, flapping_incident, outage_incident
from argus.services.policy import Hold, Restart
from argus.services.repairs import Repairs
from argus.services.settings import Health as Settings
from argus.services.spending import Spending
from argus.services.surroundings import EVERYBODY, Surroundings, nobody
from argus.services.tools import Tools
from argus.services.waiting import Asking, Waits
from argus.store.intents import Intents
from argus.store.records import Append, CloseAct, Condition, Write

_SOON = 1.0
"""Seconds after which it is looked again whether somebody still works with a service."""


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
        self._trusted_from = float("-inf")
        self.repairing: dict[str, str] = {}
        """The act under way for a name, also when the service is taken out of the configuration meanwhile."""
        self._intents = Intents(tools.store, tools.notes)
        self._waits_for_work: set[str] = set()
        self._is_waiting = False
        """For the next message: nothing is being handled, and nothing stands in the queue."""
        self.queue: asyncio.Queue[Message] = asyncio.Queue()
        self.healths = Healths(services)
        self.pauses = Pauses(tools)
        self.spending = Spending(tools)
        self.correlator = Correlator(settings, services, tools)
        self.waits = Waits(tools, lambda: self.settings.wait_for_work)
        self._plans = Planner(settings, tools, self.healths, self.correlator, self.pauses, self.spending, self.waits)
        self.repairs = Repairs(settings.verify_after, tools, probe, self._is_trusted, self.queue.put_nowait)
        self._surroundings = Surroundings(self.repairs, self.queue.put_nowait, self.healths)

    def time_jumped(self, jump: Jump) -> None:
        """No failure from before is believed any more, also of those that are in the queue."""
        self._trusted_from = self._tools.clock.monotonic()
        self.queue.put_nowait(Jumped(jump))

    async def run(self) -> None:
        while True:
            self._is_waiting = self.queue.empty()
            message = await self.queue.get()
            self._is_waiting = False
            await self._handle(message)

    def take_as_before(self, name: str, observation: Observation) -> bool:
        """Takes a reading in at once that changes nothing, as nearly all do: the way through the queue is a tenth of a
        check. False when it has to go that way, behind what stands there."""
        health, seen = self.healths.get(name), observation.seen
        if (
            not self._is_waiting
            or not self.queue.empty()
            or self._intents.are_open
            or self.correlator.holds
            or health is None
            or health.repair is not None
            or health.flapping is not None
            or observation.at < health.judged_from
            or seen.tls_expires is not None
            or not policy.is_as_before(health, seen.status)
        ):
            return False
        self.healths[name] = health._replace(last=observation)
        return True

    def budget_left(self) -> int:
        return self.spending.left(self.settings.restart_budget.max_per_hour)

    def quiet_until(self, name: str) -> float | None:
        return self._plans.quiet_until(self.services[name])

    async def _handle(self, message: Message) -> None:
        try:
            if not isinstance(message, Jumped | Withdrawn):
                await self._intents.settle()
            match message:
                case Observed(name, observation, reply):
                    await self._observed(self._find(name), observation)
                    _answer(reply, self.healths[name])
                case Looked(name):
                    await self._looked(name)
                case Asked(name, asking, reply):
                    if not reply.cancelled():  # whoever asked has gone, and nothing was ordered yet
                        _answer(reply, await self._asked(self._find(name), asking))
                case Withdrawn(name, asking, why):
                    await self._withdrawn(name, asking, why)
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
            elif not isinstance(message, Jumped | Looked | Withdrawn) and not message.reply.done():
                message.reply.set_exception(error)

    async def _observed(self, service: Service, observation: Observation) -> None:
        name, health = service.name, self.healths[service.name]
        if health.repair:
            self.healths[name] = health._replace(last=observation)
            return
        if observation.at < health.judged_from:
            return  # it looked at what was there before the restart
        if observation.seen.status is Status.DOWN and not self._is_trusted(observation):
            return  # the machine slept or Argus stalled: this failure may be ours
        judged = policy.judge(health, observation, self._plans.limits(service))
        took = self._tools.clock.monotonic() - observation.at
        if judged.failing_since is not None or self.correlator.holds:
            await self._correlate(name, judged, observation.at)
            if (since := self.correlator.suspected_since) is not None:
                self._surroundings.gather(self.services, took, by=name, since=since)
        if self._plans.is_confirmed(service, judged) and self._must_look_around(service, judged):
            # It counts as failing from now on, also for the others' sake; what is done about it is decided in a moment.
            self.healths[name] = judged
            self._surroundings.look(name, judged, self.services, took)
            return
        await self._carry_out(name, self._plans.reading(service, health, judged))

    async def _correlate(self, name: str, judged: Health, at: float) -> None:
        """Whether many fail together, with this reading of one."""
        healths = ChainMap({name: judged}, self.healths)
        since = self._failing((name,), healths).get(name)
        if self.correlator.is_due(since, at):
            await self.correlator.look(self._failing({*self.healths.failing, name}, healths), healths, at)
        elif since is not None:
            self.correlator.join(name, judged)

    async def _looked(self, name: str) -> None:
        """The others are known, as far as they answered: what a failing one calls for can be decided."""
        if name == EVERYBODY:
            failing = self._failing(self.healths.failing, self.healths)
            await self.correlator.declare(failing, self._tools.clock.monotonic())
            if self.correlator.event is not None:
                # Those that are down already have a cause by now, and need not wait for their next check to have it.
                for other in self.healths.outages.values():
                    self.queue.put_nowait(Looked(other))
            return
        health = self.healths.get(name)
        if health is None or health.repair or health.last is None or not self._is_trusted(health.last):
            return
        service = self.services[name]
        if self._plans.is_confirmed(service, health):
            await self._carry_out(name, self._plans.reading(service, health, health))

    def _failing(self, names: Iterable[str], healths: Mapping[str, Health]) -> dict[str, float]:
        """Those of them whose failing counts for an infrastructure event, and since when: what is in maintenance fails
        because it may, and what depends on that because of it."""
        failing = policy.failing(names, healths, self.correlator.depends_on)
        return {name: since for name, since in failing.items() if self.quiet_until(name) is None}

    def _must_look_around(self, service: Service, judged: Health) -> bool:
        """Before a restart, when others have not been seen since this one began to fail: they may be down as well, and
        then it is an infrastructure event."""
        if self._surroundings.is_looking(service.name):
            return True
        would_restart = isinstance(self._tools.decide(self._plans.facts(service, judged)), Restart)
        return would_restart and not self._surroundings.are_known(service.name, judged)

    async def _asked(self, service: Service, asking: Asking) -> str:
        """A restart that somebody asked for, through the same gates. A person who asks in an outage approves it, and
        may try again where Argus has tried."""
        health = self.healths[service.name]
        if health.repair:
            raise ArgusError(Code.INVALID_STATE, f"{service.name} is being restarted already", act=health.repair)
        other = self.waits.asked(service.name)
        if other is not None and other.asking is not None and other.asking is not asking:
            raise _waits_already(service.name, other.use, other.asking.by)
        approved = asking.is_person and health.outage is not None
        facts = replace(self._plans.facts(service, health, asking), approved=approved)
        decision = self._tools.decide(facts)
        if isinstance(decision, Hold):
            hint = reports.hint(service, decision, facts, self._plans.most(service))
            if decision.gate is Gate.IN_USE:
                await self._await_work(service, health, asking, hint)
            else:
                root = self.services.get(facts.failed_dependency or "")
                hint = reports.refusal(service, decision.gate, facts, hint, self._plans.room_at(service), root)
                report = reports.restart_refused(service, decision.gate, asking.by, hint)
                await self._tools.store.commit(Append(report))
            code = Code.RESTART_BUDGET_EXHAUSTED if decision.gate is Gate.BUDGET else Code.GATE_REFUSED
            raise ArgusError(
                code,
                f"{service.name} was not restarted: {decision.gate.value}",
                service=service.name,
                gate=decision.gate.value,
                hint=hint,
            )
        outage = policy.decided(health.outage, decision) if health.outage else None
        incident = outage.incident if outage else None
        act, intent = self._plans.intend(service, incident, asking, outwaited=facts.outwaited)
        writes = (*([outage_incident(service.name, outage)] if outage else []), *intent)
        await self._carry_out(service.name, Plan(health._replace(outage=outage, repair=act.id), writes, act))
        return act.id

    async def _await_work(self, service: Service, health: Health, asking: Asking, hint: str) -> None:
        """Told once; asked again and again, it is looked again whether it still must wait."""
        waiting, _ = self.waits.look(service.name, asking)
        if waiting is not None and self.waits.hold(service.name, waiting):
            left = waiting.until - self._tools.clock.monotonic()
            incident = health.outage.incident if health.outage else None
            report = reports.restart_waits(service, incident, asking.by, waiting.use, hint, left)
            await self._tools.notes.note(Append(report), self.waits.written())

    async def _withdrawn(self, name: str, asking: Asking, why: str) -> None:
        if self.waits.withdraw(name, asking):
            health = self.healths.get(name)
            incident = health.outage.incident if health and health.outage else None
            report = reports.restart_withdrawn(name, incident, asking.by, why)
            await self._tools.notes.note(Append(report), self.waits.written())

    async def _repaired(self, message: Repaired) -> None:
        """Gives the act its outcome: recovered, still down, or a restart that could not be carried out."""
        act, observation = message.act, message.observation
        outcome = repairs.outcome(message.ran, observation)
        detail = repairs.evidence(message.ran, observation)
        writes: tuple[Write, ...] = (
            CloseAct(act.id, outcome, self._tools.clock.wall(), detail),
            Append(reports.restart_finished(act, outcome, detail)),
        )
        plan = self._after(act.subject, observation, outcome)
        reach(Place.OUTCOME_PLANNED)
        try:
            await self._tools.notes.commit(*writes, *(plan.writes if plan else ()))
        except ArgusError as error:
            if error.code is not Code.CONFLICT:
                raise
            # The act has its outcome on record: only the answer to that commit was lost on its way.
        self.repairing.pop(act.subject, None)
        had_outage = plan is not None and self.healths[act.subject].outage is not None
        if plan is not None:
            self.healths[act.subject] = plan.health
        reach(Place.OUTCOME_RECORDED)
        if plan is not None and not had_outage:
            # Like any other reading, and before any other: it may be the one that confirms an outage.
            await self._handle(Observed(act.subject, observation, nobody()))

    def _after(self, name: str, observation: Observation, outcome: str) -> Plan | None:
        if name not in self.services:
            return None  # taken out of the configuration meanwhile: the act gets its outcome, and that is all
        service = self.services[name]
        # What our own restart changed is no flip: a crash loop runs into the budget, and is not called flapping.
        health = self.healths[name]._replace(repair=None, judged_from=observation.at, answers=None)
        if health.outage is None:
            return Plan(health._replace(tried=observation.at, carried_out=outcome not in UNDONE))
        judged = policy.judge(health, observation, self._plans.limits(service))
        return self._plans.repaired(service, health.outage, judged, outcome)

    async def _reconfigured(
        self, settings: Settings, services: dict[str, Service], writes: tuple[Write, ...], take_over: Callable[[], None]
    ) -> registry.Change:
        """Another configuration: recorded, then taken over in one step. What did not change keeps its state."""
        store, wall = self._tools.store, self._tools.clock.wall()
        change = registry.change(self.services, services)
        ending: list[Write] = []
        for name in change.removed:
            health = self.healths[name]
            if health.outage is not None:
                ended = reports.no_longer_watched(self.services[name], health.outage)
                ending += [outage_incident(name, health.outage, closed=wall), Append(ended)]
            if health.flapping is not None:
                ending.append(flapping_incident(name, health.flapping, closed=wall))
        ending += self.correlator.ending() if not services else ()
        conditions = await store.conditions(DOMAIN) if change.added else {}

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
        self.settings = settings
        self._plans.configure(settings)
        self.services = services
        now = self._tools.clock.monotonic()
        for name in change.removed:
            del self.healths[name]
            self.waits.end(name)
        for name in change.changed:
            # Judged afresh; but its outage goes on, or a small change of the file would refill what it may do in it.
            fresh = self.healths[name]._replace(failures=0, failing_since=None, flips=(), answers=None, judged_from=now)
            self.healths[name] = fresh
        for name in change.added:
            known = conditions.get(name)
            self.healths[name] = Health(
                since=known.since if known else 0.0,
                recorded=Status(known.state) if known else None,
                repair=self.repairing.get(name),
                judged_from=now,
            )
        self.correlator.configure(settings, services)
        self.repairs.verify_after = settings.verify_after

    def _find(self, name: str) -> Service:
        """A message may be about a service that a new configuration has just taken out."""
        if name not in self.services:
            raise ArgusError(Code.SERVICE_NOT_FOUND, f"{name} is no longer watched", service=name)
        return self.services[name]

    async def _carry_out(self, name: str, plan: Plan) -> None:
        outage, is_fresh = plan.health.outage, self.healths[name].outage is None
        if plan.act is None:
            await self._tools.notes.note(*plan.writes)
            self.healths[name] = plan.health
            # One that is explained itself explains nobody: what is at its root does.
            if outage is not None and is_fresh and outage.gate is not Gate.DEPENDENCY:
                self._explain_others()
            if outage is not None and outage.gate is Gate.IN_USE:
                self._look_soon(name)
            return
        act = plan.act

        async def then() -> None:
            self.healths[name] = plan.health
            self.repairing[name] = act.id
            self.waits.carried_out(name)
            self.spending.spend(act)
            reach(Place.INTENT_RECORDED)
            self.repairs.start(self.services[name], act)
            if is_fresh:
                self._explain_others()

        await self._intents.commit(*plan.writes, then=then)

    def _explain_others(self) -> None:
        """What went down before its root has been confirmed stands under that one from now on: by its next reading the
        root may be back, and nobody would know any more."""
        for other in self.healths.unexplained:
            self.queue.put_nowait(Looked(other))

    def _look_soon(self, name: str) -> None:
        """The next reading may be a minute away, and the work that is waited for over in a second."""

        def look() -> None:
            self._waits_for_work.discard(name)
            self.queue.put_nowait(Looked(name))

        if name not in self._waits_for_work:
            self._waits_for_work.add(name)
            self.repairs.later(_SOON, look)

    def _is_trusted(self, observation: Observation) -> bool:
        return observation.at >= self._trusted_from and self._tools.time_is_sound()

    def _distrust(self) -> None:
        """Time jumped: every count of failures starts over, and nothing is decided before a full new run of them."""
        for name, health in self.healths.items():
            self.healths[name] = health._replace(failures=0, failing_since=None, successes=0, flips=(), answers=None)


def _waits_already(name: str, use: Use, by: str) -> ArgusError:
    said = f"a restart of {name}, asked for by {by}, waits already: {use}"
    return ArgusError(Code.INVALID_STATE, said, service=name, gate=Gate.IN_USE.value, hint=str(use))


def _answer(reply: asyncio.Future[Any], value: Any) -> None:
    if not reply.done():
        reply.set_result(value)
