"""What the engine's events tell of one container since it was last started. Pure.

`docker stop` is told as kill (its stop signal, most often 15), after the grace kill (9), then die, then stop; `docker
kill` as kill (9), die; a crash as die alone, after oom where there was no memory left. So whoever asked a container to
end in its own time did so on purpose, and one that was killed outright did not end by anybody's plan.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from argus.host.engine.resources import Happening

_HARMLESS = frozenset(("0", "1", "10", "12", "17", "18", "19", "20", "21", "22", "23", "28"))
"""HUP, USR1, USR2, CHLD, CONT, STOP, TSTP, TTIN, TTOU, URG, WINCH: not meant to end anything."""
_KILL = frozenset(("9", "KILL", "SIGKILL"))
_OF_THE_LIVING = frozenset(("kill", "oom", "die"))
_ROUNDED = 1.0
"""Seconds by which the times of an engine's events may be rounded."""
_LONGEST = 600.0
"""Seconds between the asking and the end. One that did not listen and ends much later does so for another reason."""


@dataclass(frozen=True, slots=True)
class Signs:
    asked: float | None = None
    """When somebody asked it to end."""
    is_asked_by_somebody: bool = False
    """The engine took questions then: one that is ended itself does not, and asks its containers to end."""
    died: float | None = None
    is_stopped: bool = False
    """The engine says at the end of `docker stop` that it is done."""
    ran_out: bool = False
    """Of memory."""
    was_healthy: bool = False
    """By the engine's own check."""
    stream: int = 0
    """On which stream its death was heard."""

    @property
    def is_on_purpose(self) -> bool:
        if self.is_stopped:
            return True
        return self.asked is not None and self.died is not None and self.died - self.asked <= _LONGEST


def hear(signs: Signs, told: Happening, stream: int = 0) -> Signs:
    action = told.action
    if action == "start":
        return Signs()
    if action in _OF_THE_LIVING and signs.died is not None and told.at > signs.died + _ROUNDED:
        signs = Signs()  # its start was missed: who stopped it before says nothing about this end
    if action == "kill":
        signal = told.attributes.get("signal", "")
        is_asked = signal not in _KILL and signal.removeprefix("SIG") not in ("HUP", "USR1", "USR2", "WINCH")
        return replace(signs, asked=told.at) if is_asked and signal not in _HARMLESS else signs
    if action == "oom":
        return replace(signs, ran_out=True)
    if action == "die":
        return replace(signs, died=told.at, stream=stream)
    if action == "stop":
        return replace(signs, is_stopped=True)
    if action == "health_status: healthy":
        return replace(signs, was_healthy=True)
    return signs
