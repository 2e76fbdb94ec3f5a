"""The values the agents' part thinks in."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from argus.core.clock import Stamp
from argus.core.trouble import Trouble

COMPLETED = "completed"
"""The one word of an agent's own that decides something: it has done its task."""

STOPPED = "shutdown_requested"
"""Why one is over that somebody stopped."""
FINISHED = "finished"
"""Why one is over that has done its task."""


class State(StrEnum):
    SPAWNING = "spawning"
    """Claimed, and not yet known to run."""
    ALIVE = "alive"
    STALE = "stale"
    """Silent for longer than it may be, and not known to be dead."""
    UNKNOWN = "unknown"
    """Silent, and nobody here can look."""
    DEAD = "dead"
    """Ended before its task was."""
    RESPAWNED = "respawned"
    """Dead, and its task is in the hands of the next generation."""
    REMOVED = "removed"
    """Stopped or finished: it stays that way."""

    @property
    def is_over(self) -> bool:
        return self in (State.RESPAWNED, State.REMOVED)


class Origin(StrEnum):
    """Who started it, and so who can see it end."""

    DAEMON = "daemon"
    TERMINAL = "terminal"
    FOREIGN = "foreign"


@dataclass(frozen=True, slots=True)
class Process:
    """Where it runs. Only on the host of that name, in that boot, may its number be looked at."""

    host: str
    boot_id: str
    pid: int
    started: str
    space: str = ""
    """The space of PIDs that the number belongs to: a container has its own."""
    shim_pid: int = 0
    shim_started: str = ""


@dataclass(frozen=True, slots=True)
class Agent:
    """One generation of one lineage."""

    id: str
    lineage: str
    generation: int
    state: State
    since: float
    born: float = 0.0
    """When it was first heard of; lists are in this order."""
    origin: Origin = Origin.FOREIGN
    config: str = ""
    project: str = ""
    folder: str = ""
    """Where it works, in a worktree of the project; empty: in the project itself."""
    task: str = ""
    status: str = ""
    """Its own word."""
    doing: str = ""
    """What it says it works on just now, within the task it was given."""
    session: str = ""
    """What its program calls the conversation; a respawn resumes it."""
    resumes: bool = False
    """Whether it goes on with that conversation, or begins it."""
    in_turn: bool = False
    """Whether it was, as its program told last. Kept of those that depend on something: restarts wait for their turns,
    also those of the next Argus."""
    process: Process | None = None
    seen: Stamp | None = None
    """The last beat, or the last time it was found alive."""
    spawned: Stamp | None = None
    nonce: str = ""
    """Stands in the environment of the process that we started, and of nothing else."""
    died: Stamp | None = None
    wait: float = 0.0
    """Seconds from its death to the next start: the backoff."""
    tries: int = 0
    """Starts of its lineage again, up to this one, since it was last healthy."""
    waited: float = 0.0
    """The backoff before this one was started."""
    stop: str = ""
    """Why it is to end and stay ended; its beats are answered with it."""
    ended_by: str = ""
    """Who wanted that, or had it removed."""
    gate: str = ""
    """What held the last decision back."""
    escalated: bool = False
    exit_status: int | None = None
    reason: str = ""
    """Why it is in this state, for people."""
    terminal: Process | None = None
    """The launcher in whose terminal it runs, and the next one while that launcher waits."""
    warned: bool = False
    """Somebody was told of this silence."""
    trouble: Trouble | None = None
    """Its death, or that of who had its task before, until the task goes on."""
    waits_under: tuple[str, ...] = ()
    """The incidents in whose stories it stands as long as its first start waits."""

    @property
    def needs_a_person(self) -> bool:
        """Nothing will happen to it by itself: it hangs, is silent, or what holds it back does not open with time."""
        is_held = self.state is State.DEAD and self.gate not in ("", "backoff", "record", "dependency down")
        return is_held or self.state in (State.STALE, State.UNKNOWN)

    @property
    def works_in(self) -> str:
        return self.folder or self.project


class End(StrEnum):
    """What became of one that was alive."""

    DIED = "died"
    FINISHED = "finished"
    STOPPED = "stopped"
    """By a person, or as a person granted it."""
    REMOVED = "removed"
    """From the list, by a person."""


@dataclass(frozen=True, slots=True)
class Over:
    """What is still known of one that is over."""

    why: str
    end: End
    by: str = ""


def over(gone: Agent) -> Over:
    if gone.state is not State.REMOVED:
        end = End.DIED
    elif gone.stop:
        end = End.STOPPED
    else:
        end = End.FINISHED if gone.reason == FINISHED else End.REMOVED
    return Over(gone.reason or gone.state.value, end, gone.ended_by)
