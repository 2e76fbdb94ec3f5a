"""What an environment is called while it is taken away."""

from tests.unit.environments.guard_rig import SHELL, Rig, db, guarded

from argus.environments import orphans
from argus.environments.cleaning import Cleaning
from argus.environments.labels import Owner, Witness
from argus.environments.orphans import Cleanup, Goes, Resource
from argus.environments.runs import State
from argus.host.engine.guarded import GuardedDock

ME = Owner("here", "boot-1", 1, "1")


def test_one_that_is_being_cleaned_says_so_and_to_nobody_else_is_it_left_behind() -> None:
    async def test(rig: Rig) -> None:
        await rig.guard(db())
        seen = []

        async def remove(project: str, going: list[Resource], goes: Goes) -> Cleanup:
            run = rig.book.of(rig.run.key)
            assert run is not None
            others = await orphans.find(dock, project, witness())
            seen.append((run.state, [one.name for one in going], others))
            return Cleanup()

        def witness() -> Witness:
            return Witness(ME, rig.book.alive, lambda owner: True)

        dock = GuardedDock(rig.engines[SHELL.environ["DOCKER_HOST"]], rig.circuit)
        await Cleaning(rig.book, dock, witness, remove).run(rig.run, "act9", force=False)
        # Interrupted would ask for somebody. And a clean that fails before it begins leaves it up: a setup in another
        # folder of the project, which looked for leftovers meanwhile, must not have taken it for one.
        assert seen == [(State.CLEANING, ["db"], [])]

    guarded(test)
