"""The sessions' deciding code on a simulated clock and world: days of many sessions, with nobody touching anything."""

from __future__ import annotations

import pytest
from tests.simulation import seeds
from tests.simulation.sessions_world import World, play

from argus.testing import run_simulated

# A day of sessions takes as long as ten of the others.
DAYS = range(seeds.FIRST // 10, max(seeds.FIRST // 10 + 10, seeds.LAST // 10)) if seeds.IS_LONG else range(3)


def simulate(seed: int, *, agents: int, hours: float, troubles: bool) -> World:
    return run_simulated(lambda loop: play(loop, seed, agents=agents, hours=hours, troubles=troubles))


@pytest.mark.req("PS-12")
@pytest.mark.parametrize("seed", [0])
def test_no_session_gets_over_90_percent_and_each_goes_on_by_itself(seed: int) -> None:
    agents, hours = (50, 168.0) if seeds.IS_LONG and not seeds.FIRST else (6, 24.0)
    world = simulate(seed, agents=agents, hours=hours, troubles=False)
    assert max(agent.highest for agent in world.agents.values()) <= 0.90
    assert min(agent.handoffs for agent in world.agents.values()) >= 1, "nothing was handed on: this proves nothing"


@pytest.mark.parametrize("seed", [100 + day for day in DAYS])
def test_whatever_happens_nothing_is_cleared_without_its_document_or_resumed_twice(seed: int) -> None:
    world = simulate(seed, agents=4, hours=24.0, troubles=True)
    assert sum(agent.handoffs for agent in world.agents.values()) >= 4
