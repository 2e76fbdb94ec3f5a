"""Many agents that beat at once: every beat is answered and known; a kill of Argus takes a second of them at most."""

from __future__ import annotations

import os
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from benchmarks import beating
from benchmarks.beating import Wire

from tests.acceptance.harness import Argus
from tests.acceptance.test_hostile_doors import room_for


@pytest.fixture
def beaten(argus: Argus) -> Iterator[Argus]:
    argus.configure()
    with room_for(4096):  # the daemon inherits it
        argus.up()
        yield argus


def wires(argus: Argus, agents: list[str], word: str = "step") -> list[Wire]:
    port = urlsplit(argus.url).port or 0
    made = []
    for agent in agents:
        reply = argus.rest("POST", "/api/tokens", {"role": "agent", "agent": agent})
        assert reply.status == 201, reply
        made.append(Wire.of(port, agent, reply.json["token"], os.getpid(), word=word))
    return made


def port_of(argus: Argus) -> int:
    return urlsplit(argus.url).port or 0


def statuses(argus: Argus) -> dict[str, str]:
    return {one["agent_id"]: one["status"] for one in argus.get("/api/heartbeats")["heartbeats"]}


@pytest.mark.req("HB-01", "HB-02")
def test_every_beat_of_hundreds_of_agents_on_connections_of_their_own_is_answered_and_known(beaten: Argus) -> None:
    agents = [f"crowd{number:03d}" for number in range(600)]
    done = beating.at_a_rate(port_of(beaten), wires(beaten, agents), rate=900, seconds=3)
    assert (done.lost, done.refusal) == (0, b"")
    assert done.sent == 600 + 2700
    assert statuses(beaten) == {agent: beating.said(last) for agent, last in zip(agents, done.last, strict=True)}
    assert len(beaten.journal("agent_registered")) == 600
    assert len(beaten.journal()) < 700, "the journal holds no beats"


@pytest.mark.req("HB-01")
def test_a_kill_of_argus_loses_no_beat_that_is_older_than_a_second(beaten: Argus) -> None:
    agents = [f"crowd{number:02d}" for number in range(50)]
    early, late = wires(beaten, agents, "early"), wires(beaten, agents, "late")
    assert beating.at_a_rate(port_of(beaten), early, rate=250, seconds=1).lost == 0
    # Five a second of each: those up to the fifth are more than a second old when Argus is killed, and then some.
    done = beating.at_a_rate(port_of(beaten), late, rate=250, seconds=4)
    assert done.lost == 0
    beaten.kill()
    beaten.up()
    after = statuses(beaten)
    assert set(after) == set(agents)
    for agent, last in zip(agents, done.last, strict=True):
        assert beating.said(5, word="late") <= after[agent] <= beating.said(last, word="late"), agent
