"""Sessions, spawns and their audit trail as people read them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from argus.cli.render import Shown, clean, first_line, lasting, table, waits_for


def sessions(found: list[dict[str, Any]]) -> str:
    if not found:
        return "no sessions"
    head = ["SESSION", "STATE", "CONTEXT", "HANDOFF", "NOTES"]
    return table([head, *(_row(one) for one in found)], coloured=1)


def _row(one: dict[str, Any]) -> list[str]:
    usage = one["context_usage"]
    context = "" if usage is None else f"{100 * usage:.0f} % ({one['context_source']})"
    notes = [first_line(one["question"])] if one["question"] else []
    notes += [f"{clean(one['tool'])} runs"] if one["tool"] and one["state"] == "working" else []
    notes += [f"until {one['resets_at']}"] if one["resets_at"] else []
    notes += [f"prompt {one['prompt']['id']}"] if one["prompt"] else []
    notes += waits_for(one)
    notes += ["NEEDS YOU"] if one["needs_you"] else []
    return [clean(one["project"]), clean(one["state"]), context, _handoff(one), "; ".join(notes)]


def _handoff(one: dict[str, Any]) -> str:
    handoff = one["handoff"]
    if handoff and handoff["step"] not in ("done",):
        return clean(f"{handoff['step']}: {handoff['reason']}" if handoff["reason"] else handoff["step"])
    return f"at {one['predicted_handoff']}" if one["predicted_handoff"] else ""


def _sessions(answer: dict[str, Any]) -> Shown:
    return Shown(sessions(answer["sessions"]), 1 if answer["needs_you"] else 0)


def _session(one: dict[str, Any]) -> Shown:
    known = f"{clean(one['because'])}" + (f", {lasting(one['age_seconds'])} ago" if one["age_seconds"] else "")
    return Shown("\n".join([sessions([one]), known]))


def _answered(answer: dict[str, Any]) -> Shown:
    said = "answered" if answer["certain"] else f"answered, perhaps: {clean(answer['reason'])}"
    return Shown("\n".join([said, sessions([answer["session"]])]))


def _context(one: dict[str, Any]) -> Shown:
    if one["context_usage"] is None:
        return Shown(f"{clean(one['project'])}: {'taken' if one['taken'] else 'nothing is known of its context'}")
    share = f"{100 * one['context_usage']:.1f} % ({one['context_used']} of {one['context_total']} tokens)"
    known = f"{clean(one['context_source'])}, {lasting(one['context_age_seconds'] or 0)} ago"
    return Shown(f"{clean(one['project'])}: {share}, {clean(one['band'])}; by {known}")


def _spawns(answer: dict[str, Any]) -> Shown:
    if not answer["spawns"]:
        return Shown("no spawns")
    head = ["ID", "PROJECT", "TASK", "STATUS", "BEGAN", "NOTES"]
    rows = [
        [
            str(one["id"]),
            *(first_line(one[key]) for key in ("project", "task_id", "status", "spawn_time")),
            "; ".join(first_line(one[key]) for key in ("reason", "warning") if one[key]),
        ]
        for one in answer["spawns"]
    ]
    lines = [table([head, *rows], coloured=3)]
    for one in answer["success_rates"]:
        if one["success_rate"] is not None:
            kind = clean(one["task_type"]) or "all tasks"
            over = one["completed"] + one["failed"]
            lines.append(f"{clean(one['project'])}, {kind}: {100 * one['success_rate']:.0f} % of {over} succeeded")
    return Shown("\n".join(lines))


def _spawn(one: dict[str, Any]) -> Shown:
    said = f"spawn {one['id']} ({first_line(one['task_id'])}) of {clean(one['project'])}: {one['status']}"
    return Shown(f"{said}\nbut {clean(one['warning'])}" if one["warning"] else said)


def _audit(answer: dict[str, Any]) -> Shown:
    if not answer["checks"]:
        return Shown("nothing is on record")
    head = ["TIME", "PROJECT", "CHECK", "STATUS", "WHAT"]
    rows = [
        [one["check_time"], clean(one["project"]), one["check_type"], one["status"], first_line(_done(one))]
        for one in answer["checks"]
    ]
    more = [f"more with --before {answer['next']}"] if answer["next"] else []
    return Shown("\n".join([table([head, *rows], coloured=3), *more]))


def _done(one: dict[str, Any]) -> str:
    """What was done; else what was found."""
    usage, source = one["details"].get("usage"), one["details"].get("source")
    found = f"{100 * usage:.0f} % ({source})" if isinstance(usage, int | float) and source else ""
    return str(one["action_taken"] or found)


TEXTS: dict[str, Callable[[Any], Shown]] = {
    "sessions list": _sessions,
    "sessions add": _session,
    "sessions remove": _sessions,
    "sessions context": _context,
    "sessions handoff": _session,
    "sessions tell": lambda answer: Shown(
        "typed" if answer["certain"] else f"typed, perhaps: {clean(answer['reason'])}"
    ),
    "sessions answer": _answered,
    "spawns list": _spawns,
    "spawns add": _spawn,
    "spawns done": _spawn,
    "spawns fail": _spawn,
    "audit": _audit,
}
