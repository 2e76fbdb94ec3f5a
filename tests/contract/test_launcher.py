"""One suite over the fake launcher and the real one, so that the fake cannot lie.

The real one runs on both loops, and with its agents in tmux as well.
"""

import asyncio
import contextlib
import inspect
import os
import shutil
import signal
import subprocess
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import uvloop

from argus.core.vital import Vital
from argus.host.launcher import MachineLauncher
from argus.host.launching import Ended, Launch, Launcher, LaunchFailed, Running
from argus.testing import Behaves, FakeLauncher, SimulatedLoop

ENOUGH = 60.0
"""Seconds that nothing here takes."""
KINDS = ("fake", "machine", "machine-on-uvloop", "tmux")
LOOPS: dict[str, Any] = {"fake": SimulatedLoop, "machine-on-uvloop": uvloop.new_event_loop}
SHELL = "/bin/sh"


class World:
    """A machine, with programs on it that behave in known ways."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind = kind
        self.folder = folder
        self.fake = FakeLauncher() if kind == "fake" else None
        self.launcher: Launcher = self.fake or MachineLauncher()
        # Of this world alone, not of its folder's name, which tests beside this one have too: who stops an agent ends
        # all that carry its nonce, on the whole machine.
        self.name = uuid.uuid4().hex[:12]
        self.socket = f"argus-test-{self.name}"
        self.launched: list[Running] = []
        if self.fake is not None:
            self.fake.missing_folders.add(str(folder / "nowhere"))
            self.fake.programs = {
                "works": Behaves(seconds=0.0),
                "fails": Behaves(seconds=0.0, exit_status=7),
                "runs": Behaves(prints="ready\n"),
                "ignores": Behaves(prints="ready\n", ignores_term=True),
                "prints": Behaves(prints="one\ntwo\nthree\nready\n"),
            }

    def start(self, what: str, folder: str = "run", **more: Any) -> Launch:
        argv = (what,)
        if self.fake is None:
            count = f'echo x >>"{self.folder}/runs"; '
            script = {
                "works": "exit 0",
                "fails": "exit 7",
                "runs": "echo ready; exec sleep 1000",
                "ignores": "trap '' TERM; echo ready; while :; do sleep 1000; done",
                "prints": "printf 'one\\ntwo\\nthree\\nready\\n'; exec sleep 1000",
            }
            argv = (SHELL, "-c", count + script[what]) if what in script else (what,)
        if self.kind == "tmux":
            more = {"tmux": folder, "tmux_socket": self.socket, **more}
        nonce = f"nonce-{folder}-{self.name}"
        return replace(Launch(str(self.folder / folder), argv, str(self.folder), nonce), **more)

    async def launch(self, what: str | Launch, **more: Any) -> Running:
        launch = self.start(what, **more) if isinstance(what, str) else what
        running = await self.launcher.launch(launch, timeout=ENOUGH)
        self.launched.append(running)
        return running

    def begun(self) -> int:
        """How many agents ever ran here."""
        if self.fake is not None:
            return len(self.fake.agents)
        with contextlib.suppress(FileNotFoundError):
            return len((self.folder / "runs").read_text().split())
        return 0

    def signal(self, running: Running, number: int) -> None:
        if self.fake is not None:
            self.fake.agent(running.folder).signal(number)
        else:
            os.kill(running.agent.pid, number)

    def kill_shim(self, running: Running) -> None:
        if self.fake is not None:
            self.fake.agent(running.folder).kill_shim()
        else:
            os.kill(running.shim.pid, signal.SIGKILL)

    async def until(self, look: Callable[[], Awaitable[bool] | bool]) -> None:
        """What no event tells is looked for."""
        async with asyncio.timeout(ENOUGH):
            while True:
                found = look()
                if found if isinstance(found, bool) else await found:
                    return
                await asyncio.sleep(0.01)

    async def is_ready(self, running: Running) -> None:
        async def said() -> bool:
            return "ready" in await self.launcher.tail(running.folder, 10)

        await self.until(said)

    async def close(self) -> None:
        for running in self.launched:
            await self.launcher.stop(running, grace=0.0)
        if isinstance(self.launcher, MachineLauncher):
            self.launcher.close()
        if self.kind == "tmux":
            subprocess.run(["tmux", "-L", self.socket, "kill-server"], check=False, capture_output=True)  # noqa: ASYNC221


def over(*kinds: str) -> Callable[[Callable[..., Awaitable[None]]], Callable[..., None]]:
    def make(scenario: Callable[..., Awaitable[None]]) -> Callable[..., None]:
        def test(kind: str, tmp_path: Path, **given: Any) -> None:
            if kind == "tmux" and shutil.which("tmux") is None:
                pytest.skip("tmux is missing (Debian: apt-get install tmux)")

            async def whole() -> None:
                world = World(kind, tmp_path)
                try:
                    async with asyncio.timeout(2 * ENOUGH):
                        await scenario(world, **given)
                finally:
                    await world.close()

            with asyncio.Runner(loop_factory=LOOPS.get(kind)) as runner:
                runner.run(whole())

        own = list(inspect.signature(scenario).parameters.values())[1:]
        common = list(inspect.signature(test).parameters.values())[:2]
        test.__name__, test.__doc__, test.__module__ = scenario.__name__, scenario.__doc__, scenario.__module__
        test.__signature__ = inspect.Signature(common + own)  # type: ignore[attr-defined]
        return pytest.mark.parametrize("kind", kinds)(test)

    return make


everywhere = over(*KINDS)


@pytest.mark.parametrize(("what", "status"), [("works", 0), ("fails", 7)])
@everywhere
async def test_an_agent_that_exits_leaves_its_exit_status(world: World, what: str, status: int):
    running = await world.launch(what)
    assert await world.launcher.ended(running) == Ended(status)
    assert world.launcher.look(running.agent) is Vital.DEAD
    assert await world.launcher.find(running.folder, running.nonce) == Ended(status)
    assert world.begun() == 1


@everywhere
async def test_a_prepared_folder_holds_no_agent_and_may_be_launched_in(world: World):
    launch = world.start("works")
    world.launcher.prepare(launch.folder)
    world.launcher.prepare(launch.folder)
    assert await world.launcher.find(launch.folder, launch.nonce) is None
    assert world.begun() == 0
    assert await world.launcher.ended(await world.launch(launch)) == Ended(0)
    assert world.begun() == 1


@everywhere
async def test_an_agent_that_runs_is_found_again(world: World):
    running = await world.launch("runs")
    assert running.agent.pid != running.shim.pid
    assert world.launcher.look(running.agent) is Vital.ALIVE
    assert world.launcher.look(running.shim) is Vital.ALIVE
    assert await world.launcher.find(running.folder, running.nonce) == running


@everywhere
async def test_what_runs_is_not_started_again_in_the_same_folder(world: World):
    first = await world.launch("runs")
    await world.is_ready(first)
    assert await world.launch("runs") == first
    assert world.begun() == 1


@everywhere
async def test_what_has_ended_is_not_started_again_in_the_same_folder(world: World):
    first = await world.launch("fails")
    await world.launcher.ended(first)
    again = await world.launch("fails")
    assert again == first
    assert await world.launcher.ended(again) == Ended(7)
    assert world.begun() == 1


@everywhere
async def test_several_starts_at_once_in_one_folder_make_one_agent(world: World):
    # In tmux the session's name alone would stop the others, and before the latch could.
    launches = [world.start("runs", tmux=f"s{n}" if world.kind == "tmux" else None) for n in range(4)]
    made = await asyncio.gather(*(world.launch(launch) for launch in launches))
    await world.is_ready(made[0])
    assert len(set(made)) == 1
    assert world.begun() == 1


@everywhere
async def test_a_start_nobody_waited_for_is_made_once_all_the_same(world: World):
    """Argus dies while it starts one; the next finds it or starts it, and there is one."""
    for moment in range(4):
        name = f"run{moment}"
        starting = asyncio.ensure_future(world.launch("runs", folder=name))
        for _ in range(moment):
            await asyncio.sleep(0.002)
        starting.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await starting
        running = await world.launch("runs", folder=name, tmux=f"{name}-again" if world.kind == "tmux" else None)
        await world.is_ready(running)
        assert world.begun() == moment + 1
        assert await world.launcher.find(running.folder, running.nonce) == running


@everywhere
async def test_a_start_that_fails_is_not_made_by_one_that_nobody_waited_for(world: World):
    """Argus dies while it starts one; the next cannot start it, and says so: then it must not begin after all."""
    for moment in range(4):
        name = f"run{moment}"
        starting = asyncio.ensure_future(world.launch("runs", folder=name))
        for _ in range(moment):
            await asyncio.sleep(0.002)
        starting.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await starting
        before = world.begun()
        try:
            running = await world.launch("there-is-no-such-program", folder=name)
        except LaunchFailed:
            await asyncio.sleep(0.2)  # time for whatever was on its way
            assert world.begun() == before
        else:
            await world.is_ready(running)  # it had begun, and that is what is told


@everywhere
async def test_a_program_that_is_missing_is_said_and_can_be_started_once_it_is_there(world: World):
    with pytest.raises(LaunchFailed):
        await world.launch("there-is-no-such-program")
    start = world.start("runs")
    assert await world.launcher.find(start.folder, start.nonce) is None
    assert world.launcher.look((await world.launch("runs")).agent) is Vital.ALIVE


@everywhere
async def test_a_folder_that_is_missing_is_said(world: World):
    with pytest.raises(LaunchFailed):
        await world.launch("runs", cwd=str(world.folder / "nowhere"))
    assert world.begun() == 0


@everywhere
async def test_what_never_began_is_said_and_can_be_started(world: World):
    start = world.start("runs")
    for _ in range(3):
        assert await world.launcher.find(start.folder, start.nonce) is None
    running = await world.launch(start)
    assert await world.launcher.find(start.folder, start.nonce) == running


@everywhere
async def test_a_run_folder_belongs_to_one_nonce(world: World):
    running = await world.launch("runs")
    assert await world.launcher.find(running.folder, "another-nonce") is None
    with pytest.raises(LaunchFailed):
        await world.launch("runs", nonce="another-nonce")
    assert world.launcher.look(running.agent) is Vital.ALIVE


@everywhere
async def test_a_killed_agent_is_seen_to_end_by_a_signal(world: World):
    running = await world.launch("runs")
    ended = asyncio.ensure_future(world.launcher.ended(running))
    await asyncio.sleep(0)
    world.signal(running, signal.SIGKILL)
    assert await ended == Ended(128 + signal.SIGKILL)
    assert world.launcher.look(running.agent) is Vital.DEAD


@over("machine")
async def test_how_it_ended_is_known_also_when_its_shim_is_held_up(world: World):
    running = await world.launch("runs")
    await world.is_ready(running)
    os.kill(running.shim.pid, signal.SIGSTOP)
    world.signal(running, signal.SIGKILL)
    asyncio.get_running_loop().call_later(3.0, os.kill, running.shim.pid, signal.SIGCONT)
    assert await world.launcher.ended(running) == Ended(128 + signal.SIGKILL)


@everywhere
async def test_an_agent_whose_shim_was_killed_is_still_watched(world: World):
    running = await world.launch("runs")
    await world.is_ready(running)
    world.kill_shim(running)
    await world.until(lambda: world.launcher.look(running.shim) is Vital.DEAD)
    if world.kind == "tmux":
        # The pane goes with its first process, and SIGHUP goes to the group.
        assert await world.launcher.ended(running) == Ended(None)
        return
    assert world.launcher.look(running.agent) is Vital.ALIVE
    assert await world.launcher.find(running.folder, running.nonce) == running
    world.signal(running, signal.SIGKILL)
    assert await world.launcher.ended(running) == Ended(None)
    assert await world.launcher.find(running.folder, running.nonce) == Ended(None)


@everywhere
async def test_an_agent_is_asked_to_stop(world: World):
    running = await world.launch("runs")
    await world.is_ready(running)
    assert await world.launcher.stop(running, grace=ENOUGH)
    assert world.launcher.look(running.agent) is Vital.DEAD
    assert await world.launcher.ended(running) == Ended(128 + signal.SIGTERM)
    assert not await world.launcher.stop(running, grace=ENOUGH)


@everywhere
async def test_an_agent_that_does_not_listen_is_killed(world: World):
    running = await world.launch("ignores")
    await world.is_ready(running)
    assert await world.launcher.stop(running, grace=0.2)
    assert world.launcher.look(running.agent) is Vital.DEAD
    assert await world.launcher.ended(running) == Ended(128 + signal.SIGKILL)


@everywhere
async def test_a_stopped_agent_is_seen_and_can_be_ended(world: World):
    running = await world.launch("runs")
    await world.is_ready(running)
    world.signal(running, signal.SIGSTOP)
    await world.until(lambda: world.launcher.look(running.agent) is Vital.STOPPED)
    assert await world.launcher.find(running.folder, running.nonce) == running
    assert await world.launcher.stop(running, grace=ENOUGH)
    assert await world.launcher.ended(running) == Ended(128 + signal.SIGTERM)


@everywhere
async def test_the_last_lines_it_printed_can_be_read(world: World):
    running = await world.launch("prints")
    await world.is_ready(running)
    assert (await world.launcher.tail(running.folder, 2)).split() == ["three", "ready"]
    assert (await world.launcher.tail(running.folder, 9)).split() == ["one", "two", "three", "ready"]
    world.launcher.bound(running.folder)
    await world.launcher.stop(running, grace=ENOUGH)
    assert (await world.launcher.tail(running.folder, 9)).split()[:4] == ["one", "two", "three", "ready"]
    assert await world.launcher.tail(str(world.folder / "nothing"), 9) == ""


@over("fake", "tmux")
async def test_a_session_name_that_is_taken_is_said_and_free_after_its_agent(world: World):
    first = await world.launch("runs", folder="one", tmux="same", tmux_socket=world.socket)
    with pytest.raises(LaunchFailed):
        await world.launch("runs", folder="two", tmux="same", tmux_socket=world.socket)
    await world.launch("runs", folder="three", tmux="sam", tmux_socket=world.socket)
    await world.launcher.stop(first, grace=ENOUGH)

    async def is_free() -> bool:
        try:
            await world.launch("runs", folder="two", tmux="same", tmux_socket=world.socket)
        except LaunchFailed:
            return False
        return True

    await world.until(is_free)


@over("fake")
async def test_a_fake_start_that_is_late_is_fenced_and_does_not_begin_afterwards(world: World):
    assert world.fake is not None
    world.fake.start_takes = 30.0
    start = world.start("runs")
    with pytest.raises(LaunchFailed):
        await world.launcher.launch(start, timeout=1.0)
    await asyncio.sleep(60)
    assert world.begun() == 0
    world.fake.start_takes = 0.1
    await world.launch(start)
    assert world.begun() == 1
