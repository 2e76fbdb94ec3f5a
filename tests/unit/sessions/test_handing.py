"""Handoffs on simulated time: scripts of what befalls one, and what comes of it."""

from __future__ import annotations

from tests.unit.sessions.terminal import Terminal

from argus.testing import SimulatedLoop, run_simulated


def test_a_line_that_a_killed_argus_left_is_taken_back_also_when_the_handoff_went_on_without_it():
    """The first look could not see it: it counted as asked, and stood in the way of everything that was typed then."""

    async def play(loop: SimulatedLoop) -> list[str]:
        world = Terminal(loop, "hooks", is_readable=True)
        await world.up()
        await world.passes(1.0)
        assert world.argus is not None
        world.cut_at = "pasted"
        await world.argus.hand_off("p", "me")
        await world.passes(2.0)
        assert world.is_reached
        await world.kill()
        world.is_seen = False
        await world.up()
        await world.passes(5.0)
        world.is_seen = True
        await world.passes(5.0)
        assert world.prompt == ""
        await world.passes(150.0)
        await world.end()
        return [one.line for one in world.truth.submitted]

    assert run_simulated(play) == ["nudge"]
