"""The environments' part on a simulated clock, engine and store, over many seeds; and bugs put in on purpose, found."""

from dataclasses import replace

import pytest
from tests.simulation import seeds
from tests.simulation.environments_life import Plant
from tests.simulation.environments_troubles import play, rest
from tests.simulation.environments_world import World
from tests.simulation.test_services import broken
from tests.simulation.world import Broken

from argus.core.breaker import Pass
from argus.core.circuit import Circuit
from argus.environments.guarding import policy
from argus.environments.guarding.model import Settings
from argus.environments.guarding.signs import Signs
from argus.environments.labels import MANAGED
from argus.testing import run_simulated


def simulate(seed: int, plant: Plant | None = None) -> World:
    try:
        world: World = run_simulated(lambda loop: play(loop, seed, plant or Plant()))
    except BaseException as error:
        found = broken(error)
        if found is None:
            raise
        raise Broken(f"seed {seed}: {found}") from error
    return world


@pytest.mark.parametrize("first", seeds.BLOCKS)
def test_what_must_always_hold_holds_whatever_happens(first: int) -> None:
    worlds = [simulate(seed) for seed in seeds.of(first)]
    # A world in which nothing is ever started again would hold everything, and prove nothing.
    assert any(attempt for world in worlds for _, _, attempt in world.rules.restarts)
    assert any(not attempt for world in worlds for _, _, attempt in world.rules.restarts)


def test_where_nothing_happens_nothing_is_done() -> None:
    for seed in range(20):
        world = run_simulated(lambda loop, seed=seed: rest(loop, seed))  # type: ignore[misc]
        assert world.rules.restarts == []
        assert world.rules.told == {}, "nobody is told anything"


def test_the_same_seed_gives_the_same_story() -> None:
    assert simulate(7).rules.restarts == simulate(7).rules.restarts


class LetsEverybodyThrough(Circuit):
    def _ask(self) -> Pass:
        return Pass(self.breaker.probes, self.breaker.probes) if self.breaker.probe else super()._ask()


def at_once(spent: int, settings: Settings) -> policy.Restart | policy.GiveUp | policy.Report:
    decision = policy.decide(spent, settings)
    return replace(decision, delay=0.0) if isinstance(decision, policy.Restart) else decision


def as_at_first(spent: int, settings: Settings) -> policy.Restart | policy.GiveUp | policy.Report:
    decision = policy.decide(spent, settings)
    return replace(decision, delay=settings.delay) if isinstance(decision, policy.Restart) else decision


def never_on_purpose(made: object, signs: Signs, **more: object) -> policy.Finding:
    asked = replace(signs, asked=None, is_stopped=False)
    return policy.judge(made, asked, **more)  # type: ignore[arg-type]


PLANTS = {
    "restarts-what-a-person-stopped": Plant(judge=never_on_purpose),
    "ignores-the-maximum": Plant(decide=lambda spent, settings: policy.decide(spent, replace(settings, most=99))),
    "does-not-wait": Plant(decide=at_once),
    "waits-no-longer-after-each-restart": Plant(decide=as_at_first),
    "acts-before-it-records": Plant(records_no_intent=True),
    "forgets-its-count-when-it-is-killed": Plant(forgets_its_count=True),
    "forgets-what-it-left-alone-when-it-is-killed": Plant(forgets_what_was_left=True),
    "tells-of-one-failure-again-and-again": Plant(settles_nothing=True),
    "lets-everybody-through-a-half-open-breaker": Plant(circuit=LetsEverybodyThrough),
    "removes-what-another-runs": Plant(is_orphan=lambda carried, project, witness: True),
    "removes-other-projects": Plant(
        is_orphan=lambda carried, project, witness: True, of_project=lambda project: {MANAGED: "true"}
    ),
}


@pytest.mark.parametrize("name", PLANTS)
def test_a_bug_put_in_on_purpose_is_found_within_200_seeds(name: str) -> None:
    for seed in range(200):
        try:
            simulate(seed, PLANTS[name])
        except Broken:
            return
    pytest.fail(f"{name} was not found in 200 seeds")
