"""What a person is told about agents. Pure; see render.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from argus.core.units import spoken
from argus.notify.message import IMPORTANT, INFORMATIVE, URGENT, Message

_PASSING = {"backoff", "record", "dependency down"}
"""Gates that open by themselves: nothing for a person to hear of, or told where it belongs, with what is down."""
_TASK = 200


def _task(data: Mapping[str, Any]) -> str:
    task = str(data.get("task", ""))
    return f"Task: {task[:_TASK]}{'...' if len(task) > _TASK else ''}"


def _ended(data: Mapping[str, Any]) -> str:
    status = data.get("exit_status")
    return "Its process is gone" if status is None else f"It ended with exit status {status}"


def _respawned(data: Mapping[str, Any], now: int) -> Message:
    return Message(IMPORTANT, f"AGENT RESPAWNED: {data['agent_id']}", f"{data.get('message')}\n{_task(data)}")


def _held_back(data: Mapping[str, Any], now: int) -> Message | None:
    if data.get("gate") in _PASSING:
        return None
    held = f"Action: none - {data.get('gate')} ({data.get('hint')})"
    lines = [_task(data), "", f"Autonomy: {data.get('autonomy')}", held]
    return Message(IMPORTANT, f"AGENT DIED: {data['agent_id']}", "\n".join(lines))


def _escalated(data: Mapping[str, Any], now: int) -> Message:
    lines = [_ended(data), _task(data), "", f"Escalated: {data.get('gate')} ({data.get('hint')}); a person has to look"]
    return Message(URGENT, f"AGENT NEEDS YOU: {data['agent_id']}", "\n".join(lines))


def _hung(data: Mapping[str, Any], now: int) -> Message:
    text = f"Its process exists and does not run, for {spoken(data.get('silentSeconds', 0.0))}"
    return Message(IMPORTANT, f"AGENT HUNG: {data['agent_id']}", f"{text}\n{_task(data)}")


def _silent(data: Mapping[str, Any], now: int) -> Message:
    text = f"No heartbeat for {spoken(data.get('silentSeconds', 0.0))}; its process lives, so nothing is done"
    return Message(INFORMATIVE, f"AGENT SILENT: {data['agent_id']}", text)


def _unknown(data: Mapping[str, Any], now: int) -> Message:
    text = f"No heartbeat for {spoken(data.get('silentSeconds', 0.0))}, and nobody here can look whether it lives"
    return Message(IMPORTANT, f"AGENT LOST: {data['agent_id']}", f"{text}\n{_task(data)}")


def _asks(data: Mapping[str, Any], now: int) -> Message:
    text = f"{data.get('reason') or 'No reason was given'}\n\nAnswer request {data.get('id')}"
    return Message(IMPORTANT, f"AGENT ASKS TO STOP: {data['agent_id']}", text)


TEXTS: dict[str, Callable[[Mapping[str, Any], int], Message | None]] = {
    "agents:agent_respawned": _respawned,
    "agents:respawn_held_back": _held_back,
    "agents:agent_escalated": _escalated,
    "agents:agent_hung": _hung,
    "agents:agent_silent": _silent,
    "agents:agent_unknown": _unknown,
    "agents:stop_requested": _asks,
}
