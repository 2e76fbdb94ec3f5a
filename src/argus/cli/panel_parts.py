"""The parts of the live view as tables: services, agents, sessions, environments; the worst rows of each first."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from argus.cli.render import UPTIME, clean, first_line, held_back, lasting, percent, proposes, roots, waits_for
from argus.cli.render_environments import containers, since, worst_first

TRAIL = 24
"""Readings of a service that its trail shows."""
_BARS = "▁▂▃▄▅▆▇█"
_BAD, _ODD = "bold red", "yellow"
_COLOURS = {
    "up": "green", "alive": "green", "working": "green", "idle": "dim", "pending": "dim", "cleaning": "dim",
    "down": _BAD, "dead": _BAD, "stalled": _BAD, "failed": _BAD,
    "degraded": _ODD, "failing": _ODD, "stale": _ODD, "unknown": _ODD, "rate_limited": _ODD, "interrupted": _ODD,
    "waiting_for_permission": "bold yellow", "waiting_for_input": "bold yellow",
    "spawning": "cyan", "setting up": "cyan",
}  # fmt: skip
_BANDS = {"tiny": _ODD, "full": _BAD}
_WORST_FIRST = ("down", "unknown", "degraded", "pending", "up")
_OVER = ("respawned", "removed")
_LEAST = 2
"""Lines of each part below its title, however small the screen."""
_NARROW, _MIDDLE, _WIDE = 60, 80, 100
"""Columns of a screen from which on there is room for more than a name, its state, and what is to be said of it."""
_CUT: dict[str, Any] = {"ratio": 1, "no_wrap": True, "overflow": "ellipsis"}
_LINE: dict[str, Any] = {"no_wrap": True}
_NUMBER: dict[str, Any] = {"no_wrap": True, "justify": "right"}

Column = tuple[str, int, Mapping[str, Any]]
"""Its title, from which width of the screen on it is there, and how it is drawn."""


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    name: str
    columns: Sequence[Column]
    rows: Sequence[tuple[Text, ...]]
    sick: int
    """How many of the rows are not well; they are the first."""
    width: int

    @property
    def least(self) -> int:
        return min(len(self.rows), _LEAST)

    @property
    def due(self) -> int:
        """Lines in which all that is not well can be seen."""
        return min(len(self.rows), max(self.least, self.sick + 1))

    def hidden(self, shown: int) -> int:
        """Rows that are not well, and not among so many."""
        return max(0, self.sick - shown)

    def counted(self, shown: int) -> str:
        """What is left of it besides the rows that are shown."""
        left, sick = len(self.rows) - shown, self.hidden(shown)
        return f"{left} {self.name}{'' if left == 1 else 's'}" + (f" ({sick} not well)" if sick else "")

    def drawn(self, most: int) -> RenderableType:
        """In so many lines: what does not fit is counted in the last of them."""
        if len(self.rows) <= most:
            return self.rows_alone(most)
        shown = max(1, most - 1)
        return Group(self.rows_alone(shown), more(len(self.rows) - shown, self.hidden(shown)))

    def rows_alone(self, count: int) -> Table:
        table = Table(box=None, pad_edge=False, expand=True, header_style="dim")
        there = [number for number, (_, since, _) in enumerate(self.columns) if self.width >= since]
        for name, _, options in (self.columns[number] for number in there):
            table.add_column(name, **options)
        for row in self.rows[:count]:
            table.add_row(*(row[number] for number in there))
        return table


def line(text: str, style: str = "dim") -> Text:
    """One line, however narrow the screen."""
    return Text(text, style=style, no_wrap=True, overflow="ellipsis")


def more(rows: int, sick: int, said: str = "") -> Text:
    """So many rows are not shown, and so many of them are not well."""
    said = said or f"and {rows} more" + (f", {sick} of them not well" if sick else "")
    return line(said, _ODD if sick else "dim")


def all_of(state: Mapping[str, Any], trails: Mapping[str, Sequence[float | None]], width: int) -> list[Part]:
    ill = frozenset((*state["notWell"], *state["needsYou"]))
    return [
        _services(state["services"], trails, width, proposes(state), _names(ill, "service")),
        _agents(state["agents"], width, _names(ill, "agent")),
        _sessions(state["sessions"], width, _names(ill, "session")),
        _environments(state["environments"], state["timestamp"] / 1000, width, _names(ill, "environment")),
    ]


def _names(ill: Collection[str], kind: str) -> frozenset[str]:
    """Of those of one kind that are not well, or need somebody: the daemon says who, for everybody who shows it."""
    return frozenset(one.removeprefix(f"{kind} ") for one in ill if one.startswith(f"{kind} "))


def _name(width: int) -> dict[str, Any]:
    """One that is long takes the room of all the others; so does a state, on a narrow screen."""
    return {"no_wrap": True, "max_width": min(32, width * 2 // 5)}


def _standing(width: int) -> dict[str, Any]:
    return {"no_wrap": True, "max_width": max(8, width * 3 // 10)}


def _state(name: str) -> Text:
    return Text(clean(name), style=_COLOURS.get(name, ""))


def _services(
    services: Sequence[dict[str, Any]],
    trails: Mapping[str, Sequence[float | None]],
    width: int,
    is_proposing: bool,
    ill: Collection[str],
) -> Part:
    columns: list[Column] = [
        ("SERVICE", 0, _name(width)), ("STATE", 0, _standing(width)), ("LATENCY", _NARROW, _NUMBER),
        ("", _WIDE, {"no_wrap": True, "min_width": TRAIL}), (UPTIME, _MIDDLE, _NUMBER), ("SEEN", 0, _CUT),
    ]  # fmt: skip
    rows = []
    because = roots(services)
    # What fell with another stands below it.
    for one in sorted(
        services, key=lambda one: (one["name"] not in ill, _rank(one), one["name"] in because, one["name"])
    ):
        latency = "" if one["latencyMs"] is None else f"{one['latencyMs']:.1f} ms"
        rows.append((
            Text(clean(one["name"])), _state(_shown(one)), Text(latency),
            _trail(trails.get(one["name"], ())), Text(percent(one["uptime"]["24h"]), style="dim"),
            _seen(one, because, is_proposing),
        ))  # fmt: skip
    return Part("service", columns, rows, sum(one["name"] in ill for one in services), width)


def _shown(one: Mapping[str, Any]) -> str:
    """One that fails and is not confirmed down yet is no longer called up, as on the page."""
    return "failing" if one["state"] == "up" and one["failures"] else str(one["state"])


def _rank(one: Mapping[str, Any]) -> int:
    if one["flapping"]:
        return 1
    return _WORST_FIRST.index(one["state"]) if one["state"] in _WORST_FIRST else 0


def _seen(one: dict[str, Any], because: dict[str, str], is_proposing: bool) -> Text:
    notes = [clean(one["detail"])]
    notes += ["restarting"] if one["repairing"] else []
    notes += ["flapping"] if one["flapping"] else []
    notes += map(clean, held_back(one, because, is_proposing))
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


def _agents(agents: Sequence[dict[str, Any]], width: int, ill: Collection[str]) -> Part:
    columns: list[Column] = [
        ("AGENT", 0, _name(width)), ("STATE", 0, _standing(width)), ("SEEN", _NARROW, _LINE), ("TASK", 0, _CUT),
    ]  # fmt: skip
    rows = []
    for one in sorted(agents, key=lambda one: (one["agent_id"] not in ill, _rank_of_agent(one))):
        seen = "" if one["age_seconds"] is None else f"{lasting(one['age_seconds'])} ago"
        notes = [clean(str(part)) for part in (one["reason"], one["gate"]) if part] + waits_for(one)
        said = _with_notes(first_line(one["current_task"]), notes)
        rows.append((Text(clean(one["agent_id"])), _state(one["state"]), Text(seen), said))
    return Part("agent", columns, rows, sum(one["agent_id"] in ill for one in agents), width)


def _rank_of_agent(one: Mapping[str, Any]) -> int:
    return 1 if one["state"] in ("alive", "spawning") else 2 if one["state"] in _OVER else 0


def _sessions(sessions: Sequence[dict[str, Any]], width: int, ill: Collection[str]) -> Part:
    columns: list[Column] = [
        ("SESSION", 0, _name(width)), ("STATE", 0, _standing(width)), ("CONTEXT", _NARROW, _NUMBER), ("DOING", 0, _CUT),
    ]  # fmt: skip
    rows = []
    for one in sorted(sessions, key=lambda one: (one["project"] not in ill, not one["needs_you"])):
        usage = one["context_usage"]
        context = Text("" if usage is None else f"{100 * usage:.0f} %", style=_BANDS.get(one["band"], ""))
        running = f"{clean(one['tool'])} runs" if one["tool"] and one["state"] == "working" else ""
        handoff = one["handoff"]
        notes = [f"handoff: {clean(handoff['step'])}"] if handoff and handoff["step"] != "done" else []
        said = _with_notes(first_line(one["question"]) or running, notes + waits_for(one))
        rows.append((Text(clean(one["project"])), _state(one["state"]), context, said))
    return Part("session", columns, rows, sum(one["project"] in ill for one in sessions), width)


def _environments(environments: Sequence[dict[str, Any]], now: float, width: int, ill: Collection[str]) -> Part:
    columns: list[Column] = [
        ("ENVIRONMENT", 0, _name(width)), ("STATE", 0, _standing(width)), ("SINCE", _NARROW, _LINE),
        ("CONTAINERS", 0, _CUT),
    ]  # fmt: skip
    rows = [
        (Text(clean(one["name"])), _state(one["state"]), Text(since(one, now)), Text(containers(one)))
        for one in sorted(worst_first(environments), key=lambda one: one["name"] not in ill)
    ]
    return Part("environment", columns, rows, sum(one["name"] in ill for one in environments), width)


def _with_notes(said: str, notes: Sequence[str]) -> Text:
    text = Text(said)
    return text.append(f"{'  ' if said else ''}({'; '.join(notes)})", style="dim") if notes else text
