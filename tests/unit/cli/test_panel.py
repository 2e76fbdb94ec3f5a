"""The live view: every part of the house, the worst first, in as many lines as there are."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console
from tests.unit.test_render_cli import service, state

from argus.cli.panel import Picture, paint
from argus.cli.panel_room import shares


def agent(id: str, state: str = "alive", **more: Any) -> dict[str, Any]:
    task = {"current_task": "SHOP-1: build it", "age_seconds": 3.0, "reason": "", "gate": None, "waits_for": []}
    return {"agent_id": id, "state": state, **task, **more}


def session(project: str, state: str = "working", **more: Any) -> dict[str, Any]:
    known = {"context_usage": 0.62, "band": "small", "tool": "Bash", "question": "", "handoff": None, "waits_for": []}
    return {"project": project, "state": state, "needs_you": False, **known, **more}


def environment(project: str, state: str = "up", **guards: str) -> dict[str, Any]:
    return {"name": project, "project": project, "state": state, "since": "2027-01-15T07:58:00Z", "guards": guards}


def seen(
    height: int = 40, width: int = 120, events: int = 0, known: Mapping[str, Any] = MappingProxyType({}), **parts: Any
) -> list[str]:
    services = [{"flapping": False, **one} for one in parts.pop("services", [service()])]
    parts = {"notWell": [*_not_well(services, **parts)], **parts}
    told = {"type": "service_down", "service": "api", "timestamp": 1_800_000_000_000, "cause": "connection refused"}
    picture = Picture(state(*services, **parts), events=[{"channel": "services", "data": told}] * events, **known)
    console = Console(width=width, height=height, file=io.StringIO(), color_system=None)
    console.print(paint(picture, height, width))
    written = console.file.getvalue()  # type: ignore[attr-defined]
    return [line.rstrip() for line in written.rstrip("\n").split("\n")]


def _not_well(
    services: Sequence[dict[str, Any]],
    agents: Sequence[dict[str, Any]] = (),
    sessions: Sequence[dict[str, Any]] = (),
    environments: Sequence[dict[str, Any]] = (),
    **_: Any,
) -> Iterator[str]:
    """As the daemon would say it."""
    yield from (f"service {one['name']}" for one in services if one["state"] == "down" or one["failures"])
    yield from (f"agent {one['agent_id']}" for one in agents if one["state"] in ("dead", "stale"))
    yield from (f"session {one['project']}" for one in sessions if one["needs_you"])
    sick = {"exhausted", "failed", "waiting"}
    yield from (
        f"environment {one['name']}"
        for one in environments
        if one["state"] in ("interrupted", "failed") or sick & {*one["guards"].values()}
    )


def test_who_is_not_well_is_as_the_daemon_says_and_stands_first():
    services = [*(service(f"s{n:02}") for n in range(20)), service("z", failures=2)]
    environments = [environment("fine"), environment("missed", db="left alone")]
    parts = {"agents": [agent("a1"), agent("z1", "dead")], "environments": environments}
    lines = seen(16, services=services, **parts, notWell=["service z", "environment missed"])
    assert next(line.split()[:2] for line in lines if line.startswith("z ")) == ["z", "failing"]
    named = [line.split()[0] for line in lines if line]
    assert named.index("missed") < named.index("fine")
    assert not any("not well" in line for line in lines[1:]), "who is not well is not among those that are left out"


def test_every_part_has_its_table():
    lines = seen(
        agents=[agent("a1")],
        sessions=[session("checkout"), session("docs", "waiting_for_input", needs_you=True, question="Publish it?")],
        environments=[environment("shop", db="exhausted", web="well", api="well", once="left alone")],
    )
    assert "SHOP-1: build it" in next(line for line in lines if line.startswith("a1"))
    assert [line.split() for line in lines if line.startswith(("checkout", "docs"))] == [
        ["docs", "waiting_for_input", "62", "%", "Publish", "it?"],
        ["checkout", "working", "62", "%", "Bash", "runs"],
    ]
    (shop,) = [line.split("  ") for line in lines if line.startswith("shop")]
    assert [one.strip() for one in shop if one][-2:] == ["2 min", "db exhausted; 2 well; 1 left alone"]


def test_what_is_not_there_takes_no_room():
    lines = seen()
    assert not any(line.startswith(("AGENT", "SESSION", "ENVIRONMENT")) for line in lines)
    assert lines[-1] == "q quits"


def test_the_head_names_who_waits_for_somebody():
    assert seen(well=False, needsYou=["session docs"])[0].startswith("● needs you: session docs ")
    down = seen(services=[service(state="down")], well=False, needsYou=["agent a1"])
    assert down[0].startswith("● 1 of 1 services is down; needs you: agent a1 ")


def test_what_fell_with_another_stands_below_it_and_is_counted_apart():
    fell = {"state": "down", "gate": "dependency down", "explainedBy": "i2"}
    lines = seen(
        services=[
            service("a", incident="i1", **fell),
            service("b"),
            service("root", state="down", incident="i2", gate="budget"),
        ],
        well=False,
        needsYou=["service root"],
    )
    assert lines[0].startswith("● 1 of 3 services is down, and 1 more because of it; needs you: service root ")
    rows = [line for line in lines if line.startswith(("a ", "b ", "root "))]
    assert [row.split()[0] for row in rows] == ["root", "a", "b"]
    assert "held back: dependency down (root)" in rows[1]


def test_what_is_old_says_how_old_it_is():
    silent = {"problem": "Argus does not answer: connection refused", "age": 83.0}
    assert seen(known=silent)[0].startswith("● Argus does not answer; as seen 1 min ago: connection refused ")
    assert "as seen 1 min" in seen(known=silent, width=40)[0]


def full(**more: Any) -> dict[str, Any]:
    """All four parts, with more than fits on most screens, and somebody waited for in the last."""
    return {
        "services": [service(f"s{n}") for n in range(50)],
        "agents": [agent(f"a{n}") for n in range(10)] + [agent("z", "dead")],
        "sessions": [session(f"p{n}") for n in range(20)],
        "environments": [environment("shop", db="well"), environment("bad", db="exhausted", web="well")],
        **more,
    }


@pytest.mark.parametrize("height", [16, 24, 33, 60, 200])
@pytest.mark.parametrize("events", [0, 6])
def test_it_says_what_it_leaves_out(height: int, events: int):
    lines = seen(height, events=events, **full())
    first = next(n for n, line in enumerate(lines) if line.startswith("AGENT"))
    assert lines[first + 1].startswith("z "), "the worst first"
    if height < 100:
        assert any(line.startswith("and ") and line.endswith(" more") for line in lines)


@pytest.mark.parametrize("events", [0, 6])
@pytest.mark.parametrize("width", [20, 60, 200])
@pytest.mark.parametrize("height", [2, 3, 4, 5, 8, 10, 12, 15, 16, 20, 24, 60])
def test_it_always_fits_with_its_head_and_how_to_leave(height: int, width: int, events: int):
    lines = seen(height, width, events, **full())
    assert len(lines) <= height
    assert max(map(cell_len, lines)) <= width
    assert lines[0].startswith("● ")
    assert lines[-1] == "q quits"


@pytest.mark.parametrize(("width", "height"), [(40, 10), (60, 15)])
def test_on_a_small_screen_what_needs_somebody_stands_before_what_is_well(width: int, height: int):
    lines = seen(height, width, events=6, **full())
    assert any(line.startswith("bad ") and "exhausted" in line for line in lines)
    assert any(line.startswith("z ") and "dead" in line for line in lines)
    assert not any("service_down" in line for line in lines), "events give way first"


def test_what_there_is_no_room_for_is_counted_in_a_line():
    well = {"services": [service("s")] * 3, "sessions": [session("p")] * 3, "environments": [environment("e")] * 2}
    lines = seen(10, 40, events=6, **well, agents=[agent("a"), agent("z", "dead"), agent("y", "stale")])
    assert [line.split()[0] for line in lines[1:-2]] == ["SERVICE", "s", "s", "AGENT", "z", "y", "a"]
    assert lines[-2] == "and 6 more"
    lines = seen(10, 60, events=6, **well, agents=[agent("a"), agent("z", "dead"), agent("y", "stale")])
    assert lines[-2] == "and 1 service, 3 sessions, 2 environments"
    counted = "and 50 services, 11 agents (1 not well), 20 sessions, 2 environments (1 not well)"
    assert seen(4, **full())[-2] == counted
    assert seen(4, 40, **full())[-2] == "and 83 more, 2 of them not well"


def test_on_a_small_screen_one_row_of_each_that_needs_somebody_comes_before_all_else():
    needs = {"needs_you": True, "question": "May I?"}
    lines = seen(
        10,
        40,
        events=6,
        services=[service("db", state="down"), service("web")],
        agents=[agent("a1")],
        sessions=[session("checkout"), session("docs", "waiting_for_input", **needs)],
        environments=[*(environment(f"well{n}", db="well") for n in range(3)), environment("leaky", db="exhausted")],
    )
    assert {"db", "docs", "leaky"} <= {line.split()[0] for line in lines}
    assert lines[-2] == "and 5 more"


def test_rows_that_matter_stand_before_events():
    down = [service(f"s{n}", state="down") for n in range(9)]
    lines = seen(21, events=6, services=[*down, *(service(f"t{n}") for n in range(9))], agents=[agent("a1")])
    assert sum(" down " in line for line in lines[1:]) == 9
    assert sum("service_down" in line for line in lines) == 3, "they have what is left"


def test_a_part_that_is_well_leaves_its_room_to_what_is_not():
    sick = [environment(f"e{n}", db="exhausted") for n in range(9)]
    lines = seen(17, services=[service(f"s{n}") for n in range(50)], environments=sick)
    assert sum("exhausted" in line for line in lines) == 9


def test_what_is_not_well_is_counted_by_itself_where_it_does_not_fit():
    lines = seen(10, services=[service(f"s{n}", state="down" if n < 20 else "up") for n in range(30)])
    assert [line for line in lines if line.startswith("and ")] == ["and 25 more, 15 of them not well"]


def test_environments_stand_worst_first():
    ordered = ["given-up", "given-up-too", "broken", "cut", "waits", "fine", "left"]
    mixed = [
        environment("fine", db="well"),
        environment("cut", "interrupted"),
        environment("left", db="left alone"),
        environment("waits", db="waiting", web="well"),
        environment("given-up-too", "cleaning", db="failed"),
        environment("broken", "failed"),
        environment("given-up", db="exhausted", web="well"),
    ]
    lines = seen(environments=mixed)
    first = next(n for n, line in enumerate(lines) if line.startswith("ENVIRONMENT"))
    assert sorted(line.split()[0] for line in lines[first + 1 : first + 3]) == sorted(ordered[:2])
    assert {line.split()[0] for line in lines[first + 3 : first + 5]} == set(ordered[2:4])
    assert [line.split()[0] for line in lines[first + 5 : first + 8]] == ordered[4:]


@pytest.mark.parametrize("part", ["agents", "sessions", "environments"])
def test_a_long_name_leaves_room_for_the_other_columns(part: str):
    long = "名" * 60
    rows = {"agents": agent(long), "sessions": session(long), "environments": environment(long, db="well")}
    (line,) = [line for line in seen(24, 100, **{part: [rows[part]]}) if "名" in line]
    what = {"agents": "alive", "sessions": "working", "environments": "up"}
    assert what[part] in line.split()
    assert line.endswith({"agents": "build it", "sessions": "Bash runs", "environments": "1 well"}[part])


@pytest.mark.parametrize("name", ["db", "a-service-with-a-name-of-38-characters"])
@pytest.mark.parametrize("width", [40, 60, 80, 99])
def test_on_a_narrow_screen_the_trail_gives_way_to_state_and_reason(width: int, name: str):
    down = service(name, state="down", latencyMs=None, detail="connection refused")
    known = {"trails": {name: [1.0] * 24}}
    lines = seen(24, width, known=known, services=[down])
    (row,) = [line for line in lines if line.startswith(name[:8].ljust(3))]
    assert "down" in row.split()
    assert "connection" in row
    assert "█" not in row
    wide = seen(24, 140, known=known, services=[down])
    assert any("█" * 24 in line for line in wide)


@pytest.mark.parametrize(
    ("room", "levels", "given"),
    [
        pytest.param(30, [[5, 2, 3]], [5, 2, 3], id="enough-for-all"),
        pytest.param(12, [[50, 2, 50]], [5, 2, 5], id="what-one-does-not-need-goes-to-the-others"),
        pytest.param(12, [[2, 2, 2], [2, 2, 8], [50, 2, 9]], [2, 2, 8], id="what-comes-first-is-given-first"),
        pytest.param(9, [[]], [], id="nobody"),
    ],
)
def test_lines_are_shared(room: int, levels: list[list[int]], given: list[int]):
    assert shares(room, *levels) == given
