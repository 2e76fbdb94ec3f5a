"""Agents as documents: the same values come back, from older and newer versions too."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.agents import book
from argus.agents.model import Agent, Origin, Process, State
from argus.core.clock import Stamp

words = st.text(max_size=20)
seconds = st.floats(0, 1e10)
stamps = st.none() | st.builds(Stamp, words, seconds, seconds)
numbers = st.integers(0, 2**31)
agents = st.builds(
    Agent,
    id=words,
    lineage=words,
    generation=numbers,
    state=st.sampled_from(State),
    since=seconds,
    origin=st.sampled_from(Origin),
    config=words,
    project=words,
    task=words,
    status=words,
    session=words,
    process=st.none() | st.builds(Process, words, words, numbers, words, numbers, words),
    seen=stamps,
    spawned=stamps,
    nonce=words,
    died=stamps,
    wait=seconds,
    tries=numbers,
    waited=seconds,
    stop=words,
    gate=words,
    escalated=st.booleans(),
    exit_status=st.none() | st.integers(0, 255),
    reason=words,
    warned=st.booleans(),
)


@given(agents)
def test_what_is_written_is_read_again(agent: Agent) -> None:
    assert book.read(json.loads(json.dumps(book.written(agent)))) == agent


def test_what_an_older_version_wrote_is_read() -> None:
    old = {"id": "a1", "lineage": "a1", "generation": 1, "state": "alive", "since": 5.0}
    assert book.read(old) == Agent("a1", "a1", 1, State.ALIVE, 5.0)


def test_what_a_newer_version_wrote_besides_is_left_out() -> None:
    agent = Agent("a1", "a1", 1, State.DEAD, 5.0, died=Stamp("b", 1.0, 2.0))
    new: dict[str, Any] = {**book.written(agent), "mood": "good", "habits": ["a"]}
    assert book.read(new) == agent


@pytest.mark.parametrize("field", ["status", "task", "config", "project"])
def test_an_empty_field_never_erases_what_is_known(field: str) -> None:
    agent = Agent("a1", "a1", 1, State.ALIVE, 0.0, status="s", task="t", config="c", project="p")
    empty = {"status": "", "task": "", "config": "", "project": ""}
    assert book.merged(agent, **empty) == agent
    changed = book.merged(agent, **{**empty, field: "new"})
    assert getattr(changed, field) == "new"
