"""The journal's words for what happens to services. Other parts and other programs read them: names are fixed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Final

from argus.core.autonomy import Level
from argus.core.clock import milliseconds, rfc3339
from argus.core.cutting import beginning
from argus.core.events import Draft
from argus.core.units import spoken
from argus.services.checks.base import Service
from argus.services.model import Flapping, Gate, Health, Observation, Outage, Seen, Status, Use
from argus.services.policy import Facts, Hold, Restart
from argus.store.records import Act

CHANNEL: Final = "services"
_DETAIL = 300
"""Characters of what one reading saw."""


def hint(service: Service, decision: Restart | Hold, facts: Facts, most: int) -> str:
    """How the gate opens, in words a person or an agent can act on."""
    if isinstance(decision, Restart):
        return ""
    return {
        Gate.MAINTENANCE: f"in maintenance; argus services resume {service.name} ends a pause",
        Gate.SELF: "Argus never restarts itself",
        Gate.INFRASTRUCTURE: "several services fail together; nothing is restarted until that has ended",
        Gate.DEPENDENCY: f"{facts.failed_dependency} is failing and explains this",
        Gate.FLAPPING: "it goes up and down; it is left alone until it has settled",
        Gate.AUTONOMY: "restart requires moderate+",
        Gate.NO_RESTART: f"no restart is configured for {service.name}",
        Gate.ALREADY: f"it was restarted in this outage and is still down; a person looks, mends the cause, and may "
        f"restart it again: argus services restart {service.name}",
        Gate.BUDGET: f"all {most} restarts of this hour are spent",
        Gate.IN_USE: f"{facts.in_use}; that is waited for, at most {spoken(round(facts.wait_left))}",
        Gate.RECORD: "the record cannot be written, and nothing is done without it; it goes on when that is mended",
    }[decision.gate]


def refusal(service: Service, gate: Gate, facts: Facts, hint: str, room_at: float | None, root: Service | None) -> str:
    """The same for who asked for a restart, with what to do first. `room_at`: when the budget has room again; `root`:
    of the failure, where that is another's."""
    match gate:
        case Gate.DEPENDENCY if root is not None:
            first = f"argus services restart {root.name}"
            if root.restart is None:
                first = f"mend {root.name} by hand, as argus.yaml says no restart of it"
            return f"{root.name} is failing, and {service.name} depends on it; first: {first}"
        case Gate.AUTONOMY:
            return f"{hint}; argus autonomy moderate allows it"
        case Gate.NO_RESTART:
            return f"{hint}; give it a restart in argus.yaml, then: argus reload"
        case Gate.BUDGET if room_at is not None:
            minute = math.ceil(room_at / 60) * 60  # told a minute too early, somebody would be refused once more
            return f"{hint}; at {rfc3339(minute)[11:16]} UTC there is room again"
    return hint


def _failure(service: Service, health: Health, failing: float | None = None) -> dict[str, Any]:
    """`failing`: for how many seconds, where it fails for longer than its failures were counted."""
    seen = health.last.seen if health.last else Seen(Status.UNKNOWN)
    return {
        "service": service.name,
        "failures": health.failures,
        **({} if failing is None else {"failingSeconds": round(failing, 3)}),
        "lastCheck": rfc3339(health.last.wall) if health.last else None,
        "lastCheckAt": milliseconds(health.last.wall) if health.last else None,
        "place": service.place,
        "cause": seen.cause,
        "detail": seen.detail,
        "code": seen.code,
    }


def restarting(target: str, autonomy: Level, outwaited: str) -> dict[str, Any]:
    said = {"autonomy": autonomy.value, "action": "restart", "target": target}
    return {**said, "outwaited": outwaited} if outwaited else said


def proposing(target: str, gate: Gate, autonomy: Level, hint: str) -> dict[str, Any]:
    """Only a person's word is missing."""
    return {**holding(gate, autonomy, hint), "action": "proposed", "target": target}


def holding(gate: Gate, autonomy: Level, hint: str) -> dict[str, Any]:
    return {"autonomy": autonomy.value, "action": "none", "gate": gate.value, "hint": hint}


def down(
    service: Service, health: Health, outage: Outage, verdict: dict[str, Any], readings: Iterable[Observation]
) -> Draft:
    """`readings`: what led to it, the oldest first."""
    data = {**_failure(service, health), **verdict, "incident": outage.incident, "told": outage.told}
    data["readings"] = [_reading(one) for one in readings]
    return Draft(CHANNEL, "service_down", service.name, data)


def _reading(one: Observation) -> dict[str, Any]:
    seen = one.seen
    latency = None if seen.latency is None else round(seen.latency * 1000, 3)
    said = {"at": milliseconds(one.wall), "state": seen.status.value, "latencyMs": latency}
    return {**said, "detail": beginning(seen.detail, _DETAIL)} if seen.detail else said


def decision_changed(
    service: Service, health: Health, outage: Outage, verdict: dict[str, Any], *, news: bool, failing: float | None
) -> Draft:
    """Another gate holds, or none: `news` when nobody was told of the outage before."""
    data = {**_failure(service, health, failing), **verdict, "incident": outage.incident, "news": news}
    return Draft(CHANNEL, "decision_changed", service.name, data)


def explained_otherwise(name: str, outage: str, before: str, explained: str, root: str) -> Draft:
    """In the story of what explained it until now. `root`: whose outage that is by now; empty: an event's, or none."""
    data = {"service": name, "outage": outage, "explainedBy": explained, "root": root, "incident": before}
    return Draft(CHANNEL, "explained_otherwise", name, data)


def restart_waits(service: Service, incident: str | None, by: str, use: Use, hint: str, left: float) -> Draft:
    said = {"service": service.name, "gate": Gate.IN_USE.value, "by": by, "waitsFor": str(use), "hint": hint}
    data = {**said, "atMostSeconds": round(left, 3), "incident": incident}
    return Draft(CHANNEL, "restart_waits", service.name, data)


def restart_withdrawn(
    service: str, incident: str | None, by: str, why: str = "", *, argus_ended: bool = False
) -> Draft:
    """`why`: what ended the wait, where whoever asked has not taken it back."""
    data = {"service": service, "by": by, "incident": incident, "argusEnded": argus_ended}
    return Draft(CHANNEL, "restart_withdrawn", service, {**data, "why": why} if why else data)


def restart_started(service: Service, act: Act, by: str) -> Draft:
    data = {"service": service.name, "act": act.id, "incident": act.incident, "by": by, **act.intent}
    return Draft(CHANNEL, "restart_started", service.name, data)


def restart_finished(act: Act, outcome: str, detail: dict[str, Any]) -> Draft:
    data = {"service": act.subject, "act": act.id, "incident": act.incident, "outcome": outcome, **detail}
    return Draft(CHANNEL, "restart_finished", act.subject, data)


def restart_refused(service: Service, gate: Gate, by: str, hint: str) -> Draft:
    data = {"service": service.name, "gate": gate.value, "by": by, "hint": hint}
    return Draft(CHANNEL, "restart_refused", service.name, data)


def escalated(
    service: Service, health: Health, outage: Outage, autonomy: Level, why: str, *, failing: float | None
) -> Draft:
    data = {
        **_failure(service, health, failing),
        "incident": outage.incident,
        "autonomy": autonomy.value,
        "restarts": outage.restarts,
        "why": why,
    }
    return Draft(CHANNEL, "service_escalated", service.name, data)


def recovered(service: Service, outage: Outage, wall: float, *, restarted: bool) -> Draft:
    # From its first failing check: nobody could use it while it was not confirmed yet.
    began = outage.opened if outage.failing_since is None else outage.failing_since
    data = {
        "service": service.name,
        "incident": outage.incident,
        "downSeconds": round(max(0.0, wall - began), 3),
        "restarted": restarted,
        "restartHelped": outage.helped,
        "told": outage.told,
    }
    return Draft(CHANNEL, "service_recovered", service.name, data)


def state_changed(service: Service, before: str | None, health: Health) -> Draft:
    detail = health.last.seen.detail if health.last else ""
    data = {"service": service.name, "from": before, "to": health.status.value, "detail": detail}
    return Draft(CHANNEL, "state_changed", service.name, data)


def unknown(service: Service, health: Health) -> Draft:
    """Nobody can say how it is, again and again: nothing is restarted for that, and somebody should know."""
    seen = health.last.seen if health.last else Seen(Status.UNKNOWN)
    data = {"service": service.name, "checks": health.unknowns, "place": service.place, "detail": seen.detail}
    return Draft(CHANNEL, "service_unknown", service.name, {**data, "code": seen.code})


def flapping(service: Service, flapping: Flapping, flips: int, within: float) -> Draft:
    data = {"service": service.name, "incident": flapping.incident, "flips": flips, "withinSeconds": within}
    return Draft(CHANNEL, "service_flapping", service.name, data)


def settled(service: Service, flapping: Flapping, status: Status) -> Draft:
    data = {"service": service.name, "incident": flapping.incident, "to": status.value}
    return Draft(CHANNEL, "service_settled", service.name, data)


def certificate_ends(service: Service, expires: float, left: float) -> Draft:
    data = {"service": service.name, "expires": rfc3339(expires), "leftSeconds": round(max(0.0, left))}
    return Draft(CHANNEL, "certificate_ends_soon", service.name, data)


def infrastructure_event(incident: str, names: list[str], witness: str) -> Draft:
    data = {"incident": incident, "services": names, "witness": witness, "code": "INFRASTRUCTURE_EVENT"}
    return Draft(CHANNEL, "infrastructure_event", "", data)


def infrastructure_event_ended(incident: str, names: list[str], still_failing: list[str]) -> Draft:
    data = {"incident": incident, "services": names, "stillFailing": still_failing}
    return Draft(CHANNEL, "infrastructure_event_ended", "", data)


def own_fault_ended(incident: str, names: list[str], still_failing: list[str]) -> Draft:
    data = {"incident": incident, "services": names, "stillFailing": still_failing}
    return Draft(CHANNEL, "witness_answers", "", data)


def own_fault(incident: str, names: list[str], detail: str) -> Draft:
    """Argus cannot even reach its own listener: the fault is its own, or this machine's."""
    data = {"incident": incident, "services": names, "detail": detail}
    return Draft(CHANNEL, "witness_failed", "", data)


def paused(name: str, until: float | None, by: str) -> Draft:
    if until is None:
        return Draft(CHANNEL, "service_resumed", name, {"service": name, "by": by})
    return Draft(CHANNEL, "service_paused", name, {"service": name, "by": by, "until": rfc3339(until)})


def no_longer_watched(service: Service, outage: Outage) -> Draft:
    """Its outage ends because nobody looks any more, not because it is well."""
    return Draft(CHANNEL, "service_removed", service.name, {"service": service.name, "incident": outage.incident})
