"""What a person is told about an event: pure. None when nothing is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from argus.core.autonomy import Level
from argus.core.clock import milliseconds
from argus.core.events import Event
from argus.core.units import spoken, stretch
from argus.notify import about_agents, about_environments, about_record, about_sessions
from argus.notify.message import IMPORTANT, INFORMATIVE, URGENT, Message

_SILENT = {"maintenance", "infrastructure event", "dependency down", "flapping"}


def render(event: Event, now: float | None = None) -> Message | None:
    """`now`: when it is told, by the wall clock; left out, as soon as it happened."""
    make = _TEXTS.get(event.name)
    if make is None:
        return None
    # Without a check the event is the moment.
    data = {**_flat(event.data), "lastCheckAt": event.data.get("lastCheckAt") or event.timestamp}
    return make(data, event.timestamp if now is None else milliseconds(now))


def _flat(data: Mapping[str, Any]) -> dict[str, Any]:
    """Every text on one line: a name or an answer from outside cannot forge a line of the message."""
    return {
        key: " ".join(value.split())
        if isinstance(value, str)
        else [" ".join(str(one).split()) for one in value]
        if isinstance(value, list)
        else value
        for key, value in data.items()
    }


def _failing(data: Mapping[str, Any], now: int) -> list[str]:
    count = data.get("failures", 0)
    often = f"{count} consecutive {'failure' if count == 1 else 'failures'}"
    if (failing := data.get("failingSeconds")) is not None:
        often = f"Failing for {stretch(failing)}"  # the count began anew since, and would say less
    return [
        f"{often} (last check: {spoken((now - data['lastCheckAt']) / 1000)} ago)",
        f"{data.get('place', '')} - {data.get('cause') or data.get('detail', '')}",
    ]


def _verdict(data: Mapping[str, Any]) -> list[str]:
    level = data.get("autonomy", "")
    if data.get("action") == "restart":
        return [f"Autonomy: {level}", f"Action: Restarting {data.get('target')}..."]
    if data.get("gate") == "autonomy":
        return [f"Autonomy: {level} ({data.get('hint')})", *_proposal(data)]
    if data.get("gate") == "in use":
        return [f"Autonomy: {level}", f"Action: Restarting {data.get('service')} after that: {data.get('hint')}"]
    return [f"Autonomy: {level}", f"Action: none - {data.get('gate')} ({data.get('hint')})"]


def _proposal(data: Mapping[str, Any]) -> list[str]:
    if data.get("action") != "proposed":
        return []
    return [f"Proposed: Restarting {data.get('target')}; approve with: argus services restart {data.get('service')}"]


def _down(data: Mapping[str, Any], now: int) -> Message | None:
    if data.get("gate") in _SILENT:
        return None
    lines = [*_failing(data, now), "", *_verdict(data)]
    return Message(URGENT, f"SERVICE DOWN: {data['service']}", "\n".join(lines))


def _decision_changed(data: Mapping[str, Any], now: int) -> Message | None:
    return _down(data, now) if data.get("news") else None


def _escalated(data: Mapping[str, Any], now: int) -> Message:
    why = {"failed": "the restart failed", "unverified": "it could not be looked at again"}
    reason = why.get(str(data.get("why")), "restarted, and still down")
    lines = [
        *_failing(data, now),
        "",
        f"Autonomy: {data.get('autonomy')}",
        f"Escalated: {reason}; a person has to look",
    ]
    if data.get("autonomy") != Level.OBSERVE:
        lines.append(f"When the cause is mended: argus services restart {data['service']}")
    return Message(URGENT, f"SERVICE STILL DOWN: {data['service']}", "\n".join(lines))


def _recovered(data: Mapping[str, Any], now: int) -> Message | None:
    if not data.get("told"):
        return None
    # What was recorded before this was told apart is taken as it was said then.
    restarted, helped = data.get("restarted"), data.get("restartHelped", True)
    how = " after a restart" if restarted and helped else ""
    but = "; its restart had not helped" if restarted and not helped else ""
    text = f"Up again{how}, down for {stretch(data['downSeconds'])}{but}"
    return Message(IMPORTANT, f"SERVICE RECOVERED: {data['service']}", text)


def _infrastructure(data: Mapping[str, Any], now: int) -> Message:
    names = data["services"]
    shown = ", ".join(names[:30]) + (f" and {len(names) - 30} more" if len(names) > 30 else "")
    lines = [
        f"{len(names)} services fail together: {shown}",
        "",
        "Action: none - nothing is restarted until it has ended",
        "Look at what they share; what has to be started again, start by hand",
    ]
    return Message(URGENT, "INFRASTRUCTURE EVENT", "\n".join(lines))


def _own_fault(data: Mapping[str, Any], now: int) -> Message:
    text = f"{len(data['services'])} checks fail, and Argus cannot reach its own listener ({data['detail']})"
    return Message(URGENT, "ARGUS CANNOT SEE", f"{text}\n\nAction: none - the fault is on this machine")


def _infrastructure_ended(data: Mapping[str, Any], now: int) -> Message:
    still = data["stillFailing"]
    text = f"Still failing: {', '.join(still[:30])}" if still else "All of them answer again"
    return Message(IMPORTANT, "INFRASTRUCTURE EVENT ENDED", text)


def _own_fault_ended(data: Mapping[str, Any], now: int) -> Message:
    still = data["stillFailing"]
    text = f"Still failing: {', '.join(still[:30])}" if still else "All checks answer again"
    return Message(IMPORTANT, "ARGUS SEES AGAIN", text)


def _flapping(data: Mapping[str, Any], now: int) -> Message:
    often = f"It changed {data['flips']} times within {spoken(data['withinSeconds'])}"
    return Message(IMPORTANT, f"SERVICE FLAPPING: {data['service']}", f"{often}\n\nAction: none until it has settled")


def _unknown(data: Mapping[str, Any], now: int) -> Message:
    often = f"{data['checks']} checks in a row told nothing: {data['detail']}"
    text = f"{often}\n\nAction: none - it is neither up nor down until it can be looked at"
    return Message(IMPORTANT, f"SERVICE CANNOT BE CHECKED: {data['service']}", text)


def _settled(data: Mapping[str, Any], now: int) -> Message:
    return Message(INFORMATIVE, f"SERVICE SETTLED: {data['service']}", f"It is {data['to']}")


def _certificate(data: Mapping[str, Any], now: int) -> Message:
    text = f"It ends in {spoken(data['leftSeconds'])} ({data['expires']})"
    return Message(IMPORTANT, f"CERTIFICATE ENDS SOON: {data['service']}", text)


def _breaker_opened(data: Mapping[str, Any], now: int) -> Message:
    text = f"{data['failures']} failures in a row: {data['lastFailure']}"
    return Message(IMPORTANT, f"NOT ASKED FOR NOW: {data['breaker']}", f"{text}\n\nIt is tried again by itself")


def _breaker_closed(data: Mapping[str, Any], now: int) -> Message:
    return Message(INFORMATIVE, f"ANSWERS AGAIN: {data['breaker']}", "It is asked as usual")


_TEXTS: dict[str, Callable[[Mapping[str, Any], int], Message | None]] = {
    **about_agents.TEXTS,
    **about_sessions.TEXTS,
    **about_environments.TEXTS,
    **about_record.TEXTS,
    "services:service_down": _down,
    "services:decision_changed": _decision_changed,
    "services:service_escalated": _escalated,
    "services:service_recovered": _recovered,
    "services:service_flapping": _flapping,
    "services:service_settled": _settled,
    "services:service_unknown": _unknown,
    "services:certificate_ends_soon": _certificate,
    "system:breaker_opened": _breaker_opened,
    "system:breaker_closed": _breaker_closed,
    "services:infrastructure_event": _infrastructure,
    "services:infrastructure_event_ended": _infrastructure_ended,
    "services:witness_failed": _own_fault,
    "services:witness_answers": _own_fault_ended,
}
