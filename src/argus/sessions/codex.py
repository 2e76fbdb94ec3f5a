"""What Codex tells of itself: the rows of its rollouts, its hooks, and the program it starts after a turn.

A rollout does not tell that a permission is asked for: hooks and the pane do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from argus.core.clock import Stamp
from argus.sessions import hooks
from argus.sessions.model import Activity, ContextReading, Limit, Source
from argus.sessions.resets import reset_time
from argus.sessions.signals import NAME, Sign, inner, number, tokens, told_at, told_by, words

_OVER = frozenset({"task_complete", "turn_complete"})
_BEGUN = frozenset({"task_started", "turn_started"})
_CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call"})
_BLOCKS = 1000
_NOT_SAID = (
    "<environment_context>",
    "<user_instructions>",
    "<turn_aborted>",
    "<skill>",
    "<subagent_notification>",
    "# AGENTS.md instructions",
)
_ANSWERS = frozenset({"function_call_output", "custom_tool_call_output"})


def hook(body: Mapping[str, Any], at: Stamp) -> Sign | None:
    """A hook's body, or what its `notify` program is given: that a turn is over."""
    if body.get("type") != "agent-turn-complete":
        return hooks.read(body, at)
    session = words(body.get("thread-id"), NAME)
    return Sign(Activity.IDLE, Source.HOOK, at, session=session, event="agent-turn-complete", pid=told_by(body))


def folder(body: Mapping[str, Any]) -> str:
    return words(body.get("cwd"), 4096)


def transcript(rows: Iterable[Any], now: Stamp, session: str = "") -> list[Sign]:
    """The signs in rows of a rollout, in their order. Only its first row has the conversation's id: else `session`."""
    signs = []
    for row in rows:
        if inner(row, "type") == "session_meta":
            session = words(inner(row, "payload", "id"), NAME) or session
        sign = read(row, now, session)
        if sign is not None:
            signs.append(sign)
    return signs


def read(row: Any, now: Stamp, session: str = "") -> Sign | None:
    payload = inner(row, "payload")
    if not isinstance(payload, Mapping):
        return None
    at = told_at(row.get("timestamp"), now)
    kind, what = row.get("type"), payload.get("type")
    told: dict[str, Any] | None = None
    if kind == "event_msg" and isinstance(what, str):
        told = _event(what, payload, at, session)
    elif kind == "response_item" and isinstance(what, str):
        told = _item(what, payload)
    elif kind == "compacted":
        told = {"event": "compacted", "compacts": True}
    if told is None:
        return None
    return Sign(**{"activity": None, "source": Source.TRANSCRIPT, "at": at, "session": session, **told})


def prompted(row: Any) -> str | None:
    """The words that somebody gives it with this row. It writes down under the same role what it adds by itself."""
    payload = inner(row, "payload")
    if inner(row, "type") != "response_item" or inner(payload, "type") != "message":
        return None
    content = inner(payload, "content")
    if inner(payload, "role") != "user" or not isinstance(content, list):
        return None
    texts = [one for block in content[:_BLOCKS] if isinstance(one := inner(block, "text"), str)]
    said = [one for one in texts if not one.lstrip().startswith(_NOT_SAID)]
    return "\n".join(said) or None


def speaks(row: Any) -> bool:
    """Whether this row has the context."""
    return inner(row, "type") == "event_msg" and inner(row, "payload", "type") == "token_count" and bool(_used(row))


def _event(what: str, payload: Mapping[str, Any], at: Stamp, session: str) -> dict[str, Any] | None:
    if what in _BEGUN:
        return {"activity": Activity.WORKING, "event": what}
    if what == "token_count":
        return _counted(payload, at, session)
    if what == "turn_aborted":
        return {"activity": Activity.IDLE, "event": what, "interrupts": True}
    if what in ("error", "stream_error") or (what in _OVER and payload.get("error")):
        return _failed(what, payload if what not in _OVER else payload.get("error"), at)
    if what in _OVER:
        return {"activity": Activity.IDLE, "event": what}
    return None


def _item(what: str, payload: Mapping[str, Any]) -> dict[str, Any] | None:
    call = words(payload.get("call_id"), NAME)
    if what in _CALLS:
        tool = words(payload.get("name"), NAME) or what
        return {"activity": Activity.WORKING, "event": what, "tool": tool, "call": call}
    if what in _ANSWERS:
        return {"activity": Activity.WORKING, "event": what, "call": call, "ended": True}
    return None


def _counted(payload: Mapping[str, Any], at: Stamp, session: str) -> dict[str, Any] | None:
    used, total = _used({"payload": payload}), tokens(inner(payload, "info", "model_context_window"))
    context = ContextReading(used, total, Source.TRANSCRIPT, at, session) if used and total else None
    limits = tuple(
        Limit(name, share, number(inner(one, "resets_at")))
        for name in ("primary", "secondary")
        if (share := number(inner(one := inner(payload, "rate_limits", name), "used_percent"))) is not None
    )
    return {"event": "token_count", "context": context, "limits": limits} if context or limits else None


def _used(row: Any) -> int | None:
    """Of the last request, and what came out of it: after a compaction only the sum is told."""
    last = inner(row, "payload", "info", "last_token_usage")
    return tokens(inner(last, "total_tokens")) or tokens(inner(last, "input_tokens"))


def _failed(what: str, error: Any, at: Stamp) -> dict[str, Any] | None:
    said = words(inner(error, "message"))
    if inner(error, "codex_error_info") == "usage_limit_exceeded":
        resets_at = number(inner(error, "resets_at"))
        if resets_at is None:
            resets_at = reset_time(said, at.wall)
        return {"activity": Activity.RATE_LIMITED, "event": what, "question": said, "resets_at": resets_at}
    if what == "stream_error":
        return None  # it tries again by itself
    return {"activity": Activity.IDLE, "event": what, "question": said}
