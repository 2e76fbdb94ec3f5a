"""Incidents as people read them: a list, and one of them as a story from top to bottom. Pure, as render.py."""

from __future__ import annotations

from datetime import datetime
from itertools import groupby
from typing import Any

from argus.cli.render import Shown, clean

_PARTS = {
    "observation": "seen",
    "decision": "decided",
    "act": "done",
    "outcome": "outcome",
    "notification": "told",
    "explained": "waits",
}
_SEVERAL = 5
"""Of those that stand still because of it, named one by one where the story comes to them."""
_NAMED = 30


def _incidents(answer: dict[str, Any]) -> Shown:
    if not answer["incidents"]:
        return Shown("no incidents")
    return Shown("\n".join(_line(one) for one in answer["incidents"]))


def _line(one: dict[str, Any]) -> str:
    state = "open" if one["closed"] is None else "over"
    cause = one["cause"] or one["data"].get("cause", "")
    root = one["data"].get("explainedBy")
    why = f" (because of {clean(root)})" if root else ""
    about = f"{clean(one['subject'])}: " if one["subject"] else ""
    return f"{one['id']}  {one['opened']}  {state}  {clean(one['kind'])}  {about}{clean(cause)}{why}"


def _explain(answer: dict[str, Any]) -> Shown:
    one = answer["incident"]
    opened = datetime.fromisoformat(one["opened"]).timestamp()
    lines = [f"{clean(one['kind'])} {clean(one['subject'])}".rstrip() + f"  ({one['id']})"]
    lines += [clean(one["cause"])] if one["cause"] else []
    lines.append(f"began {one['opened']}, {_ended(one, opened)}")
    if one["data"].get("explainedBy"):
        root = clean(one["data"]["explainedBy"])
        lines.append(f"because of another incident: argus explain {root}")
    if one["data"].get("explainedBefore"):
        lines.append(f"and before that of: argus explain {clean(one['data']['explainedBefore'])}")
    lines += ["", *_story(answer["story"], opened, {event["id"]: event for event in answer["events"]})]
    if not answer["story"]:
        lines.append("its events were pruned from the record")
    if answer["explains"]:
        lines += ["", "because of it:", *_because(answer["explains"])]
    return Shown("\n".join(lines))


def _ended(one: dict[str, Any], opened: float) -> str:
    if not one["closed"]:
        return "still open"
    how = f": {clean(one['data']['ended'])}" if one["data"].get("ended") else ""
    return f"over after {_after(datetime.fromisoformat(one['closed']).timestamp() - opened)}{how}"


def _label(entry: dict[str, Any], events: dict[str, dict[str, Any]]) -> str:
    """What stands still because of it says when it does no more."""
    event = events.get(entry["event"], {})
    match entry["part"], event.get("type"):
        case "explained", "dependency_back" if not event["data"].get("still_waits_for"):
            return "goes on"
        case "explained", "spawn_wait_ended":
            return "goes on" if event["data"].get("outcome") == "started" else "outcome"
        case "explained", "dependency_wait_ended" | "explained_otherwise":
            return "outcome"
    return _PARTS.get(entry["part"], clean(entry["part"]))


def _story(entries: list[dict[str, Any]], opened: float, events: dict[str, dict[str, Any]]) -> list[str]:
    lines: list[str] = []
    for (part, label), several in groupby(entries, key=lambda one: (one["part"], _label(one, events))):
        group = list(several)
        shown = group[:_SEVERAL] if part == "explained" else group
        for one in shown:
            when = f"+{_after(one['timestamp'] / 1000 - opened)}"
            lines.append(f"{when:>12}  {label:<9}{clean(one['text'])}")
            lines += [f"{'':25}{clean(line)}" for line in one["evidence"]]
        if len(group) > len(shown):
            lines.append(f"{'':23}and {len(group) - len(shown)} more")
    return lines


def _because(explains: list[dict[str, Any]]) -> list[str]:
    lines = [
        f"  {clean(one['kind'])} {clean(one['name'])}: {clean(one['what'])}"
        + (f" (argus explain {clean(one['incident'])})" if one["incident"] else "")
        for one in explains[:_NAMED]
    ]
    return [*lines, f"  and {len(explains) - _NAMED} more"] if len(explains) > _NAMED else lines


def _after(seconds: float) -> str:
    """An event may be stamped a moment before its incident was."""
    seconds = max(0.0, seconds)
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


TEXTS = {"incidents": _incidents, "explain": _explain}
