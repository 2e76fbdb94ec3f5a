"""What the agents' part may ask of the machine: start one, find it again, see it end, end it.

An agent outlives Argus. So everything about it that a later Argus needs is in its run folder, written by a shim that
runs before it and after it, and never only in our memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from argus.core.vital import Vital
from argus.host.identity import Identity

NONCE = "ARGUS_NONCE"


@dataclass(frozen=True, slots=True)
class Launch:
    """One start of one agent. The run folder is its latch: whatever starts it twice, only one of them runs."""

    folder: str
    argv: tuple[str, ...]
    cwd: str
    nonce: str
    """Stands in its environment as ARGUS_NONCE, and in that of everything it starts."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Added to ours."""
    tmux: str | None = None
    """The name of a tmux session for it."""
    tmux_socket: str = "default"
    """The name given to tmux -L."""


@dataclass(frozen=True, slots=True)
class Running:
    """A started agent: its own process, and the shim above it, which leads the process group of both."""

    agent: Identity
    shim: Identity
    nonce: str
    folder: str
    """Its run folder: how it ended will be noted there."""


@dataclass(frozen=True, slots=True)
class Ended:
    exit_status: int | None
    """As a shell counts: 128 + n for signal n. None when nobody was left to note it."""
    words: tuple[str, ...] = ()
    """The last lines it printed, where somebody has read them."""


class LaunchFailed(Exception):
    """It was not started, and will not run later: said in words a person can act on."""


class LaunchUncertain(Exception):
    """It hangs half-way: nobody can say yet whether it runs. `find` tells later; until then nothing may replace it."""


class NotEnded(Exception):
    """It was killed and is still there: it hangs in the kernel."""


class Launcher(Protocol):
    def prepare(self, folder: str) -> None:
        """Makes a run folder for a start that somebody else carries out, as its first attempt.

        From then on `find` settles it: after None that start will not begin any more. Raises LaunchFailed.
        """
        ...

    async def launch(self, launch: Launch, *, timeout: float) -> Running:
        """Starts it, or finds that it was started already, and returns once its shim has said who it is.

        Also when it has ended by then, however long ago: `ended` tells. What was begun once is never begun again.
        Raises LaunchFailed when it cannot be started (no such program, no such folder, no tmux, a session of that name,
        a run folder of another start) or did not begin in time; the same may then be launched again, in the same
        folder. Raises LaunchUncertain when it hangs half-way.
        """
        ...

    async def find(self, folder: str, nonce: str) -> Running | Ended | None:
        """What became of a start of which an earlier Argus does not know more.

        None: it never began, and what was on its way will not begin any more; it may be launched again. Raises
        LaunchUncertain when it hangs half-way.
        """
        ...

    async def ended(self, running: Running) -> Ended:
        """Returns when the agent has ended, at once."""
        ...

    def identify(self, pid: int) -> Identity | None:
        """The living process of that number; None also when nobody can look."""
        ...

    def look(self, identity: Identity) -> Vital | None:
        """None when nobody can say, which is never a reason to replace it."""
        ...

    def carries(self, pid: int, nonce: str) -> bool:
        """Whether that process was started by the agent of this nonce, or by what it started."""
        ...

    async def stop(self, running: Running, *, grace: float) -> bool:
        """Ends it and its whole group: asks first (SIGTERM), insists after `grace` seconds. False: it was gone.

        What has left the group and still carries the nonce is ended too. Raises NotEnded when it outlives SIGKILL.
        """
        ...

    def clear(self, running: Running) -> None:
        """Ends, in a moment, whatever still carries the nonce of one that is dead."""
        ...

    async def tail(self, folder: str, lines: int) -> str:
        """The last of what it printed; of one that runs in tmux, the last of what can be seen there."""
        ...

    def bound(self, folder: str) -> None:
        """Keeps its log within its size, the last part of it."""
        ...
