"""Taking runs away, and what dead ones left."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from argus.environments import book, orphans
from argus.environments.book import CLEAN, Book
from argus.environments.labels import RUN, Witness
from argus.environments.orphans import Cleanup, Goes, Resource, but_volumes, everything
from argus.environments.runs import Run, State
from argus.host.engine.resources import Dock

Remove = Callable[[str, list[Resource], Goes], Awaitable[Cleanup]]


@dataclass(frozen=True, slots=True)
class Cleaning:
    book: Book
    dock: Dock
    witness: Callable[[], Witness]
    remove: Remove
    """Of a project, those of them that go."""

    async def leftovers(self, project: str) -> Cleanup:
        return await self.remove(project, await orphans.find(self.dock, project, self.witness()), everything)

    async def run(self, run: Run, act_id: str, *, force: bool) -> Cleanup:
        """By force also its volumes, and what dead runs of its project left."""
        act = await self.book.begin(CLEAN, act_id, replace(run, state=State.CLEANING))
        began = False
        try:
            # Its resources are leftovers like any others to us; by force all of the project's go.
            witness = self.witness()
            others = replace(witness, runs=witness.runs - {run.id})
            found = await orphans.find(self.dock, run.project, others)
            going = found if force else [one for one in found if one.labels.get(RUN) == run.id]
            goes = everything if force or not run.was_up else but_volumes
            began = True
            done = await self.remove(run.project, going, goes)
        except BaseException as error:
            after = replace(run, state=State.INTERRUPTED) if began else run
            await self.book.end(act, after, "failed", book.why(error))
            raise
        outcome = "failed" if done.failed else "cleaned"
        await self.book.end(act, replace(run, state=_after(run, done)), outcome, {})
        return done


def _after(run: Run, done: Cleanup) -> State:
    if not done.failed:
        return State.NONE
    # Where every container of it was refused to go, it stands as it did.
    is_less = any(one.kind == "container" and one.labels.get(RUN) == run.id for one in done.removed)
    kept = any(one.kind == "container" and one.labels.get(RUN) == run.id for one, _ in done.failed)
    return run.state if kept and not is_less else State.INTERRUPTED
