"""The events that Claude Code and Codex post by their hooks, as signs. Both speak nearly the same language.

What was found on the real programs, and is easily got wrong:
- a tool that fails ends by PostToolUseFailure alone;
- nothing is posted when a person grants a permission, refuses one, or breaks off a turn;
- what a subagent does comes under the same session, with its `agent_id`;
- a question to the person is the use of a tool, and asks as a permission does;
- after `/compact` there is no Stop.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from argus.core.clock import Stamp
from argus.sessions.model import Activity, Source
from argus.sessions.resets import reset_time
from argus.sessions.signals import NAME, Sign, inner, told_by, words

ASKING = frozenset({"AskUserQuestion", "request_user_input"})
"""Tools by which an agent asks the person something."""
_SUBAGENTS = 200
_ASKS = {
    "permission_prompt": Activity.WAITING_FOR_PERMISSION,
    "worker_permission_prompt": Activity.WAITING_FOR_PERMISSION,
}
_NEEDS_INPUT = frozenset({"elicitation_dialog", "agent_needs_input"})
_TOOL_ENDS = frozenset({"PostToolUse", "PostToolUseFailure", "PermissionDenied"})


def read(body: Mapping[str, Any], at: Stamp) -> Sign | None:
    """What the body of one hook says; None for an event that tells nothing about the session."""
    event = words(body.get("hook_event_name"), NAME)
    tell = _EVENTS.get(event)
    if tell is None:
        return None
    told: dict[str, Any] = {
        "activity": None,
        "session": words(body.get("session_id"), NAME),
        "subagent": words(body.get("agent_id"), NAME),
        "transcript": words(body.get("transcript_path"), 4096),
        "pid": told_by(body),
    }
    return Sign(source=Source.HOOK, at=at, event=event, **{**told, **tell(body, at)})


def _starts(body: Mapping[str, Any], _: Stamp) -> dict[str, Any]:
    source = body.get("source")
    if source == "compact":
        return {"compacts": True}  # in the middle of a turn, or not: it does not say
    return {"activity": Activity.IDLE, "starts": True, "clears": source == "clear"}


def _ends(body: Mapping[str, Any], _: Stamp) -> dict[str, Any]:
    return {"ends": True}


def _prompted(body: Mapping[str, Any], _: Stamp) -> dict[str, Any]:
    return {"activity": Activity.WORKING}


def _uses(body: Mapping[str, Any], _: Stamp) -> dict[str, Any]:
    return {"activity": Activity.WORKING, **_tool(body)}


def _used(body: Mapping[str, Any], _: Stamp) -> dict[str, Any]:
    return {"activity": Activity.WORKING, "ended": True, **_tool(body)}


def _wants(body: Mapping[str, Any], _: Stamp) -> dict[str, Any]:
    tool = _tool(body)
    if tool["tool"] in ASKING:
        return {"activity": Activity.WAITING_FOR_INPUT, "question": _asked(body.get("tool_input")), **tool}
    return {"activity": Activity.WAITING_FOR_PERMISSION, "question": _wanted(tool["tool"], body), **tool}


def _notifies(body: Mapping[str, Any], _: Stamp) -> dict[str, Any]:
    kind, message = body.get("notification_type"), words(body.get("message"))
    if not isinstance(kind, str):
        # Older versions say no kind.
        kind = "permission_prompt" if "permission" in message else ""
    if kind in _ASKS:
        return {"activity": _ASKS[kind], "question": message}
    if kind in _NEEDS_INPUT:
        return {"activity": Activity.WAITING_FOR_INPUT, "question": message}
    return {"activity": Activity.IDLE if kind == "idle_prompt" else None}


def _stops(body: Mapping[str, Any], _: Stamp) -> dict[str, Any]:
    """The turn is over. A last line that asks is kept: whoever looks after the session may want to answer."""
    last = body.get("last_assistant_message")
    line = words(last.strip().rpartition("\n")[2]) if isinstance(last, str) else ""
    asks = line if line.endswith("?") else ""
    return {"activity": Activity.IDLE, "question": asks, "subagents": _running(body)}


def _fails(body: Mapping[str, Any], at: Stamp) -> dict[str, Any]:
    said = words(body.get("last_assistant_message"))
    if body.get("error") != "rate_limit":
        return {"activity": Activity.IDLE, "question": said}
    return {"activity": Activity.RATE_LIMITED, "question": said, "resets_at": reset_time(said, at.wall)}


def _subagent_starts(body: Mapping[str, Any], _: Stamp) -> dict[str, Any]:
    return {"activity": Activity.WORKING}


def _subagent_stops(body: Mapping[str, Any], _: Stamp) -> dict[str, Any]:
    return {"activity": Activity.IDLE, "ends": True}


def _compacts(body: Mapping[str, Any], _: Stamp) -> dict[str, Any]:
    return {"activity": Activity.WORKING}


def _compacted(body: Mapping[str, Any], _: Stamp) -> dict[str, Any]:
    by_hand = body.get("trigger") == "manual"
    return {"activity": Activity.IDLE if by_hand else Activity.WORKING, "compacts": True}


def _tool(body: Mapping[str, Any]) -> dict[str, str]:
    return {"tool": words(body.get("tool_name"), NAME), "call": words(body.get("tool_use_id"), NAME)}


def _wanted(tool: str, body: Mapping[str, Any]) -> str:
    given = body.get("tool_input")
    for key in ("command", "file_path", "url", "plan", "description"):
        if text := words(inner(given, key)):
            return f"{tool}: {text}"
    return tool


def _asked(given: Any) -> str:
    questions = inner(given, "questions")
    first = questions[0] if isinstance(questions, list) and questions else given
    return words(inner(first, "question"))


def _running(body: Mapping[str, Any]) -> tuple[str, ...] | None:
    tasks = body.get("background_tasks")
    if not isinstance(tasks, list):
        return None
    found = [
        one for one in tasks[:_SUBAGENTS] if inner(one, "type") == "subagent" and inner(one, "status") == "running"
    ]
    return tuple(words(one["id"], NAME) for one in found if isinstance(one.get("id"), str))


_EVENTS = {
    "SessionStart": _starts,
    "SessionEnd": _ends,
    "UserPromptSubmit": _prompted,
    "PreToolUse": _uses,
    **dict.fromkeys(_TOOL_ENDS, _used),
    "PermissionRequest": _wants,
    "Notification": _notifies,
    "Stop": _stops,
    "StopFailure": _fails,
    "SubagentStart": _subagent_starts,
    "SubagentStop": _subagent_stops,
    "PreCompact": _compacts,
    "PostCompact": _compacted,
}
