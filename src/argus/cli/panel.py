"""The live view as a picture: what is wrong first, then the rest, as much as fits. Pure: values in, a picture out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.console import Group, RenderableType
from rich.styled import Styled
from rich.text import Text

from argus.cli import panel_parts as parts
from argus.cli.panel_room import Plan, planned
from argus.cli.render import WELL, clean, event_line, fall, lasting, verdict

_TRAIL = parts.TRAIL
_EVENTS = 6
_FRAME = 2
"""Lines that are always there: the verdict, and how to leave."""


@dataclass
class Picture:
    """What is known of the daemon at this moment."""

    state: dict[str, Any] | None = None
    trails: dict[str, list[float | None]] = field(default_factory=dict)
    """Of each service, the latencies of its last checks in ms; None for one that failed."""
    events: list[dict[str, Any]] = field(default_factory=list)
    problem: str = ""
    age: float = 0.0
    """Seconds since the state was told."""

    def saw(self, event: Mapping[str, Any]) -> None:
        data = event["data"]
        if event["event"].endswith(":checked"):
            trail = self.trails.setdefault(str(data.get("service")), [])
            trail.append(data.get("latencyMs") if data.get("state") in ("up", "degraded") else None)
            del trail[:-_TRAIL]
        elif event["id"]:
            self.events.append({"channel": event["event"].partition(":")[0], "data": data})
            del self.events[:-_EVENTS]


def paint(picture: Picture, height: int, width: int) -> RenderableType:
    state = picture.state
    if state is None:
        return parts.line(picture.problem or "Looking…", "bold red" if picture.problem else "dim")
    made = [one for one in parts.all_of(state, picture.trails, width) if one.rows]
    plan = planned(made, height - _FRAME, min(len(picture.events), _EVENTS, height // 4))
    drawn: list[RenderableType] = []
    for one, most in zip(plan.parts, plan.lines, strict=True):
        drawn += [*[Text("")] * plan.gap, one.rows_alone(most) if plan.tight else one.drawn(most)]
    drawn += [_counted(made, plan, width)] if plan.tight and height > _FRAME else []
    drawn += _told(picture.events[-plan.events :]) if plan.events else []
    drawn += [parts.line("q quits")] if height >= _FRAME else []
    # What is old is not to look like what is.
    return Group(_head(state, _old(picture)), Styled(Group(*drawn), "dim") if picture.problem else Group(*drawn))


def _counted(made: Sequence[parts.Part], plan: Plan, width: int) -> Text:
    """All that there is no room for: by name where the line is long enough, else as a sum."""
    shown = {one.name: lines for one, lines in zip(plan.parts, plan.lines, strict=True)}
    left = [(one, shown.get(one.name, 0)) for one in made]
    named = f"and {', '.join(one.counted(lines) for one, lines in left if lines < len(one.rows))}"
    rows, sick = sum(len(one.rows) - lines for one, lines in left), sum(one.hidden(lines) for one, lines in left)
    return parts.more(rows, sick, named if len(named) <= width else "") if rows else Text("")


def _old(picture: Picture) -> str:
    """What keeps the state from being told, and since when; in this order, for a line may be cut."""
    what, _, why = picture.problem.partition(": ")
    age = f"{what}; as seen {lasting(picture.age)} ago"
    return clean(f"{age}: {why}" if why else age) if picture.problem else ""


def _told(events: Sequence[dict[str, Any]]) -> list[Text]:
    return [Text(""), *(parts.line(event_line(one["channel"], one["data"])) for one in events)]


def _head(state: dict[str, Any], problem: str) -> Text:
    said, style = _verdict(state, problem)
    budget = state["budget"]
    nothing = "" if state["services"] else "nothing is watched, "
    rest = f"   {nothing}autonomy {state['autonomy']}, restarts left {budget['left']}/{budget['most']}"
    head = Text.assemble(("● ", style), (said, style), (rest, "dim"))
    head.no_wrap, head.overflow = True, "ellipsis"
    return head


def _verdict(state: dict[str, Any], problem: str) -> tuple[str, str]:
    if problem:
        return problem, "bold red"
    if state["infrastructureEvent"]:
        return f"INFRASTRUCTURE EVENT: nothing is restarted until it has ended{_needing(state)}", "bold red"
    if any(one["state"] == "down" for one in state["services"]):
        return f"{fall(state['services'])}{_needing(state)}", "bold red"
    if state["argus"]["store"] != "ok":
        return clean(state["argus"]["store"]), "bold yellow"
    said = verdict(state)
    return said, "bold yellow" if not state["well"] else "bold green" if said == WELL else "bold"


def _needing(state: dict[str, Any]) -> str:
    return f"; needs you: {clean(', '.join(state['needsYou']))}" if state["needsYou"] else ""
