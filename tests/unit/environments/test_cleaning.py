"""What an environment is called while it is taken away."""

from tests.unit.environments.guard_rig import SHELL, Rig, db, guarded

from argus.environments.cleaning import Cleaning
from argus.environments.labels import Owner, Witness
from argus.environments.orphans import Cleanup, Goes, Resource
from argus.environments.runs import State
from argus.host.engine.guarded import GuardedDock

ME = Owner("here", "boot-1", 1, "1")


def test_one_that_is_being_cleaned_says_so_and_what_is_left_of_it_may_go() -> None:
    async def test(rig: Rig) -> None:
        await rig.guard(db())
        seen = []

        async def remove(project: str, going: list[Resource], goes: Goes) -> Cleanup:
            run = rig.book.of(rig.run.key)
            assert run is not None
            seen.append((run.state, run.id in rig.book.alive, [one.name for one in going]))
            return Cleanup()

        dock = GuardedDock(rig.engines[SHELL.environ["DOCKER_HOST"]], rig.circuit)
        cleaning = Cleaning(rig.book, dock, lambda: Witness(ME, rig.book.alive, lambda owner: True), remove)
        await cleaning.run(rig.run, "act9", force=False)
        assert seen == [(State.CLEANING, False, ["db"])], "interrupted would ask for somebody"

    guarded(test)
