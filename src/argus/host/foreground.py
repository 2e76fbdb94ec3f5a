"""Who would get what is typed into a terminal: the process group that has it in the foreground."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass

from argus.host.identity import Identity
from argus.host.panes import SHELLS, Process, Who

_STAT = 4096
_MOST = 200
"""Processes looked at in one search."""
_UNBORN = "tmux: server"
"""What the process of a new pane is called until it has become its program."""


@dataclass(frozen=True, slots=True)
class _Stat:
    process: Process
    group: int
    terminal: int
    foreground: int
    """The group that has the process's terminal."""


def foreground(pid: int, who: Who) -> tuple[Process | None, Process | None]:
    """The leader of the group that has this process's terminal, and whoever is asked for, if they are in that group."""
    first = _stat(pid)
    if first is None or first.terminal == 0 or first.foreground <= 0:
        return None, None
    leader = first if first.group == pid == first.foreground else _stat(first.foreground)
    if leader is not None and not _is_in(leader, first):
        leader = None
    return leader.process if leader else None, _agent(leader, first, who)


def _agent(leader: _Stat | None, first: _Stat, who: Who) -> Process | None:
    if who.agent is not None:
        found = _stat(who.agent.pid)
        return found.process if found and found.process.who == who.agent and _is_in(found, first) else None
    for one in _members(leader, first):
        name = one.process.name
        if name in who.names or (not who.names and name not in SHELLS and name != _UNBORN):
            return one.process
    return None


def _members(leader: _Stat | None, first: _Stat) -> Iterator[_Stat]:
    """Of the group in the foreground, beginning with its leader, which may be a wrapper around the agent, or gone."""
    if leader is not None:
        yield leader
    waiting = [leader.process.who.pid if leader else first.process.who.pid]
    for _ in range(_MOST):
        if not waiting:
            return
        for pid in _children(waiting.pop(0)):
            one = _stat(pid)
            if one is not None and _is_in(one, first):
                yield one
            waiting.append(pid)


def _is_in(one: _Stat, first: _Stat) -> bool:
    return one.group == first.foreground and one.terminal == first.terminal


def _children(pid: int) -> list[int]:
    found: list[int] = []
    # Gone in the meantime, or a kernel that does not tell: then they are not found, and nothing is typed.
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{task}/children", "rb") as file:
                found.extend(map(int, file.read(_STAT).split()))
    return found


def _stat(pid: int) -> _Stat | None:
    try:
        # Several times for every line that is typed, so without a file object.
        file = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        text = os.read(file, _STAT)
    except OSError:
        return None
    finally:
        os.close(file)
    # The command stands in parentheses and may hold any character, so the fields are counted from the last one.
    head, _, tail = text.rpartition(b")")
    fields = tail.split()
    if len(fields) < 20 or fields[0] in b"ZX":
        return None
    name = head.partition(b"(")[2].decode("utf-8", "replace")
    process = Process(Identity(pid, fields[19].decode("ascii")), name, stopped=fields[0] in b"Tt")
    return _Stat(process, int(fields[2]), int(fields[4]), int(fields[5]))
