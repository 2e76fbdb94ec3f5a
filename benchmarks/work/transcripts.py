"""Ten sessions whose transcripts have 50 MB: what a check costs, the first and the ones after.

Each check is all of it: finding the file, reading what was appended, making signs of it, fusing them into a state.
The floor only reads the same bytes and parses the same rows.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from argus.core.clock import SystemClock, stamp
from argus.host.transcripts import MachineTranscripts, Position
from argus.sessions import claude
from argus.sessions.fusing import fuse, shortened
from argus.sessions.signals import Sign
from benchmarks.measure import Stopwatch, in_child, interleave
from benchmarks.plan import Plan
from benchmarks.rows import Goal, Row

_SESSIONS = 10
_LARGE, _SMALL = 50_000_000, 1_000_000
_APPENDED = 20
"""Rows between two checks: 40 KB."""
_KEPT = 256


def _rows(count: int) -> bytes:
    usage = {"input_tokens": 3, "cache_creation_input_tokens": 2000, "cache_read_input_tokens": 40_000}
    call = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "x" * 1500}}
    message = {"role": "assistant", "usage": usage, "content": [call], "stop_reason": "tool_use"}
    said = {"type": "assistant", "isSidechain": False, "sessionId": "s", "timestamp": "2026-11-15T22:00:37.547Z"}
    answer = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "y" * 1700}
    result = {**said, "type": "user", "message": {"role": "user", "content": [answer]}}
    pair = [json.dumps({**said, "message": message}), json.dumps(result)]
    return "".join(f"{pair[n % 2]}\n" for n in range(count)).encode()


def _made(home: Path, size: int) -> None:
    many = _rows(500)
    for n in range(_SESSIONS):
        path = home / ".claude" / "projects" / f"-p{n}" / "s.jsonl"
        path.parent.mkdir(parents=True)
        with path.open("wb") as file:
            while file.tell() < size:
                file.write(many)


def _append(home: Path) -> None:
    new = _rows(_APPENDED)
    for path in home.glob(".claude/projects/*/s.jsonl"):
        with path.open("ab") as file:
            file.write(new)


def turn(home: str, checks: int) -> dict[str, float]:
    """CPU ms per session: of the first check, and of one after it."""
    clock, files, env = SystemClock(), MachineTranscripts(), {"HOME": home}
    positions: dict[int, Position] = {}
    signs: dict[int, list[Sign]] = {n: [] for n in range(_SESSIONS)}

    async def check() -> None:
        for n in range(_SESSIONS):
            path = await files.find("claude", f"/p{n}", env)
            assert path is not None
            look = await files.look(path, positions.get(n), claude.speaks)
            assert look is not None
            assert look.rows
            now = stamp(clock)
            positions[n] = look.position
            signs[n] = shortened([*signs[n], *claude.transcript(look.rows, now)], _KEPT)
            assert fuse(signs[n], now).context is not None

    with asyncio.Runner() as runner:
        with Stopwatch() as first:
            runner.run(check())
        spent = 0.0
        for _ in range(checks):
            _append(Path(home))
            with Stopwatch() as watch:
                runner.run(check())
            spent += watch.cpu
    return {"first": first.cpu / _SESSIONS * 1e3, "after": spent / checks / _SESSIONS * 1e3}


def bare(home: str, checks: int) -> dict[str, float]:
    """Reads and parses the same, and does nothing with it."""
    paths = list(Path(home).glob(".claude/projects/*/s.jsonl"))
    sizes = {path: path.stat().st_size for path in paths}
    spent = 0.0
    for _ in range(checks):
        _append(Path(home))
        with Stopwatch() as watch:
            for path in paths:
                handle = os.open(path, os.O_RDONLY)
                size = os.fstat(handle).st_size
                raw = os.pread(handle, size - sizes[path], sizes[path])
                os.close(handle)
                sizes[path] = size
                assert [json.loads(line) for line in raw.splitlines()]
        spent += watch.cpu
    return {"after": spent / checks / _SESSIONS * 1e3}


def measure(plan: Plan) -> Iterable[Row]:
    sizes = {"large": plan.size(_LARGE, 2_000_000), "small": plan.size(_SMALL, 100_000)}
    homes = {name: plan.folder / f"transcripts-{name}" for name in sizes}
    for name, size in sizes.items():
        _made(homes[name], size)
    checks = plan.size(20, 2)
    turns = {
        "argus": partial(in_child, turn, home=str(homes["large"]), checks=checks),
        "small": partial(in_child, turn, home=str(homes["small"]), checks=checks),
        "bare": partial(in_child, bare, home=str(homes["large"]), checks=checks),
    }
    found = interleave(turns, plan.rounds, warm=not plan.quick)
    figures = {name: {key: [one[key] for one in series] for key in series[0]} for name, series in found.items()}
    note = f"{_SESSIONS} transcripts of {sizes['large'] / 1e6:.0f} MB, 40 KB appended between two checks"
    large, small, floor = figures["argus"], figures["small"], figures["bare"]
    yield Row("transcripts, a check after the first", "CPU ms", large["after"], goal=Goal(5.0), note=note)
    yield Row(
        "transcripts, a check beside reading the same rows",
        "CPU ms",
        large["after"],
        floor=("read and parsed", floor["after"]),
        note=note,
    )
    yield Row(
        "transcripts, a check of 50 MB beside one of 1 MB",
        "CPU ms",
        large["after"],
        floor=("of 1 MB", small["after"]),
        goal=Goal(1.3, of="of 1 MB"),
        note=note,
    )
    yield Row(
        "transcripts, the first check of 50 MB beside one of 1 MB",
        "CPU ms",
        large["first"],
        floor=("of 1 MB", small["first"]),
        goal=Goal(1.5, of="of 1 MB"),
        note=note,
    )
