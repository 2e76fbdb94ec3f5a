"""What follows from a judgement: what is recorded, how the service then stands, and whether it is restarted.

Nothing is done here. A plan is written as one commit, then taken over, then acted on; that is the reconciler's.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import Any

from argus.core.autonomy import Level
from argus.core.clock import stamp
from argus.core.failpoints import Place, reach
from argus.services import certificates, policy, reports, windows
from argus.services.checks.base import Service
from argus.services.correlation import Correlator
from argus.services.explaining import Explaining
from argus.services.healths import Healths
from argus.services.model import Flapping, Gate, Health, Observation, Outage, Status
from argus.services.pauses import Pauses
from argus.services.policy import Hold, Limits, Restart
from argus.services.settings import Health as Settings
from argus.services.spending import RESTART, Spending
from argus.services.tools import Tools
from argus.services.waiting import Asking, Waiting, Waits
from argus.store.records import Act, Append, Condition, Incident, OpenAct, PutCondition, PutIncident, Write

OUTAGE = "service_outage"
FLAPPING = "service_flapping"
DOMAIN = "services"
_READINGS = 6
"""That are kept with an outage."""
UNDONE = ("failed", "not_needed")
"""Outcomes of restarts after which one cannot say that the service was restarted."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a handled message comes to."""

    health: Health
    writes: tuple[Write, ...] = ()
    act: Act | None = None


class Planner:
    def __init__(
        self,
        settings: Settings,
        tools: Tools,
        healths: Healths,
        correlator: Correlator,
        pauses: Pauses,
        spending: Spending,
        waits: Waits,
    ) -> None:
        self.settings = settings
        self._tools = tools
        self._healths = healths
        self._correlator = correlator
        self._explaining = Explaining(healths, correlator)
        self._pauses = pauses
        self._spending = spending
        self._limits: dict[str, tuple[Service, Limits]] = {}
        self._waits = waits
        self._readings: dict[str, deque[Observation]] = {}
        """Of those that fail and are not confirmed yet: what was seen, with the last good reading before it."""

    # What a reading comes to.

    def reading(self, service: Service, health: Health, judged: Health) -> Plan:
        news: tuple[Write, ...] = ()
        if judged.flips or judged.flapping:
            judged, news = self._flapping(service, judged)
        if judged.last is not None and judged.last.seen.tls_expires is not None:
            told, more = certificates.news(service, judged, self._healths, self._tools.clock.wall())
            if more and self.quiet_until(service) is None:
                judged, news = told, (*news, *more)
        if judged.unknowns == self.limits(service).failures:
            judged, more = self._unknown(service, judged)
            news = (*news, *more)
        self._note_reading(service.name, health, judged)
        if self.is_confirmed(service, judged):
            plan = self._down(service, health, judged)
        elif health.outage and judged.status.alive:
            plan = self._recovery(service, judged, health.outage)
        else:
            plan = self._plain(service, health, judged)
        return replace(plan, writes=(*news, *plan.writes)) if news else plan

    def _note_reading(self, name: str, health: Health, judged: Health) -> None:
        if judged.last is None or judged.last.seen.status.alive or health.outage is not None:
            self._readings.pop(name, None)
            return
        kept = self._readings.get(name)
        if kept is None:
            before = [health.last] if health.last is not None else []
            kept = self._readings[name] = deque(before, maxlen=_READINGS)
        # The same one is judged again when the others were looked at.
        if not kept or kept[-1] is not judged.last:
            kept.append(judged.last)

    def is_confirmed(self, service: Service, judged: Health) -> bool:
        """Down, and seen so just now: what could not be looked at, or has begun to answer, calls for no act."""
        is_failing = judged.last is not None and judged.last.seen.status is Status.DOWN
        return is_failing and judged.status is Status.DOWN and judged.failures >= self.limits(service).failures

    def repaired(self, service: Service, outage: Outage, judged: Health, outcome: str) -> Plan:
        """The look after a restart in an outage."""
        done, helped = outcome not in UNDONE, outcome == "recovered"
        outage = replace(outage, restarted=outage.restarted or done, helped=helped)
        if judged.status.alive:
            return self._recovery(service, judged, outage)
        if helped:
            # It answers; the outage is over after as many successes as are asked for.
            return Plan(judged._replace(outage=outage), (outage_incident(service.name, outage),))
        return self._escalation(service, judged, outage, outcome)

    def _plain(self, service: Service, health: Health, judged: Health) -> Plan:
        """A change that calls for nothing: it is recorded, unless the record says so already."""
        if judged.status is health.status or judged.status is Status.PENDING:
            return Plan(judged)
        if judged.status is health.recorded:
            return Plan(judged._replace(since=health.since or judged.since))
        before = health.recorded.value if health.recorded else None
        return Plan(
            judged._replace(recorded=judged.status),
            (_condition(service, judged), Append(reports.state_changed(service, before, judged))),
        )

    def _down(self, service: Service, health: Health, judged: Health) -> Plan:
        fresh = health.outage is None
        outage = health.outage or self._new_outage(judged)
        facts = self.facts(service, judged._replace(outage=outage))
        decision = self._tools.decide(facts)
        is_spent = decision == Hold(Gate.ALREADY)
        if is_spent and not fresh and not outage.escalated:
            # Held back when it was looked at after its restart: in maintenance, or explained by something else.
            return self._escalation(service, judged, outage, "still_down")
        waiting = self._held(service.name, decision)
        explained = self._explaining.of(service.name, judged, outage, facts.failed_dependency)
        is_as_before = not fresh and isinstance(decision, Hold) and decision.gate is outage.gate
        since = self._tools.clock.wall() - (self._tools.clock.monotonic() - waiting.since) if waiting else None
        decided, changed = self._explaining.change(service.name, policy.decided(outage, decision), explained)
        if is_as_before and not changed and explained == outage.explained_by:
            return Plan(judged._replace(outage=outage))
        decided = replace(decided, waits_since=since)
        if is_spent:
            # Restarted in vain before it was confirmed: that it is down is told together with that.
            decided = replace(decided, escalated=True)
        if is_as_before and not (changed and explained):
            # What explains it is known for sure now; nothing else has changed.
            return Plan(judged._replace(outage=decided), (outage_incident(service.name, decided), *changed))
        verdict = self._verdict(service, judged, decision, facts)
        report = (
            reports.down(service, judged, decided, verdict, self._readings.get(service.name, ()))
            if fresh
            else reports.decision_changed(
                *(service, judged, decided, verdict),
                news=decided.told and not outage.told,
                failing=self._failing(judged, outage),
            )
        )
        writes: list[Write] = [_condition(service, judged)] if fresh else []
        writes += [outage_incident(service.name, decided), *changed, Append(report)]
        health = judged._replace(outage=decided, recorded=Status.DOWN)
        if isinstance(decision, Restart):
            act, intent = self.intend(service, decided.incident, judged=judged, outwaited=facts.outwaited)
            return Plan(health._replace(repair=act.id), (*writes, *intent), act)
        return Plan(health, tuple(writes))

    def _verdict(
        self, service: Service, judged: Health, decision: Restart | Hold, facts: policy.Facts
    ) -> dict[str, Any]:
        target = service.target(judged.last.seen if judged.last else None)
        if isinstance(decision, Restart):
            return reports.restarting(target, facts.autonomy, facts.outwaited)
        hint = reports.hint(service, decision, facts, self.most(service))
        # Only the first: after one that did not help, Argus has nothing more to propose.
        is_proposed = facts.autonomy is Level.CAUTIOUS and decision.gate is Gate.AUTONOMY and not facts.restarts
        if is_proposed and isinstance(self._tools.decide(replace(facts, approved=True)), Restart):
            return reports.proposing(target, decision.gate, facts.autonomy, hint)
        return reports.holding(decision.gate, facts.autonomy, hint)

    def _new_outage(self, judged: Health) -> Outage:
        clock, cause = self._tools.clock, judged.last.seen.detail if judged.last else ""
        wall, failing = clock.wall(), judged.failing_since
        since = wall if failing is None else wall - (clock.monotonic() - failing)
        tried = policy.was_tried(judged)
        return Outage(
            *(self._tools.new_id(), wall),
            restarts=int(tried),
            restarted=tried and judged.carried_out,
            cause=cause,
            failing_since=since,
        )

    def _failing(self, judged: Health, outage: Outage) -> float | None:
        """For how many seconds, where that is longer than its failures were counted."""
        wall = self._tools.clock.wall()
        since = policy.failing_before(judged, outage, self._tools.clock.monotonic(), wall)
        return None if since is None else wall - since

    def _recovery(self, service: Service, judged: Health, outage: Outage) -> Plan:
        wall = self._tools.clock.wall()
        self._waits.end(service.name)
        report = reports.recovered(service, outage, wall, restarted=outage.restarted)
        return Plan(
            judged._replace(outage=None, recorded=judged.status),
            (_condition(service, judged), outage_incident(service.name, outage, closed=wall), Append(report)),
        )

    def _escalation(self, service: Service, judged: Health, outage: Outage, outcome: str) -> Plan:
        """Down after its restart: a person has to look, unless another restart is allowed."""
        outage = replace(outage, helped=False)
        facts = self.facts(service, judged._replace(outage=outage))
        decision = self._tools.decide(facts)
        if isinstance(decision, Restart) or decision == Hold(Gate.IN_USE) or outage.escalated:
            return Plan(judged._replace(outage=outage), (outage_incident(service.name, outage),))
        if decision.gate in policy.SILENT:
            quiet = replace(outage, gate=decision.gate)
            return Plan(judged._replace(outage=quiet), (outage_incident(service.name, quiet),))
        escalated = replace(outage, gate=decision.gate, escalated=True, told=True)
        failing = self._failing(judged, outage)
        report = reports.escalated(service, judged, escalated, facts.autonomy, outcome, failing=failing)
        return Plan(judged._replace(outage=escalated), (outage_incident(service.name, escalated), Append(report)))

    def _flapping(self, service: Service, judged: Health) -> tuple[Health, tuple[Write, ...]]:
        """Announced when it begins and when it is over, whatever else the reading means."""
        limits, now = self.limits(service), self._tools.clock.monotonic()
        explained = 0
        if len(judged.flips) > limits.flips:
            since = now - limits.flips_within
            explained = policy.explained_flips(service.name, self._correlator.depends_on, self._healths, since)
        is_flapping, before = policy.is_flapping(judged, limits, now, explained), judged.flapping
        if is_flapping and before is None and self.quiet_until(service) is not None:
            return judged, ()  # what is worked on comes and goes
        if is_flapping and before is None:
            begun = Flapping(self._tools.new_id(), self._tools.clock.wall(), now)
            report = reports.flapping(service, begun, len(judged.flips), limits.flips_within)
            return judged._replace(flapping=begun), (flapping_incident(service.name, begun), Append(report))
        if before is not None and not is_flapping:
            closed = flapping_incident(service.name, before, closed=self._tools.clock.wall())
            return judged._replace(flapping=None), (closed, Append(reports.settled(service, before, judged.status)))
        return judged, ()

    def _unknown(self, service: Service, judged: Health) -> tuple[Health, tuple[Write, ...]]:
        """Told once; in maintenance it waits for the next reading."""
        if self.quiet_until(service) is not None:
            return judged._replace(unknowns=judged.unknowns - 1), ()
        return judged, (Append(reports.unknown(service, judged)),)

    # What a decision rests on.

    def facts(self, service: Service, health: Health, asking: Asking | None = None) -> policy.Facts:
        own = service.restart_budget
        waiting, outwaited = self._waits.look(service.name, asking)
        left = self._spending.left(self.settings.restart_budget.max_per_hour)
        return policy.Facts(
            paused=self.quiet_until(service) is not None,
            infrastructure_event=self._correlator.holds,
            failed_dependency=policy.failed_dependency(service.name, self._correlator.depends_on, self._healths),
            flapping=health.flapping is not None,
            autonomy=self._tools.autonomy(),
            restartable=service.restart is not None,
            restarts=health.outage.restarts if health.outage else 0,
            budget_left=min(left, self._spending.left(own.max_per_hour, service.name)) if own else left,
            recordable=not self._tools.notes.is_away,
            in_use=str(waiting.use) if waiting else "",
            wait_left=waiting.until - self._tools.clock.monotonic() if waiting else 0.0,
            outwaited=str(outwaited) if outwaited else "",
        )

    def _held(self, name: str, decision: Restart | Hold) -> Waiting | None:
        """The wait begins with the decision that nothing else holds back, and ends with any other."""
        waiting, _ = self._waits.look(name)
        if waiting is None or decision != Hold(Gate.IN_USE):
            self._waits.end(name)
            return None
        self._waits.hold(name, waiting)
        return waiting

    def quiet_until(self, service: Service) -> float | None:
        """Until when nothing alerts or restarts, by hand or by the calendar; None: not now."""
        ends = (self._pauses.until(service.name), windows.until(service.maintenance, self._tools.clock.wall()))
        return max((end for end in ends if end is not None), default=None)

    def limits(self, service: Service) -> Limits:
        known = self._limits.get(service.name)
        if known is None or known[0] is not service:
            known = self._limits[service.name] = service, self._made_limits(service)
        return known[1]

    def configure(self, settings: Settings) -> None:
        self.settings = settings
        self._limits.clear()
        self._readings = {name: kept for name, kept in self._readings.items() if name in self._healths}

    def _made_limits(self, service: Service) -> Limits:
        return Limits(
            service.failures_before_action or self.settings.failures_before_action,
            service.successes_before_recovery or self.settings.successes_before_recovery,
            self.settings.flapping.flips,
            self.settings.flapping.within,
        )

    def most(self, service: Service) -> int:
        """Of the budget that binds it first."""
        most = self.settings.restart_budget.max_per_hour
        return min(most, service.restart_budget.max_per_hour) if service.restart_budget else most

    def room_at(self, service: Service) -> float | None:
        """When both budgets have room for it again, as wall time; None: never, as long as they are as they are."""
        own = service.restart_budget
        rooms = [self._spending.room_in(self.settings.restart_budget.max_per_hour)]
        rooms += [self._spending.room_in(own.max_per_hour, service.name)] if own else []
        known = [room for room in rooms if room is not None]
        return self._tools.clock.wall() + max(known) if len(known) == len(rooms) else None

    def intend(
        self,
        service: Service,
        incident: str | None,
        asking: Asking | None = None,
        judged: Health | None = None,
        *,
        outwaited: str = "",
    ) -> tuple[Act, tuple[Write, ...]]:
        assert service.restart is not None
        self._waits.end(service.name)
        reach(Place.INTENT_PLANNED)
        last = (judged or self._healths[service.name]).last
        target = service.target(last.seen if last else None)
        intent: dict[str, Any] = {"target": target, "timeout": service.restart.timeout}
        if asking is not None and asking.is_person:
            intent["byPerson"] = True
        if outwaited:
            intent["outwaited"] = outwaited
        asked = self._waits.asked(service.name)
        if asked is not None and asked.asking is not None and asking is None:
            intent["askedBy"] = asked.asking.by  # this is what it waited for as well
        act = Act(self._tools.new_id(), RESTART, service.name, stamp(self._tools.clock), incident, intent)
        begun = Append(reports.restart_started(service, act, asking.by if asking else "argus"))
        over = (self._waits.written(without=service.name),) if asked is not None else ()
        return act, (OpenAct(act), begun, *over)


def outage_incident(name: str, outage: Outage, closed: float | None = None) -> Write:
    return PutIncident(Incident(outage.incident, OUTAGE, name, outage.opened, closed, outage.cause, outage.data()))


def flapping_incident(name: str, flapping: Flapping, closed: float | None = None) -> Write:
    return PutIncident(Incident(flapping.incident, FLAPPING, name, flapping.opened, closed, "goes up and down", {}))


def _condition(service: Service, judged: Health) -> Write:
    return PutCondition(Condition(DOMAIN, service.name, judged.status.value, judged.since))
