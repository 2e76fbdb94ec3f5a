"""The live view as a picture: what is wrong first, then the rest, as much as fits. Pure: values in, a picture out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from argus.cli.render import clean, event_line, first_line, lasting, percent

_BARS = "▁▂▃▄▅▆▇█"
_TRAIL = 24
"""Readings of a service that its trail shows."""
_COLOURS = {
    "up": "green", "alive": "green", "down": "bold red", "dead": "bold red", "degraded": "yellow", "stale": "yellow",
    "unknown": "yellow", "spawning": "cyan", "pending": "dim",
}  # fmt: skip
_WORST_FIRST = ("down", "unknown", "degraded", "pending", "up")
_EVENTS = 6


@dataclass
class Picture:
    """What is known of the daemon at this moment."""

    state: dict[str, Any] | None = None
    trails: dict[str, list[float | None]] = field(default_factory=dict)
    """Of each service, the latencies of its last checks in ms; None for one that failed."""
    events: list[dict[str, Any]] = field(default_factory=list)
    problem: str = ""

    def saw(self, event: Mapping[str, Any]) -> None:
        data = event["data"]
        if event["event"].endswith(":checked"):
            trail = self.trails.setdefault(str(data.get("service")), [])
            trail.append(data.get("latencyMs") if data.get("state") in ("up", "degraded") else None)
            del trail[:-_TRAIL]
        elif event["id"]:
            self.events.append({"channel": event["event"].partition(":")[0], "data": data})
            del self.events[:-_EVENTS]


def paint(picture: Picture, height: int) -> RenderableType:
    state = picture.state
    if state is None:
        return Text(picture.problem or "Looking…", style="bold red" if picture.problem else "dim")
    agents = state["agents"]
    events = picture.events
    room = height - 7 - len(events) - (min(len(agents), 10) + 3 if agents else 0)
    parts: list[RenderableType] = [_head(state, picture.problem), Text(""), _services(state, picture.trails, room)]
    if agents:
        parts += [Text(""), _agents(agents[:10], len(agents))]
    if events:
        parts += [Text(""), *(Text(event_line(one["channel"], one["data"]), style="dim") for one in events)]
    parts.append(Text("q quits", style="dim"))
    return Group(*parts)


def _head(state: Mapping[str, Any], problem: str) -> Text:
    down = [one["name"] for one in state["services"] if one["state"] == "down"]
    unknown = [one["name"] for one in state["services"] if one["state"] == "unknown"]
    if problem:
        verdict, style = problem, "bold red"
    elif state["infrastructureEvent"]:
        verdict, style = "INFRASTRUCTURE EVENT: nothing is restarted until it has ended", "bold red"
    elif down:
        verdict, style = f"{len(down)} of {len(state['services'])} services down", "bold red"
    elif unknown:
        verdict, style = f"{len(unknown)} of {len(state['services'])} services cannot be checked", "bold yellow"
    elif not state["well"]:
        well = state["argus"]["store"] == "ok"
        verdict, style = ("agents need you" if well else clean(state["argus"]["store"])), "bold yellow"
    else:
        verdict, style = "all is well", "bold green"
    budget = state["budget"]
    rest = f"   autonomy {state['autonomy']}, restarts left {budget['left']}/{budget['most']}"
    return Text.assemble(("● ", style), (verdict, style), (rest, "dim"))


def _services(state: Mapping[str, Any], trails: Mapping[str, Sequence[float | None]], room: int) -> RenderableType:
    services = sorted(state["services"], key=lambda one: (_rank(one), one["name"]))
    if not services:
        return Text("nothing is watched", style="dim")
    shown = services[: max(3, room)]
    table = Table(box=None, pad_edge=False, expand=True, header_style="dim")
    for name, options in {
        "SERVICE": {"no_wrap": True, "max_width": 32}, "STATE": {"no_wrap": True},
        "LATENCY": {"justify": "right", "no_wrap": True}, "": {"no_wrap": True, "min_width": _TRAIL},
        "24 H": {"justify": "right", "no_wrap": True}, "SEEN": {"ratio": 1, "no_wrap": True, "overflow": "ellipsis"},
    }.items():  # fmt: skip
        table.add_column(name, **options)  # type: ignore[arg-type]
    for one in shown:
        latency = "" if one["latencyMs"] is None else f"{one['latencyMs']:.1f} ms"
        table.add_row(
            Text(clean(one["name"])), Text(one["state"], style=_COLOURS.get(one["state"], "")), Text(latency),
            _trail(trails.get(one["name"], ())), Text(percent(one["uptime"]["24h"]), style="dim"), _seen(one),
        )  # fmt: skip
    if len(shown) == len(services):
        return table
    return Group(table, Text(f"and {len(services) - len(shown)} more", style="dim"))


def _rank(one: Mapping[str, Any]) -> int:
    if one["flapping"]:
        return 1
    return _WORST_FIRST.index(one["state"]) if one["state"] in _WORST_FIRST else 0


def _seen(one: Mapping[str, Any]) -> Text:
    notes = [clean(one["detail"])]
    notes += ["restarted, verifying"] if one["repairing"] else []
    notes += ["flapping"] if one["flapping"] else []
    notes += [f"held back: {one['gate']}"] if one["gate"] and not one["repairing"] else []
    notes += ["in maintenance"] if one["pausedUntil"] else []
    return Text("; ".join(notes), style="" if one["state"] == "down" else "dim")


def _trail(readings: Sequence[float | None]) -> Text:
    """The last latencies as bars against the slowest of them; a failure stands out."""
    slowest = max((one for one in readings if one is not None), default=0.0) or 1.0
    text = Text()
    for one in readings:
        if one is None:
            text.append("✕", style="red")
        else:
            text.append(_BARS[min(len(_BARS) - 1, int(one / slowest * (len(_BARS) - 1)))], style="green")
    return text


def _agents(agents: Sequence[Mapping[str, Any]], count: int) -> RenderableType:
    table = Table(box=None, pad_edge=False, expand=True, header_style="dim")
    for name in ("AGENT", "STATE", "SEEN"):
        table.add_column(name, no_wrap=True)
    table.add_column("TASK", ratio=1, no_wrap=True, overflow="ellipsis")
    for one in agents:
        seen = "" if one["age_seconds"] is None else f"{lasting(one['age_seconds'])} ago"
        notes = "; ".join(clean(str(part)) for part in (one["reason"], one["gate"]) if part)
        task = Text(first_line(one["current_task"]))
        table.add_row(
            Text(clean(one["agent_id"])), Text(one["state"], style=_COLOURS.get(one["state"], "")), Text(seen),
            task.append(f"  ({notes})", style="dim") if notes else task,
        )  # fmt: skip
    return table if count <= len(agents) else Group(table, Text(f"and {count - len(agents)} more", style="dim"))
