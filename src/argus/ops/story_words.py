"""The words of an incident's story, one line each. Pure; an empty one is not told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from argus.core.cutting import beginning
from argus.core.units import spoken, stretch

Data = Mapping[str, Any]
NOTHING = "nothing is restarted until that has ended"
_NAMED = 10
_TYPED = 300
"""Characters of a line that was typed into a terminal."""
_LAST_LINE = 160
"""Characters of what a restart's command printed last; more of it is evidence."""


def saying(text: str) -> Callable[[Data], str]:
    return lambda data: text


def _times(count: int, one: str) -> str:
    return f"{count} {one}" if count == 1 else f"{count} {one}s"


def _names(names: Any) -> str:
    several = [str(one) for one in names or ()]
    return ", ".join(several[:_NAMED]) + (f" and {len(several) - _NAMED} more" if len(several) > _NAMED else "")


def _gated(data: Data) -> str:
    """What holds it back, and how that opens."""
    hint = f" ({data['hint']})" if data.get("hint") else ""
    return f"nothing is done: {data.get('gate')}{hint}"


def detail(data: Data) -> str:
    return str(data.get("detail") or data.get("cause") or "")


# Services.


def down(data: Data) -> str:
    return f"down after {_times(int(data.get('failures') or 0), 'failing check')} in a row: {detail(data)}"


def verdict(data: Data) -> str:
    level = f"autonomy {data.get('autonomy')}"
    if data.get("action") == "restart":
        busy = data.get("outwaited")
        why = f"it was waited for long enough, and still {busy}" if busy else "no gate holds it back"
        return f"restart {data.get('target')} ({level}; {why})"
    proposed = f"; proposed: restart {data.get('target')}" if data.get("action") == "proposed" else ""
    return f"{_gated(data)}, {level}{proposed}"


def escalated(data: Data) -> str:
    why = {"failed": "its restart failed", "unverified": "nobody could look at it again"}
    return f"a person has to look: {why.get(str(data.get('why')), 'it was restarted and is still down')}"


def refused(data: Data) -> str:
    return f"a restart that {data.get('by')} asked for was refused: {data.get('gate')} ({data.get('hint')})"


def restart_started(data: Data) -> str:
    who = f"asked for by a person ({data.get('by')})" if data.get("byPerson") else f"by {data.get('by')}"
    also = f"; {data['askedBy']}, who asked for it, waited for the same" if data.get("askedBy") else ""
    return f"restarts {data.get('target')}, {who}{also}"


def restart_waits(data: Data) -> str:
    return f"a restart that {data.get('by')} asked for waits: {data.get('hint')}"


def withdrawn(data: Data) -> str:
    if data.get("argusEnded"):
        return f"the restart that {data.get('by')} asked for waits no more: Argus ended meanwhile; nothing was done"
    if data.get("why"):
        return f"the restart that {data.get('by')} asked for waits no more: {data['why']}"
    return f"{data.get('by')} took the restart back that waited; nothing was done"


def restart_finished(data: Data) -> str:
    if data.get("outcome") == "failed" and data.get("exitCode") and not data.get("problem"):
        return _ended_badly(data)
    said = {
        "recovered": "the restart helped",
        "still_down": "restarted, and still down",
        "failed": "the restart could not be carried out",
        "not_needed": "it was well before anything was done",
        "unverified": "restarted; nobody could look whether that helped",
    }.get(str(data.get("outcome")), str(data.get("outcome")))
    return f"{said}: {data.get('problem') or detail(data)}".removesuffix(": ")


def _ended_badly(data: Data) -> str:
    """The command ran: what was seen afterwards is not why it failed."""
    printed = [line for line in str(data.get("output") or "").splitlines() if line.strip()]
    last = f' ("{beginning(" ".join(printed[-1].split()), _LAST_LINE)}")' if printed else ""
    seen = f" ({data['detail']})" if data.get("detail") else ""
    still = f"still {data['state']}{seen}" if data.get("state") == "down" else f"{data.get('state')}{seen}"
    return f"the restart command failed with exit status {data['exitCode']}{last}; the service is {still}"


def recovered(data: Data) -> str:
    restarted, helped = data.get("restarted"), data.get("restartHelped", True)
    how = " after its restart" if restarted and helped else ""
    but = "; its restart had not helped" if restarted and not helped else ""
    return f"up again{how}, down for {stretch(float(data.get('downSeconds') or 0.0))}{but}"


def flapping(data: Data) -> str:
    return f"changed {data.get('flips')} times within {spoken(float(data.get('withinSeconds') or 0.0))}"


def settled(data: Data) -> str:
    return f"settled: it is {data.get('to')}"


def together(data: Data) -> str:
    names = data.get("services") or ()
    return f"{len(names)} services fail together: {_names(names)}"


def own_fault(data: Data) -> str:
    return f"{len(data.get('services') or ())} checks fail, and Argus cannot reach itself: {detail(data)}"


def together_ended(data: Data) -> str:
    still = data.get("stillFailing")
    return f"over; still failing: {_names(still)}" if still else "over; all of them answer again"


# Agents.


def died(data: Data) -> str:
    return f"{data.get('agent_id')} died: {data.get('reason') or 'its process is gone'}"


def held(data: Data) -> str:
    return f"not started again: {data.get('gate')} ({data.get('hint')}), autonomy {data.get('autonomy')}"


def escalated_agent(data: Data) -> str:
    return f"a person has to look: {data.get('gate')} ({data.get('hint')})"


def respawns(data: Data) -> str:
    """Only of one that had a life before."""
    if int(data.get("generation") or 1) < 2:
        return ""
    return "start it again: no gate holds it back" if data.get("by") == "argus" else f"{data.get('by')} asked for it"


def spawn_started(data: Data) -> str:
    return f"starts {data.get('agent_id')} (generation {data.get('generation')})"


def spawned(data: Data) -> str:
    return f"{data.get('agent_id')} works, PID {data.get('pid')}"


def spawn_failed(data: Data) -> str:
    return f"{data.get('agent_id')} could not be started: {data.get('reason')}"


def removed(data: Data) -> str:
    how = "was stopped" if data.get("reason") == "shutdown_requested" else f"is over: {data.get('reason')}"
    return f"{data.get('agent_id')} {how}, by {data.get('by')}"


def stop_started(data: Data) -> str:
    return f"tells {data.get('agent_id')} to end, by {data.get('by')}"


# What it explains.


def explained_otherwise(data: Data) -> str:
    if not data.get("explainedBy"):
        return f"service {data.get('service')} does not depend on it any more"
    others = f"{data['root']} explains" if data.get("root") else "several services that fail together explain"
    return f"{others} from now on why service {data.get('service')} is down"


def _who(data: Data) -> str:
    if data.get("environment"):
        return f"environment {data['environment']}"
    return f"agent {data['agent_id']}" if data.get("agent_id") else f"session {data.get('project')}"


def _by_a_person(data: Data) -> str:
    """Nobody else may stop or remove an agent; `by` is the way on which they did."""
    return f"by a person ({data['by']})" if data.get("by") else "by a person"


def waits(data: Data) -> str:
    return f"{_who(data)} is started when it is back"


def needs(data: Data) -> str:
    return f"{_who(data)} needs it, and waits"


def waited(data: Data) -> str:
    came = {
        "started": "is started",
        "failed": "could not be started",
        "stopped": f"is not started any more: stopped {_by_a_person(data)}",
        "removed": "is not started any more: removed",
    }
    return f"{_who(data)} {came.get(str(data.get('outcome')), 'does not wait any more')}"


def gone(data: Data) -> str:
    """It is not there any more. Of one that died the respawn may wait for the same."""
    if data.get("outcome") == "died":
        return f"{_who(data)} died while it waited"
    why = {
        "stopped": f"was stopped {_by_a_person(data)}, and ",
        "removed": f"was removed {_by_a_person(data)}, and ",
        "finished": "has done its task, and ",
        "unwatched": "is not watched any more, and ",
        "cleaned": "was cleaned, and ",
        "set_up_anew": "is set up anew, and ",
        "not_up": "is not up any more, and ",
    }
    return f"{_who(data)} {why.get(str(data.get('outcome')), '')}waits no longer"


def goes_on(data: Data) -> str:
    """Whether it was told so is another line: of what was typed, or of nothing where it asks by its heartbeats."""
    over = "it is back" if data.get("is_back", True) else "it is not needed any more"
    still = data.get("still_waits_for")
    return f"{over}: {_who(data)} {f'waits for {_names(still)}' if still else 'goes on'}"


def heard(data: Data) -> str:
    text = str(data.get("text") or "")
    shown = beginning(text, _TYPED)
    return f'typed to {data.get("project")}: "{shown}{"" if shown == text else " ..."}"'


# Containers.


def container_failed(data: Data) -> str:
    return f"{data.get('container')}: {data.get('reason')}"


def attempts(data: Data) -> str:
    wait = float(data.get("delay") or 0) / 1000
    when = f" in {wait:g} s" if wait else ""
    return f"start it again{when}, attempt {data.get('attempt')} of {data.get('maxRestarts')}"


def starts(data: Data) -> str:
    return f"starts {data.get('container')}"


def container_well(data: Data) -> str:
    return f"{data.get('container')} is well again, {float(data.get('duration') or 0) / 1000:.1f} s after its failure"


def given_up(data: Data) -> str:
    loop = ", a crash loop" if data.get("crashLoop") else ""
    return f"given up after {_times(int(data.get('attempts') or 0), 'restart')}{loop}; a person has to look"


def not_restarted(data: Data) -> str:
    return "not restarted: resilience.container.restartOnFailure is off"


def left_alone(data: Data) -> str:
    return f"{data.get('container')} is left alone: {data.get('reason')}"


def port_taken(data: Data) -> str:
    return f"port {data.get('port')} is taken by another"


# Who was told.


def _message(data: Data) -> str:
    channel = str(data.get("channel") or "").removeprefix("notify:")
    return f'"{data.get("title")}" (tier {data.get("tier")}) to {channel}'


def sent(data: Data) -> str:
    tries = int(data.get("attempts") or 1)
    several = f", with {int(data['messages']) - 1} others" if data.get("messages") else ""
    return f"{_message(data)}{several}" + (f", at try {tries}" if tries > 1 else "")


def delayed(data: Data) -> str:
    return f"not yet: {_message(data)}: the channel did not take it; it is tried again"


def kept(data: Data) -> str:
    return f"not yet: {_message(data)}: {data.get('why')}, until {data.get('until')}"
