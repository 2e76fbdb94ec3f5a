"""What the daemon hands in: the seams, and what the agents' part must know of the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from argus.core.autonomy import Level
from argus.core.clock import Clock
from argus.core.depending import Broke, Thing
from argus.host.conversations import Conversations
from argus.host.launching import Launcher
from argus.host.worktrees import Worktrees
from argus.store.interface import Store
from argus.store.notes import Notes


@dataclass(frozen=True, slots=True)
class Tools:
    launcher: Launcher
    conversations: Conversations
    worktrees: Worktrees
    store: Store
    notes: Notes
    clock: Clock
    autonomy: Callable[[], Level]
    time_is_sound: Callable[[], bool]
    new_id: Callable[[], str]
    new_session: Callable[[], str]
    chance: Callable[[], float]
    """In [0, 1), for the jitter."""
    host: str
    """The name of this machine."""
    space: str
    """Its space of PIDs; with the boot id it says where we are, also when the machine is renamed."""
    runs: Callable[[], Iterable[str]]
    """The agents that have a run folder, also of a record that was lost."""
    run_folder: Callable[[str], str]
    """Where an agent's shim keeps its notes and its log."""
    environment: Callable[[str, str], dict[str, str]]
    """What an agent of that id and project is given to speak to Argus: where it is, and a token of its own."""
    is_folder: Callable[[str], bool]
    tmux_socket: str = "default"
    broken: Callable[[tuple[Thing, ...]], Broke] = lambda needs: ()
    """What of these is down, by its roots."""
    clean: Callable[[str], str] = lambda text: text
    """Takes secrets out of a text."""
