"""What a person is told about sessions and the work they gave away. Pure; see render.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from argus.core.units import spoken
from argus.notify.message import IMPORTANT, INFORMATIVE, Message

_WAITS = {"waiting_for_permission": "asks for a permission", "waiting_for_input": "waits for an answer"}


def _share(data: Mapping[str, Any]) -> str:
    return f"{100 * float(data.get('context_usage') or 0):.0f} %"


def _needs_you(data: Mapping[str, Any], now: int) -> Message:
    what = _WAITS.get(str(data.get("state")), "waits for you")
    lines = [f"It {what}" + (f" ({data['tool']})" if data.get("tool") else "")]
    lines += [f"Question: {data['question']}"] if data.get("question") else []
    lines += ["", f"Answer it in tmux: {data.get('session_id')}"]
    return Message(IMPORTANT, f"SESSION NEEDS YOU: {data['project']}", "\n".join(lines))


def _moved(data: Mapping[str, Any], now: int) -> Message | None:
    if data.get("to") == "dead":
        return Message(IMPORTANT, f"SESSION GONE: {data['project']}", f"It was {data.get('from')}: {data['because']}")
    if data.get("to") == "stalled":
        return Message(IMPORTANT, f"SESSION STALLED: {data['project']}", str(data["because"]))
    if data.get("to") == "rate_limited":
        when = f"It is over at {data['resets_at']}" if data.get("resets_at") else "When it is over is not known"
        return Message(INFORMATIVE, f"SESSION LIMITED: {data['project']}", when)
    return None


def _held_back(data: Mapping[str, Any], now: int) -> Message:
    lines = [f"Its context is at {_share(data)}", "", f"Autonomy: {data.get('autonomy')}"]
    lines.append(f"Action: none - {data.get('gate')}; hand it on with: argus sessions handoff {data['project']}")
    return Message(IMPORTANT, f"HANDOFF DUE: {data['project']}", "\n".join(lines))


def _failed(data: Mapping[str, Any], now: int) -> Message:
    lines = [f"It stopped at {data.get('at')}: {data.get('reason')}", "", "Nothing was cleared without its document"]
    return Message(IMPORTANT, f"HANDOFF FAILED: {data['project']}", "\n".join(lines))


def _done(data: Mapping[str, Any], now: int) -> Message:
    text = f"Handed on within {spoken(float(data.get('seconds') or 0))}: {data.get('path')}"
    return Message(INFORMATIVE, f"HANDED ON: {data['project']}", text)


def _spawn(data: Mapping[str, Any], now: int) -> Message | None:
    if data.get("by") != "argus" or data.get("status") in ("running", "completed"):
        return None
    title = f"SPAWN {str(data['status']).upper()}: {data['task_id']}"
    return Message(IMPORTANT, title, f"Of {data['project']}: {data.get('reason')}")


TEXTS: dict[str, Callable[[Mapping[str, Any], int], Message | None]] = {
    "sessions:session_needs_you": _needs_you,
    "sessions:session_state_changed": _moved,
    "sessions:handoff_held_back": _held_back,
    "sessions:handoff_failed": _failed,
    "sessions:handoff_done": _done,
    "sessions:spawn_status_changed": _spawn,
}
