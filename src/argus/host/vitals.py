"""Whether a process lives, when it ends, and how to end it with everything that belongs to it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from argus.core.vital import Vital
from argus.host.identity import Identity, identify, is_alive, is_surely, seen, send
from argus.host.launching import NONCE, Running

_POLL = 0.1
_PROC = Path("/proc")
_MOST = 10_000
"""Processes looked at in one search."""
_ROUNDS = 5
_TURNS, _TURN = 10, 0.002
"""How often, and after how many seconds, an environment is read again that may just be changing hands."""
_RESERVE = 64
"""Descriptors that stay free of those that only watch: whoever is watched without one is looked at now and then."""


def look(identity: Identity) -> Vital | None:
    """None when nobody can say: no descriptor is left, or it is not ours to look at."""
    try:
        found = seen(identity.pid)
    except OSError:
        return None
    if found is None or found[0] != identity:
        return Vital.DEAD
    return Vital.STOPPED if found[1] in ("T", "t") else Vital.ALIVE


def _stat(pid: int) -> list[str]:
    text = (_PROC / str(pid) / "stat").read_text(encoding="ascii", errors="replace")
    return text.rpartition(")")[2].split()


async def gone(identity: Identity) -> None:
    """Returns when that process has ended, at once. It need not be our child, so the kernel is asked by pidfd."""
    try:
        handle = os.pidfd_open(identity.pid)
    except ProcessLookupError:
        return
    except (AttributeError, OSError):  # not Linux, forbidden, or too many files open
        await _polled(identity)
        return
    if handle >= _room():
        os.close(handle)
        await _polled(identity)
        return
    try:
        # The handle pins whoever has the number now; only then can the start time say whether it is the one meant.
        while (vital := look(identity)) is None:  # noqa: ASYNC110 - nobody tells when we can look again
            await asyncio.sleep(_POLL)
        if vital is not Vital.DEAD:
            await readable(handle)
    finally:
        os.close(handle)


async def _polled(identity: Identity) -> None:
    while is_alive(identity):  # noqa: ASYNC110 - there is nothing to wait on
        await asyncio.sleep(_POLL)


def _room() -> int:
    """The first descriptor that is not for watching: the last ones are for looking, and for the store."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return most - _RESERVE if most >= 0 else 2**31


async def readable(handle: int) -> None:
    loop = asyncio.get_running_loop()
    happened: asyncio.Future[None] = loop.create_future()

    def settle() -> None:
        if not happened.done():
            happened.set_result(None)

    loop.add_reader(handle, settle)
    try:
        await happened
    finally:
        loop.remove_reader(handle)


def signal_group(running: Running, number: int) -> None:
    """Signals the group, if it is certain that it is this agent's, and an agent that has left it.

    The group has the number of its leader, the shim. While the shim lives, or the agent lives in that group, the kernel
    gives the number to nobody else.
    """
    inside = is_surely(running.agent) and _group(running.agent.pid) == running.shim.pid
    if inside or (is_surely(running.shim) and _group(running.shim.pid) == running.shim.pid):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(running.shim.pid, number)
    if not inside:
        send(running.agent, number)


def _group(pid: int) -> int:
    with contextlib.suppress(ProcessLookupError):
        return os.getpgid(pid)
    return 0


def carries(pid: int, nonce: str) -> bool:
    try:
        inside = (_PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return False
    return f"{NONCE}={nonce}".encode() in inside.split(b"\0")


def carriers(nonce: str) -> Iterator[Identity]:
    """Every process that carries this nonce in its environment, wherever it has gone."""
    wanted = f"{NONCE}={nonce}".encode()
    return carrying(lambda environment: wanted in environment)


def carrying(is_wanted: Callable[[list[bytes]], bool]) -> Iterator[Identity]:
    """Every process with such an environment.

    Not ourselves, nor what we run under: Argus may have been started by an agent. And not a tmux server, which agents
    share: the one that happened to start it does not own the others' sessions. Raises OSError when nobody can look.
    """
    spared = set(_ancestry(os.getpid()))
    looked_at = 0
    with contextlib.suppress(FileNotFoundError):
        for entry in os.scandir(_PROC):
            if not entry.name.isdigit() or int(entry.name) in spared:
                continue
            looked_at += 1
            if looked_at > _MOST:
                return
            # Gone in the meantime, or somebody else's: then it is not ours to end.
            with contextlib.suppress(OSError):
                folder = Path(entry.path)
                who = identify(int(entry.name))
                if who is None or not is_wanted(_environment(folder).split(b"\0")):
                    continue
                if not (folder / "comm").read_bytes().startswith(b"tmux: server"):
                    yield who


def _environment(folder: Path) -> bytes:
    """While a process becomes another program its environment reads as empty: then it is read again."""
    for _ in range(_TURNS):
        if found := (folder / "environ").read_bytes():
            return found
        # Raises for the kernel's own and for who has ended: they have none, and will have none.
        (folder / "exe").readlink()
        time.sleep(_TURN)
    return b""


def _ancestry(pid: int) -> Iterator[int]:
    while pid > 0:
        yield pid
        try:
            pid = int(_stat(pid)[1])
        except (FileNotFoundError, ProcessLookupError):
            return


def end_carriers(running: Running, number: int) -> None:
    """Signals what carries the nonce and has left the group, which is signalled as a whole."""
    for _ in range(_ROUNDS):
        found = list(carriers(running.nonce))
        if number != signal.SIGKILL:
            found = [who for who in found if _group(who.pid) != running.shim.pid]
        signalled = [send(who, number) for who in found]
        # What is asked is asked once. What is killed may have started something while it was searched for.
        if not any(signalled) or number != signal.SIGKILL:
            return
