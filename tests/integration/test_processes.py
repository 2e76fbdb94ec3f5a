"""Questions about real processes."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import time
import uuid
from pathlib import Path

import psutil
import pytest

from argus.host import processes
from argus.host.asking import ask
from argus.host.children import Children
from argus.host.leftovers import Leftovers
from argus.host.processes import NoProcess


@pytest.fixture
async def children():
    one = Children()
    yield one
    one.close()


@pytest.fixture
async def leftovers():
    one = Leftovers()
    yield one
    one.close()


async def test_a_program_is_asked_and_its_answer_read(children: Children, leftovers: Leftovers):
    ran = await ask(children, leftovers, ["sh", "-c", "echo out; echo err >&2; exit 3"], timeout=10)
    assert (ran.exit_code, ran.output, ran.problem) == (3, "out\nerr\n", "")


async def test_of_a_long_answer_the_end_is_kept_and_nothing_blocks(children: Children, leftovers: Leftovers):
    ran = await ask(children, leftovers, [sys.executable, "-c", "print('x' * 5_000_000); print('end')"], timeout=30)
    assert ran.exit_code == 0
    assert len(ran.output) == 64 * 1024
    assert ran.output.endswith("end\n")


async def test_a_program_that_hangs_ends_with_all_it_started_at_its_deadline(
    children: Children, leftovers: Leftovers, tmp_path: Path
):
    note = tmp_path / "pid"
    ran = await ask(children, leftovers, ["sh", "-c", f"sleep 600 & echo $! > {note}; wait"], timeout=0.5)
    assert (ran.exit_code, ran.problem) == (None, "not finished within 0.5 s")
    await gone(int(note.read_text()))


async def test_what_a_program_leaves_behind_is_ended_and_not_waited_for(
    children: Children, leftovers: Leftovers, tmp_path: Path
):
    note = tmp_path / "pid"
    began = time.monotonic()
    ran = await ask(children, leftovers, ["sh", "-c", f"sleep 600 & echo $! > {note}; echo said"], timeout=60)
    assert (ran.exit_code, ran.output) == (0, "said\n")
    assert time.monotonic() - began < 30
    await gone(int(note.read_text()))


LEAVES = "setsid sleep 600 & echo $! > {note}"


@pytest.mark.parametrize(
    ("script", "timeout"),
    [
        pytest.param(f"trap '' TERM; {LEAVES}; sleep 600", 0.5, id="and-hangs"),
        pytest.param(LEAVES, 60, id="and-ends"),
        pytest.param(f"({LEAVES}) > /dev/null; sleep 600 2>&1", 0.5, id="and-hangs-with-nobody-holding-its-output"),
    ],
)
async def test_what_leaves_the_group_of_a_program_is_ended_as_well(
    children: Children, leftovers: Leftovers, tmp_path: Path, script: str, timeout: float
):
    note = tmp_path / "pid"
    other, environment = leftovers.begin()
    beside = subprocess.Popen(["sleep", "600"], env=environment)  # noqa: ASYNC220 - forked at once
    try:
        await ask(children, leftovers, ["sh", "-c", script.format(note=note)], timeout=timeout)
        await gone(int(note.read_text()))
        assert beside.poll() is None, "a question that is under way is left alone"
        leftovers.ended(other, is_suspect=True)
        await gone(beside.pid)
    finally:
        beside.kill()
        beside.wait()


async def test_what_hides_outside_of_the_group_of_a_program_is_ended_at_the_latest_with_argus(
    children: Children, tmp_path: Path
):
    note, leftovers = tmp_path / "pid", Leftovers()
    script = f"exec > /dev/null 2>&1; {LEAVES}".format(note=note)
    assert (await ask(children, leftovers, ["sh", "-c", script], timeout=60)).exit_code == 0
    leftovers.close()
    await gone(int(note.read_text()))


async def gone(pid: int) -> None:
    while alive(pid):  # noqa: ASYNC110 - it is no child of ours
        await asyncio.sleep(0.01)


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def test_a_program_that_is_not_there(children: Children, leftovers: Leftovers):
    ran = await ask(children, leftovers, ["/no/such"], timeout=1)
    assert ran.problem == "cannot start /no/such: No such file or directory"


@pytest.fixture
def named(tmp_path: Path):
    """A process of a name that nobody else has."""
    program = tmp_path / f"argus-test-miner-{uuid.uuid4().hex}"
    sleep = shutil.which("sleep")
    assert sleep is not None
    program.symlink_to(sleep)
    process = subprocess.Popen([str(program), "600"])
    yield process
    process.kill()
    process.wait()


def test_a_process_is_found_by_its_exact_name_and_a_zombie_is_none(named: subprocess.Popen[bytes]):
    name = Path(psutil.Process(named.pid).cmdline()[0]).name
    assert processes.of_name(name) == [named.pid]
    assert processes.of_name(name[:-1]) == []
    named.kill()
    while psutil.Process(named.pid).status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.01)
    assert processes.of_name(name) == []


def test_a_pid_file_names_a_process_that_is_older_than_the_file(tmp_path: Path, named: subprocess.Popen[bytes]):
    file = tmp_path / "pid"
    file.write_text(f"{named.pid}\n")
    assert processes.of_file(str(file)) == named.pid
    os.utime(file, (0, time.time() - 3600))
    with pytest.raises(NoProcess, match="is another one"):
        processes.of_file(str(file))


@pytest.mark.parametrize("text", ["", "x", "-1", "0", "99999999999", "²"], ids=repr)
def test_what_is_no_pid_is_said_so(tmp_path: Path, text: str):
    file = tmp_path / "pid"
    file.write_text(text)
    with pytest.raises(NoProcess, match="holds no PID"):
        processes.of_file(str(file))


def test_a_pid_file_that_is_not_there_or_no_file(tmp_path: Path):
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(NoProcess):
            processes.of_file(str(path))
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(NoProcess, match="is no file"):
        processes.of_file(str(tmp_path / "fifo"))
