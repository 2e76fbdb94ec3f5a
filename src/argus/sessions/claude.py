"""What Claude Code tells of itself: its hooks, its status line, and the rows of its transcripts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from argus.core.clock import Stamp
from argus.sessions import hooks
from argus.sessions.model import Activity, ContextReading, Limit, Source
from argus.sessions.prompts import CLEARS
from argus.sessions.resets import reset_time
from argus.sessions.signals import NAME, Sign, inner, number, tokens, told_at, told_by, words

WINDOW = 200_000
_BLOCKS = 1000
_USAGE = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_INTERRUPTED = "[Request interrupted by user"
_TYPED_AT_IT = ("<local-command-", "<command-name>", "<bash-input>", "<bash-stdout>")
"""Beginnings of rows that are written for what the program did by itself: no turn follows."""


_NOT_SAID = ("<task-notification>", "<bash-notification>", "<system-reminder>")
"""Beginnings of what waits in the same queue, and nobody has typed."""


def hook(body: Mapping[str, Any], at: Stamp) -> Sign | None:
    return hooks.read(body, at)


def status_line(body: Mapping[str, Any], at: Stamp) -> Sign | None:
    """What the status line is handed: context, cost, limits. It says nothing of what the agent does."""
    session = words(body.get("session_id"), NAME)
    used = _used(inner(body, "context_window", "current_usage"))
    total = tokens(inner(body, "context_window", "context_window_size"))
    # Before the first answer there is no usage. That is not a small context, it is none.
    context = ContextReading(used, total, Source.STATUS_LINE, at, session) if used is not None and total else None
    limits = _limits(body.get("rate_limits"))
    cost = number(inner(body, "cost", "total_cost_usd"))
    if context is None and not limits and cost is None:
        return None
    return Sign(
        activity=None,
        source=Source.STATUS_LINE,
        at=at,
        session=session,
        event="status line",
        context=context,
        limits=limits,
        cost=cost,
        transcript=words(body.get("transcript_path"), 4096),
        pid=told_by(body),
    )


def transcript(rows: Iterable[Any], now: Stamp, window: int = WINDOW) -> list[Sign]:
    """The signs in rows of a transcript, in their order. `window`: the whole context, which no row tells."""
    return [sign for row in rows if (sign := read(row, now, window)) is not None]


def read(row: Any, now: Stamp, window: int = WINDOW) -> Sign | None:
    if not isinstance(row, Mapping) or row.get("isSidechain") or row.get("isMeta"):
        return None
    tell = _ROWS.get(row["type"]) if isinstance(row.get("type"), str) else None
    if tell is None:
        return None
    at = told_at(row.get("timestamp"), now)
    session = words(row.get("sessionId"), NAME)  # `session_id` in the same row can be the one before a clear
    told = tell(row, at, session, window)
    if told is None:
        return None
    return Sign(**{"activity": None, "source": Source.TRANSCRIPT, "at": at, "session": session, **told})


def prompted(row: Any) -> str | None:
    """The words that somebody gives it with this row: as a turn of their own, or while it works, when they wait to be
    handed over with the result of what it does just then."""
    if not isinstance(row, Mapping) or row.get("isSidechain") or row.get("isMeta"):
        return None
    match row.get("type"):
        case "queue-operation":
            found = row.get("content") if row.get("operation") == "enqueue" else None
        case "attachment":
            is_prompt = inner(row, "attachment", "type") == "queued_command"
            found = inner(row, "attachment", "prompt") if is_prompt else None
        case "user" if (_user(row) or {}).get("event") == "prompt":
            content = inner(row, "message", "content")
            texts = (inner(block, "text") for block in _content(row))
            found = content if isinstance(content, str) else "\n".join(one for one in texts if isinstance(one, str))
        case _:
            return None
    if isinstance(found, list):
        found = "\n".join(one for block in found if isinstance(one := inner(block, "text"), str))
    if not isinstance(found, str) or found.startswith(_NOT_SAID) or found.strip() in CLEARS:
        return None
    return found


def speaks(row: Any) -> bool:
    """Whether this row has the context of the main thread: who looks for it from the end of a file can stop here."""
    if not isinstance(row, Mapping) or row.get("type") != "assistant" or row.get("isSidechain"):
        return False
    return bool(_used(inner(row, "message", "usage")))


def _assistant(row: Mapping[str, Any], at: Stamp, session: str, window: int) -> dict[str, Any]:
    if row.get("isApiErrorMessage"):
        return _failed(row, at)
    used = _used(inner(row, "message", "usage"))
    # A row that the program made up itself has a usage of nothing.
    context = ContextReading(used, window, Source.TRANSCRIPT, at, session) if used and window > 0 else None
    call = next((block for block in _content(row) if inner(block, "type") == "tool_use"), None)
    if call is not None:
        tool, id = words(inner(call, "name"), NAME), words(inner(call, "id"), NAME)
        return {"activity": Activity.WORKING, "event": "assistant", "tool": tool, "call": id, "context": context}
    over = inner(row, "message", "stop_reason") in ("end_turn", "stop_sequence", "max_tokens", "refusal")
    activity = Activity.IDLE if over else Activity.WORKING
    return {"activity": activity, "event": "assistant", "context": context}


def _failed(row: Mapping[str, Any], at: Stamp) -> dict[str, Any]:
    said = words(next((inner(block, "text") for block in _content(row)), None))
    if row.get("error") != "rate_limit":
        return {"activity": Activity.IDLE, "event": "error", "question": said}
    resets_at = number(inner(row, "quotaLimits", "resetsAt"))
    if resets_at is None:
        resets_at = reset_time(said, at.wall)
    return {"activity": Activity.RATE_LIMITED, "event": "error", "question": said, "resets_at": resets_at}


def _user(row: Mapping[str, Any], *_: Any) -> dict[str, Any] | None:
    content = _content(row)
    for block in content:
        text = inner(block, "text")
        if isinstance(text, str) and text.startswith(_INTERRUPTED):
            return {"activity": Activity.IDLE, "event": "interrupted", "interrupts": True}
    answered = next((block for block in content if inner(block, "type") == "tool_result"), None)
    if answered is not None:
        call = words(inner(answered, "tool_use_id"), NAME)
        return {"activity": Activity.WORKING, "event": "tool result", "call": call, "ended": True}
    if row.get("isCompactSummary"):
        return None
    text = inner(row, "message", "content")
    if isinstance(text, str) and text.startswith(_TYPED_AT_IT):
        return None
    return {"activity": Activity.WORKING, "event": "prompt"}


def _system(row: Mapping[str, Any], at: Stamp, session: str, window: int) -> dict[str, Any] | None:
    if row.get("subtype") != "compact_boundary":
        return None
    after = tokens(inner(row, "compactMetadata", "postTokens"))
    context = ContextReading(after, window, Source.TRANSCRIPT, at, session) if after and window > 0 else None
    return {"event": "compacted", "compacts": True, "context": context}


_ROWS = {"assistant": _assistant, "user": _user, "system": _system}


def _content(row: Mapping[str, Any]) -> list[Any]:
    content = inner(row, "message", "content")
    return content[:_BLOCKS] if isinstance(content, list) else []


def _used(usage: Any) -> int | None:
    """Of the window: what went in, from the cache or not. What came out counts with the next row."""
    parts = [tokens(inner(usage, key)) for key in _USAGE]
    return None if parts[0] is None else sum(part or 0 for part in parts)


def _limits(said: Any) -> tuple[Limit, ...]:
    if not isinstance(said, Mapping):
        return ()
    found = [(words(name, 50), one) for name, one in list(said.items())[:10] if isinstance(name, str)]
    return tuple(
        Limit(name, used, number(inner(one, "resets_at")))
        for name, one in found
        if (used := number(inner(one, "used_percentage"))) is not None
    )
