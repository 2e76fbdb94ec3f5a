"""What takes long is not dead: a slow start, a frozen machine, a frozen Argus. Nothing is started because of it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.crew import Crew
from tests.acceptance.harness import Argus, Event, eventually, never
from tests.faults import Injection

_THREE_TICKS = 7.0
"""Seconds: a little more than three looks of the stale checker."""
_HELD_UP = 7.0
"""Seconds for which something is frozen when there is little time; longer than an agent may be silent."""
_TROUBLE = ("agent_silent", "agent_hung", "agent_unknown", "agent_died", "agent_respawned", "agent_escalated")


@pytest.fixture
def crew(argus: Argus) -> Crew:
    return Crew(argus)


class SlowTmux:
    """tmux, whose new sessions wait at a gate once it is closed."""

    def __init__(self, argus: Argus, sockets: str) -> None:
        real = shutil.which("tmux")
        if real is None:
            pytest.skip("there is no tmux here")
        folder = argus.folder / "slow"
        folder.mkdir()
        self.gate = folder / "open"
        self._waiting = folder / "waiting"
        self.gate.touch()
        program = folder / "tmux"
        program.write_text(
            "#!/bin/sh\n"
            'case "$*" in *new-session*)\n'
            f"  [ -e {self._quoted(self.gate)} ] || echo $$ >>{self._quoted(self._waiting)}\n"
            f"  while [ ! -e {self._quoted(self.gate)} ]; do sleep 0.05; done ;;\n"
            "esac\n"
            f'exec {shlex.quote(real)} "$@"\n'
        )
        program.chmod(0o700)
        argus.env |= {"PATH": f"{folder}{os.pathsep}{argus.env['PATH']}", "TMUX_TMPDIR": sockets}
        argus.env.pop("TMUX", None)

    @staticmethod
    def _quoted(path: Path) -> str:
        return shlex.quote(str(path))

    def close(self) -> None:
        self.gate.unlink()

    def open(self) -> None:
        self.gate.touch()

    @property
    def waited(self) -> int:
        """How many sessions came to the closed gate."""
        return len(self._waiting.read_text().splitlines()) if self._waiting.exists() else 0


@pytest.fixture
def slow_tmux(argus: Argus) -> Iterator[SlowTmux]:
    with tempfile.TemporaryDirectory(prefix="argus-") as short:  # a socket's path has little room
        yield SlowTmux(argus, short)
        argus.end()


@pytest.mark.fault("AG4")
async def test_a_respawn_that_takes_three_looks_of_the_stale_checker_is_one_respawn(
    crew: Crew, slow_tmux: SlowTmux, injected: Injection
) -> None:
    argus = crew.argus
    crew.configure(config={"tmux": True})
    argus.up()
    first = crew.spawn()
    slow_tmux.close()
    with injected:
        os.kill(first["pid"], signal.SIGKILL)
        eventually(lambda: slow_tmux.waited, "the next one is on its way")
        await never(lambda: crew.states() != {"team-sntgreen002": "spawning"}, "it was given up", _THREE_TICKS)
        slow_tmux.open()
        argus.wait_for("agent_respawned")
        crew.works("team-sntgreen002")
    await never(lambda: len(crew.started()) != 2, "it was started twice", 3.0)
    assert slow_tmux.waited == 1
    assert crew.states() == {"team-sntgreen002": "alive"}
    story = [event.type for event in argus.journal("agent_died", "spawn_started", "agent_respawned", "spawn_failed")]
    assert story == ["spawn_started", "agent_died", "spawn_started", "agent_respawned"]


class Fleet:
    """Agents of every kind: two that Argus started, one that was started elsewhere here, and one of another machine, at
    which nobody here can look. The beats of the last two are sent from here, and so can be late."""

    def __init__(self, crew: Crew) -> None:
        self.crew = crew
        self.argus = crew.argus
        self.foreign = subprocess.Popen(["sleep", "600"], env=crew.argus.env, start_new_session=True)
        self._pids: dict[str, int] = {}

    def begin(self) -> None:
        for task in ("one", "two"):
            self.crew.spawn(task)
        self.beat()
        self._pids = self._alive()
        assert len(self._pids) == 4

    def beat(self) -> None:
        said = {"config_name": "SNTGreen", "project_path": str(self.crew.project), "current_task": "t"}
        for who in ({"agent_id": "near001", "pid": self.foreign.pid}, {"agent_id": "far001", "host": "elsewhere"}):
            assert self.argus.rest("POST", "/api/heartbeat", {**said, **who}).json["ok"] is True

    def _alive(self) -> dict[str, int]:
        agents = self.argus.get("/api/agents")["agents"]
        return {one["agent_id"]: one["pid"] for one in agents if one["state"] == "alive"}

    def trouble(self) -> object:
        """Whatever was reported or started because of the silence."""
        return [event.type for event in self.argus.journal(*_TROUBLE)] or self.crew.started()[2:]

    def beaten_and_in_trouble(self) -> object:
        self.beat()
        return self.trouble()

    async def is_judged_afresh(self, after: float) -> None:
        """The beats come back when Argus has long had the time to judge. They are in time for a full new threshold."""
        eventually(lambda: self._stalls(after - 2.0), "it is noticed")
        await never(self.trouble, "a silence that was ours was held against an agent", 1.0)
        self.beat()
        assert self._alive() == self._pids

    def _stalls(self, least: float) -> list[Event]:
        """The machine may be busy besides."""
        found = self.argus.journal("clock_jump")
        return [event for event in found if event.data["kind"] == "stall" and event.data["seconds"] > least]

    async def goes_on(self) -> None:
        await never(self.beaten_and_in_trouble, "a silence that was ours was held against an agent", 5.0)
        assert self._alive() == self._pids


@pytest.fixture
def fleet(crew: Crew) -> Iterator[Fleet]:
    one = Fleet(crew)
    yield one
    crew.argus.end()
    one.foreign.wait()


class Freezer:
    """A freezer cgroup of its own."""

    def __init__(self) -> None:
        root = Path("/sys/fs/cgroup")
        self._old = (root / "freezer").is_dir()
        self._group = (root / "freezer" if self._old else root) / f"argus-test-{uuid.uuid4().hex}"
        try:
            self._group.mkdir()
        except OSError as error:
            pytest.skip(f"a machine is frozen with a cgroup of its own: {error.strerror}")
        if not self._old and not (self._group / "cgroup.freeze").exists():
            self._group.rmdir()
            pytest.skip("no cgroup here can be frozen")

    def take_in(self, argus: Argus) -> None:
        """All that carries its mark, and what they start from now on."""
        for process in argus.marked():
            with contextlib.suppress(ProcessLookupError):  # it has just ended
                (self._group / "cgroup.procs").write_text(str(process.pid))

    def freeze(self) -> None:
        self._say("FROZEN" if self._old else "1")
        frozen = self._group / ("freezer.state" if self._old else "cgroup.events")
        eventually(lambda: {"FROZEN", "frozen 1"} & set(frozen.read_text().splitlines()), "all of them are frozen")

    def thaw(self) -> None:
        self._say("THAWED" if self._old else "0")

    def _say(self, word: str) -> None:
        (self._group / ("freezer.state" if self._old else "cgroup.freeze")).write_text(word)

    def _removed(self) -> bool:
        with contextlib.suppress(OSError):  # somebody in it is still on the way out
            self._group.rmdir()
        return not self._group.exists()

    def remove(self) -> None:
        eventually(self._removed, "the cgroup is empty")


@pytest.fixture
def freezer(argus: Argus) -> Iterator[Freezer]:
    one = Freezer()
    yield one
    one.thaw()
    argus.end()
    one.remove()


@pytest.mark.fault("AG6")
async def test_a_machine_that_was_frozen_with_all_its_agents_goes_on_and_nothing_is_respawned(
    fleet: Fleet, freezer: Freezer, injected: Injection
) -> None:
    argus = fleet.argus
    fleet.crew.configure()
    argus.up()
    freezer.take_in(argus)
    fleet.begin()
    seconds = 60.0 if injected.in_campaign else _HELD_UP
    with injected:
        freezer.freeze()
        await asyncio.sleep(seconds)
        freezer.thaw()
        await fleet.is_judged_afresh(seconds)
    await fleet.goes_on()


@pytest.mark.fault("AG7")
async def test_an_argus_that_was_frozen_respawns_nobody(fleet: Fleet, injected: Injection) -> None:
    argus = fleet.argus
    fleet.crew.configure()
    argus.up()
    fleet.begin()
    seconds = 10.0 if injected.in_campaign else _HELD_UP
    with injected:
        os.kill(argus.pid, signal.SIGSTOP)
        await asyncio.sleep(seconds)
        os.kill(argus.pid, signal.SIGCONT)
        await fleet.is_judged_afresh(seconds)
    await fleet.goes_on()
