"""The services' deciding code on a simulated clock and world, over many seeds; and bugs put in on purpose, found."""

from dataclasses import replace

import pytest
from tests.simulation import seeds
from tests.simulation.world import Broken, Plant, World, play, rest

from argus.services import policy
from argus.testing import run_simulated


def broken(error: BaseException) -> Broken | None:
    """What must hold and did not, out of the task groups it came through."""
    if isinstance(error, BaseExceptionGroup):
        return next((found for found in map(broken, error.exceptions) if found), None)
    return error if isinstance(error, Broken) else None


def simulate(seed: int, plant: Plant | None = None) -> World:
    try:
        return run_simulated(lambda loop: play(loop, seed, plant or Plant()))
    except BaseException as error:
        found = broken(error)
        if found is None:
            raise
        raise Broken(f"seed {seed}: {found}") from error


@pytest.mark.req("INFRA-02.2", "INFRA-02.3", "INFRA-02.4")
@pytest.mark.parametrize("first", seeds.BLOCKS)
def test_what_must_always_hold_holds_whatever_happens(first: int) -> None:
    restarts = sum(len(simulate(seed).restarts) for seed in seeds.of(first))
    # A world in which nothing is ever repaired would hold everything, and prove nothing.
    assert restarts > 0


def test_where_nothing_happens_nothing_is_done() -> None:
    for seed in range(20):
        world = run_simulated(lambda loop, seed=seed: rest(loop, seed))  # type: ignore[misc]
        assert world.restarts == []
        assert world.numbers == {}, "nobody is told anything"


def test_the_same_seed_gives_the_same_story() -> None:
    assert simulate(7).restarts == simulate(7).restarts


PLANTS = {
    "restarts-again-in-the-same-outage": Plant(decide=lambda facts: policy.decide(replace(facts, restarts=0))),
    "ignores-the-budget": Plant(decide=lambda facts: policy.decide(replace(facts, budget_left=9))),
    "restarts-during-an-infrastructure-event": Plant(
        decide=lambda facts: policy.decide(replace(facts, infrastructure_event=False))
    ),
    "forgets-its-acts-when-it-is-killed": Plant(forgets_acts=True),
    "acts-before-it-records": Plant(acts_before_recording=True),
    "takes-a-jump-of-time-for-time": Plant(believes_every_clock=True),
    "restarts-what-flaps": Plant(decide=lambda facts: policy.decide(replace(facts, flapping=False))),
    "forgets-an-intent-whose-answer-was-lost": Plant(forgets_lost_answers=True),
}


@pytest.mark.parametrize("name", PLANTS)
def test_a_bug_put_in_on_purpose_is_found_within_200_seeds(name: str) -> None:
    for seed in range(200):
        try:
            simulate(seed, PLANTS[name])
        except Broken:
            return
    pytest.fail(f"{name} was not found in 200 seeds")
