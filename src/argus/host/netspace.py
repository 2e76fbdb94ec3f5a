"""Which ports a process's network listens on, as the kernel tells it, for one that runs in a container here."""

from __future__ import annotations

from pathlib import Path

_LISTENS = "0A"


def of_container(pid: int, id: str) -> frozenset[int] | None:
    """None where nobody can say: not our machine's process, or not ours to look at."""
    try:
        # The number came from the engine, which may count in another machine or namespace than ours.
        if id not in Path(f"/proc/{pid}/cgroup").read_text():
            return None
        return listening(Path(f"/proc/{pid}/net/tcp").read_text() + Path(f"/proc/{pid}/net/tcp6").read_text())
    except OSError:
        return None


def listening(table: str) -> frozenset[int]:
    """The ports of /proc/net/tcp, of either kind or both."""
    found = set()
    for line in table.splitlines():
        words = line.split()
        if len(words) > 3 and words[3] == _LISTENS and ":" in words[1]:
            found.add(int(words[1].rpartition(":")[2], 16))
    return frozenset(found)
