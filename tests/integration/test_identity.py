"""Who a process is, on real processes."""

import os
import resource
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from argus.core.vital import Vital
from argus.host.identity import Identity, identify, is_alive, is_surely, send
from argus.host.vitals import look

SLEEP = shutil.which("sleep") or "/bin/sleep"


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    made = subprocess.Popen([SLEEP, "1000"])
    yield made
    made.kill()
    made.wait()


def known(pid: int) -> Identity:
    found = identify(pid)
    assert found is not None
    return found


def end_unreaped(child: subprocess.Popen[bytes]) -> None:
    """Ended and not reaped, which is a zombie. Waits in the kernel."""
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)


def test_a_living_process_is_known_and_stays_the_same(child: subprocess.Popen[bytes]):
    first = known(child.pid)
    assert first.pid == child.pid
    assert known(child.pid) == first
    assert is_alive(first)
    assert known(os.getpid()) != first


def test_a_stopped_process_is_alive(child: subprocess.Popen[bytes]):
    before = known(child.pid)
    child.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, child.pid, os.WSTOPPED | os.WNOWAIT)
    assert is_alive(before)


def test_a_zombie_is_dead_although_its_number_is_taken(child: subprocess.Popen[bytes]):
    before = known(child.pid)
    end_unreaped(child)
    os.kill(child.pid, 0)
    assert identify(child.pid) is None
    assert not is_alive(before)
    assert send(before, signal.SIGTERM) is False


def test_a_process_that_is_gone_is_nobody(child: subprocess.Popen[bytes]):
    before = known(child.pid)
    child.kill()
    child.wait()
    assert identify(child.pid) is None
    assert send(before, signal.SIGTERM) is False


@pytest.mark.parametrize("pid", [2**22 + 1, 2**31 - 1], ids=["beyond-the-last-number", "the-largest-number"])
def test_a_number_nobody_has_is_nobody(pid: int):
    assert identify(pid) is None
    assert send(Identity(pid, "1"), signal.SIGTERM) is False


@contextmanager
def no_descriptor_left() -> Iterator[None]:
    """As when too many files are open; those that are open stay so."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_without_descriptors_nobody_is_taken_for_dead_and_nobody_gets_a_signal(child: subprocess.Popen[bytes]):
    who = known(child.pid)
    with no_descriptor_left():
        with pytest.raises(OSError, match="Too many open files"):
            identify(child.pid)
        assert look(who) is None
        assert is_alive(who)
        assert not is_surely(who)
        assert send(who, signal.SIGKILL) is False
    assert child.poll() is None
    assert look(who) is Vital.ALIVE


def test_another_start_time_is_another_process_and_gets_no_signal(child: subprocess.Popen[bytes]):
    stranger = Identity(child.pid, "1")
    assert not is_alive(stranger)
    assert send(stranger, signal.SIGKILL) is False
    # A signal that was sent would be pending by now: the kernel delivers it before it answers the sender.
    assert child.poll() is None
    assert is_alive(known(child.pid))


def test_the_right_process_gets_the_signal_and_no_other(child: subprocess.Popen[bytes]):
    other = subprocess.Popen([SLEEP, "1000"])
    try:
        assert send(known(child.pid), signal.SIGTERM) is True
        assert child.wait(10) == -signal.SIGTERM
        assert is_alive(known(other.pid))
    finally:
        other.kill()
        other.wait()


@pytest.mark.parametrize("name", ["a) Z 1 (b", "(x)", "with blanks", ") Z"])
def test_a_program_cannot_make_itself_look_dead_by_its_name(tmp_path: Path, name: str):
    program = tmp_path / name
    shutil.copy(SLEEP, program)
    named = subprocess.Popen([program, "1000"])
    try:
        found = known(named.pid)
        assert found.started.isdecimal()
        assert is_alive(found)
    finally:
        named.kill()
        named.wait()


def test_two_processes_are_told_apart_by_their_numbers(child: subprocess.Popen[bytes]):
    assert Identity(child.pid, "5") != Identity(child.pid + 1, "5")
    assert Identity(child.pid, "5") != Identity(child.pid, "6")
