"""After a restart of Argus: states, outages and acts as the record has them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from argus.services import certificates, reports
from argus.services.model import Flapping, Gate, Outage, Status
from argus.services.plans import DOMAIN, FLAPPING, OUTAGE
from argus.services.reconciler import Reconciler
from argus.services.spending import RESTART
from argus.services.tools import Tools
from argus.services.waiting import ASKED
from argus.store import kept
from argus.store.records import Act, Append, Incident, PutIncident, PutSetting

_TOLD = 1_000_000
"""More readings that told nothing than any configuration waits for."""


async def restore(reconciler: Reconciler, tools: Tools) -> None:
    """States, outages, spent budget, and acts that an earlier Argus left open."""
    store, healths = tools.store, reconciler.healths
    for name, condition in (await store.conditions(DOMAIN)).items():
        if name in healths:
            recorded = Status(condition.state)
            # Who was told that it cannot be looked at is not told again.
            unknowns = _TOLD if recorded is Status.UNKNOWN else 0
            healths[name] = healths[name]._replace(recorded=recorded, since=condition.since, unknowns=unknowns)
    await reconciler.spending.restore()
    await reconciler.pauses.restore()
    told: dict[str, float] = await kept.setting(store, certificates.KEY, certificates.read, {})
    for name, expires in told.items():
        if name in healths:
            healths[name] = healths[name]._replace(certificate=expires)
    for incident in await store.incidents(open_only=True, limit=100_000):
        await _restore_incident(reconciler, incident, tools)
    await _withdraw(reconciler, tools)
    for act in await store.open_acts():
        if act.kind == RESTART:
            _restore_act(reconciler, act)


async def _restore_incident(reconciler: Reconciler, incident: Incident, tools: Tools) -> None:
    healths, name = reconciler.healths, incident.subject
    if incident.kind == reconciler.correlator.KIND:
        reconciler.correlator.restore(incident)
    elif incident.kind not in (OUTAGE, FLAPPING):
        return
    elif name not in healths:
        data = {**incident.data, "ended": "no longer watched"}
        await tools.store.commit(PutIncident(replace(incident, closed=tools.clock.wall(), data=data)))
    elif incident.kind == FLAPPING:
        flapping = Flapping(incident.id, incident.opened, tools.clock.monotonic())
        healths[name] = healths[name]._replace(flapping=flapping)
    else:
        outage = _outage(incident)
        healths[name] = healths[name]._replace(status=Status.DOWN, recorded=Status.DOWN, outage=outage)
        if outage.waits_since is not None:
            reconciler.waits.take_up(name, tools.clock.wall() - outage.waits_since)


async def _withdraw(reconciler: Reconciler, tools: Tools) -> None:
    """Restarts that waited when an earlier Argus ended: whoever asked for them has lost its answer, and asks again."""
    asked: dict[str, str] = await kept.setting(tools.store, ASKED, _names, {})
    if asked:
        incidents = {name: one.outage.incident for name, one in reconciler.healths.items() if one.outage is not None}
        ends = [
            reports.restart_withdrawn(name, incidents.get(name), by, argus_ended=True) for name, by in asked.items()
        ]
        await tools.store.commit(*map(Append, ends), PutSetting(ASKED, None))


def _names(found: Any) -> dict[str, str]:
    return {str(name): str(by) for name, by in found.items()}


def _outage(incident: Incident) -> Outage:
    data = incident.data
    return Outage(
        incident.id,
        incident.opened,
        restarts=int(data.get("restarts", 0)),
        # A record of an earlier version does not say; what was begun was mostly carried out.
        restarted=bool(data.get("restarted", data.get("restarts", 0))),
        helped=bool(data.get("helped")),
        gate=Gate(data["gate"]) if data.get("gate") else None,
        told=bool(data.get("told")),
        escalated=bool(data.get("escalated")),
        cause=incident.cause,
        explained_by=str(data.get("explainedBy", "")),
        explained_before=str(data.get("explainedBefore", "")),
        waits_since=data.get("waitsSince"),
        failing_since=data.get("failingSince"),
    )


def _restore_act(reconciler: Reconciler, act: Act) -> None:
    health = reconciler.healths.get(act.subject)
    reconciler.repairing[act.subject] = act.id
    if health is None:
        # Not in the configuration: nobody looks any more. But its command may still run, and the service may come
        # back with the next configuration; so the act ends when the command has.
        reconciler.repairs.outlast_later(act)
        return
    reconciler.healths[act.subject] = health._replace(repair=act.id)
    reconciler.repairs.finish_later(reconciler.services[act.subject], act)
