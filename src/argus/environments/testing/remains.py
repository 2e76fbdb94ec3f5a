"""What is left of a run of suites when Argus is killed in the middle of it, and how the next Argus ends that.

A run is on record while it lasts, with the mark that all its commands carry. The next Argus ends what still carries it
and removes its folders: a command that goes on would change what the next run looks at.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from argus.core.clock import stamp
from argus.core.events import Draft
from argus.environments.endings import to_its_end
from argus.environments.tools import Tools
from argus.host import leftovers, scratch
from argus.store.records import Act, Append, CloseAct, OpenAct

RUN = "test_run"


@contextlib.asynccontextmanager
async def on_record(tools: Tools, project: str, project_path: str) -> AsyncIterator[None]:
    intent = {
        "project": project,
        "projectPath": project_path,
        "mark": tools.machine.commands.mark,
        "scratch": scratch.place(),
    }
    act = Act(tools.new_id(), RUN, project_path, stamp(tools.clock), None, intent)
    await tools.notes.note(OpenAct(act))
    try:
        yield
    finally:
        await to_its_end(tools.notes.note(CloseAct(act.id, "ended", tools.clock.wall(), {})))


async def restore(tools: Tools) -> None:
    """Ends what runs of an earlier Argus left, and says that they were interrupted."""
    for act in await tools.store.open_acts():
        if act.kind != RUN:
            continue
        said = act.intent
        await asyncio.to_thread(_end, str(said["mark"]), str(said["scratch"]))
        data: dict[str, Any] = {
            "project": said["project"],
            "projectPath": said["projectPath"],
            "status": "interrupted",
            "reason": "Argus was killed while it ran",
        }
        ended = Draft("test", "run_ended", str(said["project"]), data)
        await tools.store.commit(CloseAct(act.id, "interrupted", tools.clock.wall(), {}), Append(ended))


def _end(mark: str, place: str) -> None:
    leftovers.end_all(mark)
    scratch.remove(place, mark)
