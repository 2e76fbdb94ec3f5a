"""The agents' deciding code on a simulated clock and world, over many seeds; and bugs put in on purpose, found."""

from dataclasses import replace

import pytest
from tests.simulation import seeds
from tests.simulation.agents_life import Plant
from tests.simulation.agents_troubles import play
from tests.simulation.agents_world import World
from tests.simulation.test_services import broken
from tests.simulation.world import Broken

from argus.agents import policy
from argus.core.vital import Vital
from argus.testing import run_simulated


def simulate(seed: int, plant: Plant | None = None) -> World:
    try:
        return run_simulated(lambda loop: play(loop, seed, plant or Plant()))
    except BaseException as error:
        found = broken(error)
        if found is None:
            raise
        raise Broken(f"seed {seed}: {found}") from error


def respawns(world: World) -> list[tuple[str, list[float]]]:
    return [(lineage, task.respawns) for lineage, task in world.rules.tasks.items()]


@pytest.mark.parametrize("first", seeds.BLOCKS)
def test_what_must_always_hold_holds_whatever_happens(first: int) -> None:
    worlds = [simulate(seed) for seed in seeds.of(first)]
    # A world in which nothing is ever started again would hold everything, and prove nothing.
    assert any(times for world in worlds for _, times in respawns(world))


def test_the_same_seed_gives_the_same_story() -> None:
    assert respawns(simulate(7)) == respawns(simulate(7))


def looks_at_nothing(facts: policy.Facts) -> policy.Decision:
    return policy_decide(replace(facts, vital=Vital.DEAD))


policy_decide = policy.decide
PLANTS = {
    "claims-nothing": Plant(claims_nothing=True),
    "acts-before-it-records": Plant(records_no_intent=True),
    "forgets-its-respawns-when-it-is-killed": Plant(forgets_acts=True),
    "forgets-what-was-stopped-when-it-is-killed": Plant(forgets_stops=True),
    "takes-the-beat-of-an-earlier-generation": Plant(fences_nobody=True),
    "starts-twice-what-was-started": Plant(latches_nothing=True),
    "never-writes-again-once-a-write-failed": Plant(sleeps_after_trouble=True),
    "respawns-what-was-stopped": Plant(decide=lambda facts: policy_decide(replace(facts, stop_approved=False))),
    "respawns-what-has-finished": Plant(decide=lambda facts: policy_decide(replace(facts, finished=False))),
    "ignores-the-cap": Plant(decide=lambda facts: policy_decide(replace(facts, respawns=0))),
    "does-not-wait": Plant(decide=lambda facts: policy_decide(replace(facts, wait=0.0))),
    "takes-silence-for-death": Plant(decide=looks_at_nothing),
}


@pytest.mark.parametrize("name", PLANTS)
def test_a_bug_put_in_on_purpose_is_found_within_200_seeds(name: str) -> None:
    for seed in range(200):
        try:
            simulate(seed, PLANTS[name])
        except Broken:
            return
    pytest.fail(f"{name} was not found in 200 seeds")
