"""Agents as documents: what is written is what is read."""

from argus.agents import book
from argus.agents.model import Agent, Origin, Process, State
from argus.core.clock import Stamp


def test_an_agent_is_read_as_it_was_written():
    then = Stamp(1.0, 2.0, "boot")
    agent = Agent(
        "a1",
        "a1",
        2,
        State.DEAD,
        3.0,
        Origin.TERMINAL,
        process=Process("here", "boot", 7, "70", 6, "60"),
        terminal=Process("here", "boot", 5, "50"),
        seen=then,
        spawned=then,
        died=then,
    )
    assert book.read(book.written(agent)) == agent
