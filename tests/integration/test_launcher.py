"""The launcher on real processes and a real tmux: what the contract cannot say of the fake."""

# ruff: noqa: ASYNC220, ASYNC240 - tests look at files and start programs; nobody waits meanwhile

import asyncio
import contextlib
import json
import os
import random
import resource
import shutil
import signal
import stat
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from argus.core.vital import Vital
from argus.host import shim
from argus.host.identity import Identity, identify, is_alive
from argus.host.launcher import MachineLauncher
from argus.host.launching import NONCE, Ended, Launch, LaunchFailed, LaunchUncertain, Running
from argus.host.runfolder import LOG_LIMIT, RunFolder
from argus.host.vitals import carriers

ENOUGH = 60.0
SLEEP = shutil.which("sleep") or "/bin/sleep"
REPORT = """
import json, os, sys
status = open("/proc/self/status").read().splitlines()
said = {
    "argv": [os.fsencode(word).hex() for word in sys.argv[2:]],
    "env": {os.fsencode(name).hex(): os.fsencode(text).hex() for name, text in os.environ.items()},
    "cwd": os.getcwd(),
    "stdin": os.readlink("/proc/self/fd/0"),
    "tty": list(os.get_terminal_size(0)) if os.isatty(0) else None,
    "open": sorted(int(name) for name in os.listdir("/proc/self/fd") if os.path.exists("/proc/self/fd/" + name)),
    "umask": next(line.split()[1] for line in status if line.startswith("Umask")),
    "ignored": int(next(line.split()[1] for line in status if line.startswith("SigIgn")), 16),
    "blocked": int(next(line.split()[1] for line in status if line.startswith("SigBlk")), 16),
    "pid": os.getpid(), "group": os.getpgid(0), "session": os.getsid(0),
}
with open(sys.argv[1] + ".part", "w") as file:
    json.dump(said, file)
os.rename(sys.argv[1] + ".part", sys.argv[1])
"""


@dataclass
class Machine:
    folder: Path
    launcher: MachineLauncher = field(default_factory=MachineLauncher)
    socket: str = field(default_factory=lambda: f"argus-test-{uuid.uuid4().hex[:12]}")
    launched: list[Running] = field(default_factory=list)

    def start(self, *argv: str, name: str = "run", where: str = "direct", **more: Any) -> Launch:
        if where == "tmux":
            more = {"tmux": name, "tmux_socket": self.socket, **more}
        nonce = f"{name}-{uuid.uuid4().hex}"
        return replace(Launch(str(self.folder / name), argv, str(self.folder), nonce), **more)

    async def launch(self, launch: Launch, timeout: float = ENOUGH) -> Running:
        running = await self.launcher.launch(launch, timeout=timeout)
        self.launched.append(running)
        return running

    async def report(self, *words: str, **more: Any) -> Any:
        target = self.folder / "report"
        running = await self.launch(self.start(sys.executable, "-c", REPORT, str(target), *words, **more))
        ended = await self.ended(running)
        assert ended == Ended(0), await self.launcher.tail(running.folder, 20)
        said = json.loads(target.read_text())
        assert said["pid"] == running.agent.pid
        assert said["group"] == said["session"] == running.shim.pid
        return said

    async def ended(self, running: Running) -> Ended:
        async with asyncio.timeout(ENOUGH):
            return await self.launcher.ended(running)

    async def said(self, running: Running, word: str) -> None:
        async with asyncio.timeout(ENOUGH):
            while word not in await self.launcher.tail(running.folder, 50):  # noqa: ASYNC110
                await asyncio.sleep(0.01)

    def tmux(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["tmux", "-L", self.socket, *words], capture_output=True, text=True, check=False)

    async def close(self) -> None:
        for running in self.launched:
            await self.launcher.stop(running, grace=0.0)
        self.launcher.close()
        if shutil.which("tmux"):
            self.tmux("kill-server")


@pytest.fixture
async def machine(tmp_path: Path) -> AsyncIterator[Machine]:
    made = Machine(tmp_path)
    yield made
    await made.close()


@pytest.fixture(params=["direct", "tmux"])
def where(request: pytest.FixtureRequest) -> str:
    if request.param == "tmux" and shutil.which("tmux") is None:
        pytest.skip("tmux is missing (Debian: apt-get install tmux)")
    return str(request.param)


needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is missing (Debian: apt-get install tmux)")


async def until(look: Callable[[], object], what: str) -> None:
    """What no event tells is looked for."""
    try:
        async with asyncio.timeout(ENOUGH):
            while not look():  # noqa: ASYNC110
                await asyncio.sleep(0.01)
    except TimeoutError:
        raise AssertionError(f"never: {what}") from None


# What reaches the agent.


async def test_arguments_arrive_byte_by_byte(machine: Machine, where: str):
    every = os.fsdecode(bytes(range(1, 256)))
    words = [
        ('it\'s "quoted"\n$(touch /tmp/never) `id` \\ ${HOME} #{pane_id} %d é\n' * 2000)[:100_000],
        *("", " ", "-leading", "--", "trailing;", ";", "\\;", "*", "~", "#", "=", "a=b", "\n", "two\n\n", "\\", "'"),
        every,
        every[::-1],
    ]
    said = await machine.report(*words, where=where)
    assert [bytes.fromhex(word) for word in said["argv"]] == [os.fsencode(word) for word in words]


async def test_the_environment_is_ours_with_what_was_added_and_the_nonce(
    machine: Machine, where: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("ARGUS_TEST_OURS", "ours")
    monkeypatch.setenv("ARGUS_NONCE", "of-an-agent-that-started-argus")
    odd = os.fsdecode(bytes(range(1, 256)))
    said = await machine.report(where=where, env={"ADDED": odd, "EMPTY": "", "dir": "d", "status": "s"})
    env = {bytes.fromhex(name).decode(): bytes.fromhex(text) for name, text in said["env"].items()}
    assert env["ARGUS_TEST_OURS"] == b"ours"
    assert env["ADDED"] == os.fsencode(odd)
    assert (env["EMPTY"], env["dir"], env["status"]) == (b"", b"d", b"s")
    assert env["ARGUS_NONCE"].decode() == machine.launched[0].nonce
    assert not [name for name in env if name.startswith("argus_")]


async def test_the_agent_starts_in_its_folder_with_clean_signals_and_nothing_open(machine: Machine, where: str):
    folder = machine.folder / "it's a #{pane_id} folder;"
    folder.mkdir()
    mask = os.umask(0o027)
    try:
        machine.launcher = MachineLauncher()
        said = await machine.report(where=where, cwd=str(folder))
    finally:
        os.umask(mask)
    assert said["cwd"] == str(folder)
    assert said["umask"] == "0027"
    # Those the shim handles, and others that matter to a program. SIGPIPE is ignored by the reporting Python itself.
    for name in ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGCHLD", "SIGTSTP"):
        assert not said["ignored"] & (1 << (signal.Signals[name] - 1)), name
    assert said["blocked"] == 0
    assert said["open"] == [0, 1, 2]
    if where == "direct":
        assert said["stdin"] == "/dev/null"
    else:
        assert said["tty"] == [200, 50]


async def test_everything_in_the_run_folder_is_private(machine: Machine, where: str):
    running = await machine.launch(machine.start("sh", "-c", "echo said; exit 3", where=where))
    assert await machine.ended(running) == Ended(3)
    folder = Path(running.folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    modes = {entry.name: stat.S_IMODE(entry.stat().st_mode) for entry in folder.iterdir()}
    assert {"began", "ended", "log", "beacon", "latch.1"} <= set(modes)
    assert set(modes.values()) == {0o600}


# What cannot be started.


@pytest.mark.parametrize(
    ("argv", "more"),
    [
        pytest.param(("no-such-program",), {}, id="not-on-the-path"),
        pytest.param(("sh",), {"env": {"PATH": "/nowhere"}}, id="not-on-the-agents-own-path"),
        pytest.param(("./missing",), {}, id="not-in-its-folder"),
        pytest.param(("./plain",), {}, id="not-executable"),
        pytest.param(("./uninterpreted",), {}, id="without-its-interpreter"),
        pytest.param(("/etc",), {}, id="a-folder"),
        pytest.param(("-c",), {}, id="an-option"),
        pytest.param((), {}, id="nothing"),
        pytest.param(("sh", "a" * 140_000), {}, id="an-argument-too-long"),
        pytest.param(("sh", "a\0b"), {}, id="a-nul"),
        pytest.param(("sh",), {"env": {"A-B": "1"}}, id="an-impossible-variable"),
        pytest.param(("sh",), {"cwd": "relative"}, id="a-relative-folder"),
        pytest.param(("sh",), {"tmux": "a.b"}, id="a-name-tmux-would-change"),
        pytest.param(("sh",), {"tmux": "=a"}, id="a-name-tmux-would-read-as-a-target"),
    ],
)
async def test_what_cannot_be_started_is_said_before_anything_is_begun(
    machine: Machine, argv: tuple[str, ...], more: dict[str, Any]
):
    (machine.folder / "plain").write_text("exit 0\n")
    (machine.folder / "uninterpreted").write_text("#!/no/such/interpreter\n")
    (machine.folder / "uninterpreted").chmod(0o755)
    launch = machine.start(*argv, **more)
    with pytest.raises(LaunchFailed):
        await machine.launch(launch)
    assert RunFolder(launch.folder).began() is None
    mended = replace(launch, argv=("true",), cwd=str(machine.folder), env={}, tmux=None)
    assert await machine.ended(await machine.launch(mended)) == Ended(0)


async def test_an_exit_of_127_is_the_agents_own(machine: Machine, where: str):
    running = await machine.launch(machine.start("sh", "-c", "exit 127", where=where))
    assert await machine.ended(running) == Ended(127)


async def test_an_agent_of_which_no_note_can_be_written_does_not_run(machine: Machine):
    launch = machine.start("touch", str(machine.folder / "ran"))
    (Path(launch.folder) / "began").mkdir(parents=True)
    with pytest.raises((LaunchFailed, LaunchUncertain)):
        await machine.launch(launch)
    assert not (machine.folder / "ran").exists()


# Exactly once.


def count(machine: Machine) -> tuple[str, ...]:
    """An agent that leaves a mark for each time it ran, and goes on."""
    return ("sh", "-c", f'echo x >>"{machine.folder}/runs"; exec "{SLEEP}" 1000')


def runs(machine: Machine) -> int:
    with contextlib.suppress(FileNotFoundError):
        return len((machine.folder / "runs").read_text().split())
    return 0


def bare_shim(launch: Launch, attempt: int = 1) -> subprocess.Popen[bytes]:
    """A shim as another Argus would start it."""
    head = shim.command(folder=launch.folder, attempt=attempt, umask=0o22, cwd=launch.cwd, nonce=launch.nonce)
    return subprocess.Popen(
        [*head, *launch.argv],
        env={**os.environ, "ARGUS_NONCE": launch.nonce},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


async def test_of_many_shims_in_one_folder_one_runs(machine: Machine):
    launch = machine.start(*count(machine))
    RunFolder(launch.folder).make()
    shims = [bare_shim(launch) for _ in range(20)]
    running = await machine.launch(launch)
    await until(lambda: runs(machine), "the agent ran")
    losers = [made for made in shims if made.pid != running.shim.pid]
    assert 0 not in [made.wait(ENOUGH) for made in losers]
    assert runs(machine) == 1
    await machine.launcher.stop(running, grace=ENOUGH)
    for made in shims:
        made.wait(ENOUGH)


async def test_a_shim_that_comes_after_it_was_given_up_runs_nothing(machine: Machine):
    launch = machine.start(*count(machine))
    RunFolder(launch.folder).make()
    assert await machine.launcher.find(launch.folder, launch.nonce) is None
    assert bare_shim(launch).wait(ENOUGH) != 0
    await machine.launch(launch)
    await until(lambda: runs(machine), "the agent ran")
    for attempt in range(1, RunFolder(launch.folder).attempt() + 1):
        assert bare_shim(launch, attempt).wait(ENOUGH) != 0
    assert runs(machine) == 1


async def test_a_shim_that_comes_after_a_start_that_failed_runs_nothing(machine: Machine):
    """An Argus that was killed had started it; the next one cannot, says so, and may start something in its place."""
    launch = machine.start(*count(machine))
    with pytest.raises(LaunchFailed):
        await machine.launch(replace(launch, argv=("/no/such/program",)))
    assert bare_shim(launch).wait(ENOUGH) != 0
    assert runs(machine) == 0
    await machine.launch(launch)
    await until(lambda: runs(machine), "the agent ran")


async def test_a_start_killed_between_its_latch_and_its_note_is_made_anew_once(machine: Machine):
    launch = machine.start(*count(machine))
    folder = RunFolder(launch.folder)
    folder.make()
    folder.fence(1)  # what such a shim leaves: its latch, and nobody at the beacon
    running = await machine.launch(launch)
    await until(lambda: runs(machine), "the agent ran")
    assert folder.attempt() == 2
    assert await machine.launcher.find(launch.folder, launch.nonce) == running


async def test_a_start_that_hangs_between_its_latch_and_its_note_is_waited_for(machine: Machine):
    launch = machine.start(*count(machine))
    folder = RunFolder(launch.folder)
    folder.make()
    folder.fence(1)
    at_it = os.open(folder.path / "beacon", os.O_RDWR)
    with pytest.raises(LaunchUncertain):
        await machine.launcher.find(launch.folder, launch.nonce)
    finding = asyncio.ensure_future(machine.launcher.find(launch.folder, launch.nonce))
    await asyncio.sleep(0)
    os.close(at_it)
    assert await finding is None
    assert runs(machine) == 0


@pytest.mark.parametrize("seed", range(3))
async def test_whatever_is_killed_while_it_starts_there_is_one_agent(machine: Machine, seed: int):
    """The shim is killed at a moment of its first milliseconds, alone or with its group; then it is launched again."""
    chance = random.Random(seed)
    for number in range(15):
        (machine.folder / "runs").unlink(missing_ok=True)
        launch = machine.start(*count(machine), name=f"run{number}")
        RunFolder(launch.folder).make()
        made = bare_shim(launch)
        await asyncio.sleep(chance.uniform(0, 0.006))
        with contextlib.suppress(ProcessLookupError):
            (os.killpg if chance.random() < 0.5 else os.kill)(made.pid, signal.SIGKILL)
        made.wait(ENOUGH)
        running = await machine.launch(launch)
        # Its note may be the last thing it did: then it was begun, has ended, and is the next generation's matter.
        await until(
            lambda running=running: runs(machine) or machine.launcher.look(running.agent) is Vital.DEAD,
            "the agent ran or was killed before it could",
        )
        assert runs(machine) <= 1
        assert await machine.launch(launch) == running
        await machine.launcher.stop(running, grace=ENOUGH)
        assert not list(carriers(launch.nonce))


async def test_a_note_of_another_boot_means_nobody(machine: Machine):
    running = await machine.launch(machine.start(SLEEP, "1000"))
    note = Path(running.folder) / "began"
    words = note.read_text().split()
    words[1] = "another-boot"
    note.write_text(" ".join(words) + "\n")
    assert await machine.launcher.find(running.folder, running.nonce) == Ended(None)


async def test_half_a_note_counts_as_none(machine: Machine):
    running = await machine.launch(machine.start("true"))
    await machine.ended(running)
    for name in ("ended", "began"):
        note = Path(running.folder) / name
        note.write_text(note.read_text()[:-5])
    assert RunFolder(running.folder).exit_status(running.shim) is None
    assert RunFolder(running.folder).began() is None


def overwrite(note: Path) -> None:
    note.write_text("began a b c d e f end\n")


def name_a_number_no_process_has(note: Path) -> None:
    note.write_text("began boot 99999999999 1 99999999999 1 nonce end\n")


def make_a_folder(note: Path) -> None:
    note.unlink()
    note.mkdir()


def make_a_fifo(note: Path) -> None:
    note.unlink()
    os.mkfifo(note)


@pytest.mark.parametrize("spoil", [overwrite, name_a_number_no_process_has, make_a_folder, make_a_fifo])
async def test_of_a_spoilt_note_nothing_is_concluded_while_what_it_was_about_runs(
    machine: Machine, spoil: Callable[[Path], None]
):
    launch = machine.start("sh", "-c", f"echo ready; {SLEEP} 1000")
    running = await machine.launch(launch)
    await machine.said(running, "ready")
    spoil(Path(running.folder) / "began")
    with pytest.raises(LaunchUncertain):
        await machine.launcher.find(launch.folder, launch.nonce)
    with pytest.raises(LaunchUncertain):
        await machine.launcher.launch(launch, timeout=ENOUGH)
    assert await machine.launcher.tail(running.folder, 5) == "ready"
    assert await machine.launcher.stop(running, grace=ENOUGH)
    await until(lambda: not list(carriers(running.nonce)), "nobody carries the nonce")
    assert await machine.launcher.find(launch.folder, launch.nonce) == Ended(None)
    with pytest.raises(LaunchFailed):
        await machine.launcher.launch(launch, timeout=ENOUGH)
    assert not list(carriers(running.nonce))


# Outliving Argus.


async def test_an_agent_outlives_the_argus_that_started_it(machine: Machine, where: str):
    launch = machine.start("sh", "-c", f"echo ready; {SLEEP} 0.3; echo more; exec {SLEEP} 1000", where=where)
    argus = f"""
import asyncio, os, signal
from argus.host.launcher import MachineLauncher
from argus.host.launching import Launch
async def main():
    await MachineLauncher().launch({launch!r}, timeout={ENOUGH})
    os.killpg(0, signal.SIGKILL)
asyncio.run(main())
"""
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", argus, start_new_session=True)
    assert await process.wait() == -signal.SIGKILL
    running = await machine.launcher.find(launch.folder, launch.nonce)
    assert isinstance(running, Running)
    machine.launched.append(running)
    await machine.said(running, "more")
    assert await machine.launcher.stop(running, grace=ENOUGH)
    assert await machine.ended(running) == Ended(128 + signal.SIGTERM)


async def test_no_zombie_of_ours_is_left(machine: Machine):
    for number in range(3):
        running = await machine.launch(machine.start("true", name=f"run{number}"))
        await machine.ended(running)
        await until(lambda running=running: not Path(f"/proc/{running.shim.pid}").exists(), "the shim was reaped")


async def test_without_pidfds_an_agent_is_watched_all_the_same(machine: Machine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delattr(os, "pidfd_open")
    running = await machine.launch(machine.start("sh", "-c", "exit 5"))
    assert await machine.ended(running) == Ended(5)
    await until(lambda: not Path(f"/proc/{running.shim.pid}").exists(), "the shim was reaped")
    other = await machine.launch(machine.start(SLEEP, "1000", name="other"))
    assert await machine.launcher.stop(other, grace=ENOUGH)
    assert await machine.ended(other) == Ended(128 + signal.SIGTERM)


async def test_without_descriptors_an_agent_is_watched_on_and_never_said_to_have_ended(machine: Machine):
    launch = machine.start(SLEEP, "1000")
    running = await machine.launch(launch)
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, before[1]))
        watching = asyncio.create_task(machine.launcher.ended(running))
        assert not (await asyncio.wait([watching], timeout=0.3))[0]
        assert machine.launcher.look(running.agent) is None
        with pytest.raises((LaunchUncertain, OSError)):
            await machine.launcher.find(launch.folder, launch.nonce)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert await machine.launcher.find(launch.folder, launch.nonce) == running
    os.kill(running.agent.pid, signal.SIGTERM)
    async with asyncio.timeout(ENOUGH):
        assert await watching == Ended(128 + signal.SIGTERM)


# Ending it.


async def test_what_an_agent_left_in_its_group_ends_with_it(machine: Machine, where: str):
    running = await machine.launch(
        machine.start("sh", "-c", f"trap '' HUP; {SLEEP} 1000 & echo $! >child", where=where)
    )
    assert await machine.ended(running) == Ended(0)
    child = int((machine.folder / "child").read_text())
    await until(lambda: identify(child) is None, "the child was ended")


LEAVES = f"""
    setsid sh -c 'echo $$ >>children; exec {SLEEP} 1001' &
    {SLEEP} 1002 & echo $! >>children
    while [ "$(wc -l <children)" -lt 2 ]; do {SLEEP} 0.01; done
    echo ready
"""


@pytest.mark.parametrize("shim_too", [False, True], ids=["the-agent", "its-shim-and-the-agent"])
async def test_what_a_killed_agent_left_anywhere_is_ended(machine: Machine, shim_too: bool):
    running = await machine.launch(machine.start("sh", "-c", f"{LEAVES} exec {SLEEP} 1003"))
    await machine.said(running, "ready")
    if shim_too:
        os.kill(running.shim.pid, signal.SIGKILL)
    os.kill(running.agent.pid, signal.SIGKILL)
    await machine.ended(running)
    machine.launcher.clear(running)
    await until(lambda: not list(carriers(running.nonce)), "nobody carries the nonce")


async def test_stopping_ends_children_that_do_not_listen_and_those_that_left(machine: Machine, where: str):
    script = f"""
        trap '' HUP
        (trap '' TERM HUP; exec {SLEEP} 1001) & echo $! >>children
        setsid sh -c 'trap "" TERM HUP; echo $$ >>children; exec {SLEEP} 1002' &
        setsid -f env -u NOTHING {SLEEP} 1003
        while [ "$(wc -l <children)" -lt 2 ]; do {SLEEP} 0.01; done
        echo ready; exec {SLEEP} 1004"""
    running = await machine.launch(machine.start("sh", "-c", script, where=where))
    await machine.said(running, "ready")
    assert len(list(carriers(running.nonce))) >= 4
    assert await machine.launcher.stop(running, grace=ENOUGH)
    children = [int(word) for word in (machine.folder / "children").read_text().split()]
    await until(lambda: not any(map(identify, children)), "the children were ended")
    await until(lambda: not list(carriers(running.nonce)), "nobody carries the nonce")


async def test_a_whole_group_that_is_stopped_can_be_ended(machine: Machine):
    # Not in tmux, which lets a stopped pane go on at once.
    running = await machine.launch(machine.start("sh", "-c", f"echo ready; {SLEEP} 1000"))
    await machine.said(running, "ready")
    os.killpg(running.shim.pid, signal.SIGSTOP)
    await until(lambda: machine.launcher.look(running.shim) is Vital.STOPPED, "the shim is stopped")
    assert await machine.launcher.stop(running, grace=ENOUGH)
    assert await machine.ended(running) == Ended(128 + signal.SIGTERM)


async def test_a_process_that_got_the_number_of_an_agent_is_left_alone(machine: Machine):
    stranger = subprocess.Popen([SLEEP, "1000"], start_new_session=True)
    try:
        who = identify(stranger.pid)
        assert who is not None
        before = Identity(stranger.pid, str(int(who.started) - 1))
        (machine.folder / "run").mkdir()
        running = Running(before, before, "nobodys-nonce", str(machine.folder / "run"))
        assert machine.launcher.look(before) is Vital.DEAD
        assert await machine.ended(running) == Ended(None)
        assert not await machine.launcher.stop(running, grace=0.0)
        assert is_alive(who)
    finally:
        stranger.kill()
        stranger.wait()


async def test_argus_does_not_end_itself_when_it_runs_under_the_agent_it_stops():
    nonce = f"nonce-{uuid.uuid4().hex}"
    argus = f"""
from argus.host.vitals import carriers
import os
print(os.getpid() in [who.pid for who in carriers({nonce!r})])
"""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", argus, env={**os.environ, "ARGUS_NONCE": nonce}, stdout=subprocess.PIPE
    )
    assert (await process.communicate())[0] == b"False\n"


# The log.


async def test_a_log_is_kept_within_its_size_while_its_agent_writes_on(machine: Machine):
    script = "i=0; while :; do i=$((i+1)); echo line $i 0123456789012345678901234567890123456789; done"
    running = await machine.launch(machine.start("sh", "-c", script))
    log = Path(running.folder) / "log"
    for _ in range(2):
        await until(lambda: log.stat().st_size > LOG_LIMIT, "the log is too long")
        os.kill(running.agent.pid, signal.SIGSTOP)
        await until(lambda: machine.launcher.look(running.agent) is Vital.STOPPED, "it is held")
        end = log.read_bytes()[-LOG_LIMIT // 4 :]
        machine.launcher.bound(running.folder)
        assert log.stat().st_size < LOG_LIMIT
        assert log.read_bytes().endswith(end)
        os.kill(running.agent.pid, signal.SIGCONT)
    await until(lambda: log.stat().st_size > LOG_LIMIT, "the log is too long")
    machine.launcher.bound(running.folder)
    before = log.stat().st_size
    await until(lambda: log.stat().st_size > before, "the agent writes on")
    await machine.launcher.stop(running, grace=ENOUGH)
    numbers = [int(line.split()[1]) for line in log.read_text().splitlines()[1:] if line.count(" ") == 2]
    assert numbers == sorted(numbers)
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


# tmux.


@needs_tmux
async def test_a_log_is_cut_at_the_end_of_its_agent(machine: Machine):
    script = f"head -c {3 * LOG_LIMIT} /dev/zero; echo; echo last"
    launch = machine.start("sh", "-c", script)
    running = await machine.launch(launch)
    assert await machine.ended(running) == Ended(0)
    log = RunFolder(running.folder).log
    assert log.stat().st_size <= LOG_LIMIT
    assert await machine.launcher.tail(running.folder, 1) == "last"
    with log.open("ab") as file:  # as of one that ended while Argus was away
        file.write(bytes(3 * LOG_LIMIT))
    assert await MachineLauncher().find(launch.folder, launch.nonce) == Ended(0)
    assert log.stat().st_size <= LOG_LIMIT


async def test_what_is_behind_a_link_in_the_place_of_a_log_is_not_cut(machine: Machine):
    running = await machine.launch(machine.start("true"))
    await machine.ended(running)
    log, other = RunFolder(running.folder).log, machine.folder / "other"
    other.write_bytes(bytes(2 * LOG_LIMIT))
    log.unlink()
    log.symlink_to(other)
    with contextlib.suppress(OSError):
        machine.launcher.bound(running.folder)
    assert other.stat().st_size == 2 * LOG_LIMIT


@pytest.mark.parametrize("what", ["a pipe that nobody writes into", "a link", "a folder"])
async def test_what_an_agent_put_in_the_place_of_its_log_is_neither_waited_for_nor_read(machine: Machine, what: str):
    running = await machine.launch(machine.start("true"))
    await machine.ended(running)
    log, other = RunFolder(running.folder).log, machine.folder / "other"
    other.write_text("somebody else's")
    log.unlink()
    if what == "a link":
        log.symlink_to(other)
    elif what == "a folder":
        log.mkdir()
    else:
        os.mkfifo(log)
    assert await machine.launcher.tail(running.folder, 9) == ""


async def test_a_token_in_the_environment_is_seen_neither_by_ps_nor_by_tmux_nor_left_in_a_file(machine: Machine):
    canary = f"canary-{uuid.uuid4().hex}"
    launch = machine.start("sh", "-c", f"echo ready; exec {SLEEP} 1000", where="tmux", env={"TOKEN": canary})
    running = await machine.launch(launch)
    await machine.said(running, "ready")
    assert f"TOKEN={canary}".encode() in Path(f"/proc/{running.agent.pid}/environ").read_bytes()
    assert canary not in machine.tmux("show-environment", "-t", "=run:").stdout
    assert canary not in machine.tmux("show-environment", "-g").stdout
    assert canary.encode() not in Path(f"/proc/{running.shim.pid}/cmdline").read_bytes()
    for entry in Path(running.folder).iterdir():
        assert entry.is_fifo() or canary.encode() not in entry.read_bytes()


@needs_tmux
async def test_a_session_goes_away_with_its_agent_whatever_the_persons_settings(machine: Machine):
    machine.tmux("new-session", "-d", "-s", "persons", ";", "set", "-g", "remain-on-exit", "on")
    machine.tmux("set", "-g", "destroy-unattached", "off")
    running = await machine.launch(machine.start("sh", "-c", f"echo ready; exec {SLEEP} 1000", where="tmux"))
    await machine.said(running, "ready")
    assert machine.tmux("has-session", "-t", "=run:").returncode == 0
    await until(
        lambda: machine.tmux("show-options", "-w", "-v", "-t", "=run:", "remain-on-exit").stdout.strip() == "off",
        "the option is set",
    )
    os.kill(running.agent.pid, signal.SIGKILL)
    assert await machine.ended(running) == Ended(128 + signal.SIGKILL)
    await until(lambda: machine.tmux("has-session", "-t", "=run:").returncode != 0, "the session is gone")
    assert machine.tmux("has-session", "-t", "=persons:").returncode == 0
    assert "ready" in await machine.launcher.tail(running.folder, 5)


@needs_tmux
async def test_a_session_that_a_person_closes_ends_its_agent(machine: Machine):
    running = await machine.launch(machine.start("sh", "-c", f"echo ready; exec {SLEEP} 1000", where="tmux"))
    await machine.said(running, "ready")
    machine.tmux("kill-session", "-t", "=run:")
    assert await machine.ended(running) == Ended(None)


@needs_tmux
async def test_a_tmux_that_hangs_is_given_up_and_starts_nothing_afterwards(machine: Machine):
    machine.tmux("new-session", "-d", "-s", "persons")
    server = int(machine.tmux("display-message", "-p", "#{pid}").stdout)
    launch = machine.start(*count(machine), where="tmux")
    os.kill(server, signal.SIGSTOP)
    try:
        with pytest.raises(LaunchFailed):
            await machine.launch(launch, timeout=1.0)
    finally:
        os.kill(server, signal.SIGCONT)
    # The server now reads what was asked of it, in order: this answer comes after the session was made, or was not.
    machine.tmux("list-sessions")
    await until(lambda: machine.tmux("has-session", "-t", "=run:").returncode != 0, "the late session ended")
    assert runs(machine) == 0
    running = await machine.launch(launch)
    await until(lambda: runs(machine), "the agent ran")
    assert await machine.launcher.find(launch.folder, launch.nonce) == running
    assert runs(machine) == 1


@needs_tmux
async def test_stopping_an_agent_spares_the_tmux_server_that_it_started(machine: Machine):
    script = f"tmux -L {machine.socket} new-session -d -s others '{SLEEP} 1000'; echo ready; exec {SLEEP} 1000"
    running = await machine.launch(machine.start("sh", "-c", script))
    await machine.said(running, "ready")
    machine.tmux("set", "-g", "exit-empty", "off")
    await machine.launcher.stop(running, grace=ENOUGH)
    assert machine.tmux("display-message", "-p", "#{pid}").returncode == 0


def test_who_becomes_another_program_all_the_time_is_found_every_time(tmp_path: Path) -> None:
    """The kernel shows no environment while a program takes the place of another."""
    again = tmp_path / "again"
    again.write_text('exec sh "$0"\n')
    process = subprocess.Popen(["sh", str(again)], env={**os.environ, NONCE: "a-nonce-of-its-own"})
    try:
        assert [len(list(carriers("a-nonce-of-its-own"))) for _ in range(300)] == [1] * 300
    finally:
        process.kill()
        process.wait()
