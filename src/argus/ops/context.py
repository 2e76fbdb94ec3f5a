"""The block on the machine's health that an AI reads: every part, in as few words as will do."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from argus.agents.model import Agent
from argus.bridge.keeper import Seen
from argus.core.breaker import State as Breaking
from argus.core.circuit import Circuit
from argus.core.clock import milliseconds
from argus.core.cutting import beginning
from argus.core.errors import ArgusError
from argus.core.patterns import NO_NUL
from argus.environments.guarding.guardian import Seen as Guarded
from argus.environments.runs import Run, State
from argus.ops import wellness
from argus.ops.calls import FolderAsk, whence
from argus.ops.house import House
from argus.ops.operation import CLI_FOLDER, Answer, Ask, operation
from argus.ops.runs import Guards, names, rank
from argus.ops.services import ServiceView, view
from argus.ops.sessions import needs_you
from argus.services.history import Uptime
from argus.services.model import Status
from argus.sessions.signals import words
from argus.sessions.watched import Watched

_HEAD = "Service Health:"
_SERVICES, _SERVERS, _NOTICES, _RUNS, _PARTS, _ROOTS = 100, 20, 3, 10, 10, 10
_CUT, _LINE = 160, 2000
"""Characters of what somebody else said, and of a line of them."""
_INTERRUPTED = "Argus ended in the middle, and what was begun is left: set it up again, or clean it"


class ContextAsk(Ask):
    project_path: str | None = Field(
        default=None,
        max_length=4096,
        pattern=NO_NUL,
        description="Whose MCP servers are named; where you work if left out",
        json_schema_extra={"cli": CLI_FOLDER, "format": "path"},
    )


class ContextView(Answer):
    text: str = Field(description="The block for an AI's context")
    timestamp: int


@operation("context", "GET /api/context", verb="context", tool="argus_context", read_only=True)
async def context(house: House, ask: ContextAsk) -> ContextView:
    """Returns a compact, stable block of text on the machine's health, meant for an AI's context.

    Changes nothing. Read it before blaming your own work for a failure: the machine may be broken. It names every
    service with its state and whether it is in maintenance (of more than a hundred those that are not well),
    environments with the containers that are not well, how many agents there are, who waits for what is down, agents
    and sessions that need somebody, open circuit breakers, what is left of the restart budget, how much Argus may do by
    itself, and the other MCP servers that can be called from your folder, and whether each is available. Details are in
    `services`.
    """
    lines = [_HEAD]
    services = [view(house, name, Uptime()) for name in sorted(house.watch.services)]
    roots = {one.incident: one.name for one in services if one.incident}
    lines += _services(house, services, roots)
    if len(lines) == 1:
        lines.append("- nothing is watched")
    lines += _environments(house)
    lines += _crew(house)
    lines += _waiting(house)
    agents = [one for one in house.crew.agents if one.needs_a_person or not wellness.agent(one)]
    lines += [f"- agent {_agent_line(house, one)}" for one in agents]
    sessions = [one for one in house.sessions.all if needs_you(one) or not wellness.session(one)]
    lines += [f"- session {_session_line(house, one)}" for one in sessions]
    problem = wellness.problem(house)
    lines += [f"RECORD: {_said(house, problem)}; nothing is acted on until it can be written"] if problem else []
    left, most = house.watch.budget()
    if house.watch.infrastructure_event:
        lines.append("INFRASTRUCTURE EVENT: several services fail together; nothing is restarted until it has ended")
    unwell = [one for one in house.breakers.circuits.values() if one.breaker.state is not Breaking.CLOSED]
    lines += [_breaker_line(house, one) for one in unwell]
    lines += [f"Restart budget: {left}/{most} remaining this hour", f"Autonomy: {house.autonomy.level.value}"]
    lines += await _capabilities(house, ask)
    # Whatever is in a name or an answer, it forges no line of ours.
    text = "\n".join(words(house.clean(line), _LINE) for line in lines)
    return ContextView(text=f"{text}\n", timestamp=milliseconds(house.clock.wall()))


def _said(house: House, text: str) -> str:
    """What came from outside, within one line. Cleaned before it is cut: half a secret has no shape."""
    return beginning(house.clean(words(text, _LINE)), _CUT)


def _services(house: House, services: Sequence[ServiceView], roots: Mapping[str, str]) -> list[str]:
    """Each, as long as they are a hundred. Of more, those that are well are counted: an AI's context is dear."""
    shown, left = services, []
    if len(services) > _SERVICES:
        unwell = [one for one in services if not wellness.service(one)]
        well, shown = len(services) - len(unwell), unwell[:_SERVICES]
        left += [f"- and {len(unwell) - _SERVICES} more that are not well"] if len(unwell) > _SERVICES else []
        left += [f"- {well} services are well"] if well else []
    return [*(f"- {_line(house, one, roots)}" for one in shown), *left]


def _crew(house: House) -> list[str]:
    """How many there are, and how they stand; those that are not well follow by name."""
    states = Counter(one.state.value for one in house.crew.agents if not one.state.is_over)
    return [f"- agents: {', '.join(f'{count} {state}' for state, count in sorted(states.items()))}"] if states else []


def _waiting(house: House) -> list[str]:
    """Those who wait for the same in one line: what breaks for one of them mostly breaks for hundreds."""
    found = defaultdict[str, list[str]](list)
    for who, things in wellness.waits(house):
        found[_waits(things)].append(who)
    lines = [f"- {what}: {', '.join(who[:_PARTS])}{_more(who)}" for what, who in found.items()]
    return lines[:_ROOTS] + ([f"- and {len(lines) - _ROOTS} more that wait"] if len(lines) > _ROOTS else [])


def _waits(things: Sequence[str]) -> str:
    return "waits for " + " and ".join(things[:_PARTS]) + _more(things)


def _environments(house: House) -> list[str]:
    """The worst first: the rest may be cut off."""
    found = [
        (run, house.environments.guards(run), wellness.environment_waits(house, run)) for run in house.environments.runs
    ]
    found.sort(key=lambda one: (rank(*one[:2]), not one[2]))
    called = names(run for run, _, _ in found)
    lines = [
        f"- environment {called[run.key]}: {_environment(house, run, guards)}" + (f"; {_waits(needs)}" if needs else "")
        for run, guards, needs in found[:_RUNS]
    ]
    return lines + ([f"- and {len(found) - _RUNS} environments more"] if len(found) > _RUNS else [])


def _environment(house: House, run: Run, guards: Guards) -> str:
    amiss = {name: one for name, one in guards.items() if not one.state.is_well}
    if run.is_alive and any(not one.state.is_fine for one in amiss.values()):
        worst = sorted(amiss.items(), key=lambda one: (one[1].state.is_fine, one[0]))
        return ", ".join(_container(house, name, one) for name, one in worst[:_PARTS]) + _more(worst)
    if not guards:
        why = _said(house, _INTERRUPTED if run.state is State.INTERRUPTED else run.problem)
        return run.state.value.upper() + (f" ({why})" if why else "")
    left = [f"; {name} {one.state.value}: {_said(house, one.why)}" for name, one in sorted(amiss.items())]
    well = f"{len(guards) - len(amiss)}/{len(guards)} containers well"
    return f"{run.state.value.upper()} ({well}{''.join(left[:_PARTS])}{_more(left)})"


def _more(several: Sequence[object]) -> str:
    return f", and {len(several) - _PARTS} more" if len(several) > _PARTS else ""


def _container(house: House, name: str, one: Guarded) -> str:
    why = _said(house, one.problem.message if one.problem else one.why)
    return f"{name} {one.state.value.upper()}" + (f" ({why})" if why else "")


async def _capabilities(house: House, ask: ContextAsk) -> list[str]:
    """In bounds: whoever wants to know more asks for the servers themselves."""
    try:
        asked = whence(house, FolderAsk(projectPath=ask.project_path))
    except ArgusError:
        return []  # an agent outside of its own project: it hears of the machine as everybody does
    found, notices = await house.bridge.servers(asked)
    if not (found or notices):
        return []
    lines = ["MCP servers (argus_call_mcp, or argus call SERVER TOOL JSON):"]
    lines += [f"- {one.definition.name}: {_availability(house, one)}" for one in found[:_SERVERS]]
    lines += [f"- and {len(found) - _SERVERS} more: argus bridge servers"] if len(found) > _SERVERS else []
    lines += [f"- notice: {_said(house, one)}" for one in notices[:_NOTICES]]
    return lines


def _availability(house: House, one: Seen) -> str:
    if one.is_available:
        return "available"
    if one.problem:
        return f"UNAVAILABLE ({_said(house, one.problem)})"
    wait = "" if one.retry_in is None else f", asked again in {one.retry_in:.0f} s"
    return f"UNAVAILABLE ({one.failures} failures in a row{wait})"


def _breaker_line(house: House, circuit: Circuit) -> str:
    breaker = circuit.breaker
    last = _said(house, breaker.history[-1].message) if breaker.history else ""
    return f"Breaker {circuit.name}: {breaker.state.value.upper()} {breaker.consecutive}x ({last})"


def _agent_line(house: House, agent: Agent) -> str:
    why = ", ".join(part for part in (agent.reason, agent.gate and f"held back: {agent.gate}") if part)
    return f"{agent.id}: {agent.state.value.upper()}" + (f" ({_said(house, why)})" if why else "")


def _session_line(house: House, one: Watched) -> str:
    why = house.clean(words(one.standing.question or one.standing.because))
    return f"{one.session.project}: {one.session.state.value.upper()}" + (f" ({why})" if why else "")


def _line(house: House, one: ServiceView, roots: Mapping[str, str]) -> str:
    detail = _said(house, one.detail)
    port = f" [{one.port}]" if one.port else ""
    # A service that fails and is not confirmed down yet is shown as failing: an agent is about to run into it.
    failing = f" {one.failures}x ({detail})" if one.failures else ""
    failing += " FLAPPING" if one.flapping else ""
    seen = f" ({_glance(one, detail)})" if not one.failures and _glance(one, detail) else ""
    return f"{one.name}: {one.state.upper()}{failing}{seen}{port}{_outlook(one, roots)}"


def _outlook(one: ServiceView, roots: Mapping[str, str]) -> str:
    """What has to happen before it is back: whoever reads it need not look for that themselves."""
    said = [_needed(one, roots)] if one.state == Status.DOWN.value else []
    said += [f"in maintenance, paused until {one.paused_until}"] if one.paused_until else []
    said = [part for part in said if part]
    return f" -- {'; '.join(said)}" if said else ""


def _needed(one: ServiceView, roots: Mapping[str, str]) -> str:
    if one.repairing:
        return "being restarted"
    if one.explained_by:
        return f"because of {roots.get(one.explained_by, 'the infrastructure event')}"
    return "needs a person" if wellness.service_needs(one) else ""


def _glance(one: ServiceView, detail: str) -> str:
    """What is worth a word of a service that does not fail."""
    if one.type == "docker":
        return detail.replace(" running", " containers running", 1)
    if one.type == "process" or one.latency_ms is None:
        return detail.replace("PID ", "pid ")
    return f"{one.latency_ms:.0f}ms"


OPERATIONS: tuple[Any, ...] = (context,)
