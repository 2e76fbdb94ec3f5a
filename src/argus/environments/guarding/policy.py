"""What is wrong with a container, and what is done about it. Values in, value out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from argus.core.backoff import Backoff
from argus.core.cutting import beginning
from argus.core.errors import Code
from argus.environments.guarding.model import Attempt, Charge, Diagnostics, Settings
from argus.environments.guarding.signs import Signs
from argus.host.engine.resources import Made

CAP = 60.0
"""Seconds that no wait is longer than."""
_BY_A_SIGNAL = (130, 137, 143)
"""INT, KILL and TERM: whoever did not see it does not know whether somebody meant it."""
_SAID = 200
"""Characters of what a health check printed."""
_SHORT = 60.0
"""Seconds. One that does not run for longer, twice in a row after a restart, is in a crash loop."""


@dataclass(frozen=True, slots=True)
class Well:
    pass


@dataclass(frozen=True, slots=True)
class Left:
    """Not for the guardian to start."""

    why: str


@dataclass(frozen=True, slots=True)
class Fallen:
    """It ended because its engine did."""


@dataclass(frozen=True, slots=True)
class Failed:
    code: Code
    reason: str
    is_running: bool = False


Finding = Well | Left | Fallen | Failed

FINISHED = "it ended by itself, with exit status 0"
"""As one that only prepares something does: nobody misses it."""


def judge(made: Made | None, signs: Signs, *, ailing: str = "", has_check: bool = False, fell: bool = False) -> Finding:
    """`ailing`: what the file's own health check said so often that it counts. `has_check`: whether it has one.
    `fell`: the engine was away when it ended."""
    if made is None:
        return Left("it is not there any more: somebody removed it")
    if made.state == "paused":
        return Left("somebody paused it")
    if made.state in ("running", "restarting", "removing"):
        return _running(made, signs, ailing, has_check)
    is_unseen = signs.died is None
    if fell and (is_unseen or signs.is_on_purpose):
        return Fallen()
    if signs.is_on_purpose:
        return Left("somebody stopped it")
    if made.oom_killed:
        return Failed(Code.CONTAINER_OOM, "it ran out of memory")
    if made.exit_code == 0:
        return Left(FINISHED)
    if is_unseen and made.exit_code in _BY_A_SIGNAL:
        return Left(f"it ended with exit status {made.exit_code} while nobody saw by whom")
    by = ": killed (SIGKILL)" if made.exit_code == 137 else ""
    return Failed(Code.CONTAINER_CRASH, f"it ended with exit status {made.exit_code}{by}")


def _running(made: Made, signs: Signs, ailing: str, has_check: bool) -> Finding:
    if ailing:
        return Failed(Code.HEALTH_CHECK_TIMEOUT, f"its health check fails: {ailing}", is_running=True)
    # Where the file says how it is asked, setup took its word. The engine's own check then counts only as a change.
    if made.health == "unhealthy" and (signs.was_healthy or not has_check):
        said = beginning(" ".join(made.health_output.split()), _SAID)
        reason = f"its own health check says unhealthy: {said}".removesuffix(": ")
        return Failed(Code.HEALTH_CHECK_TIMEOUT, reason, is_running=True)
    return Well()


@dataclass(frozen=True, slots=True)
class Restart:
    attempt: int
    delay: float


@dataclass(frozen=True, slots=True)
class GiveUp:
    """After that many in vain."""

    attempts: int


@dataclass(frozen=True, slots=True)
class Report:
    """It is not to be restarted."""


def decide(spent: int, settings: Settings) -> Restart | GiveUp | Report:
    """`spent`: the restarts since it was last well for ten minutes, or since it was set up."""
    if not settings.restart:
        return Report()
    if spent >= settings.most:
        return GiveUp(spent)
    backoff = Backoff(settings.delay, CAP, settings.growth)
    return Restart(spent + 1, backoff.delay(spent + 1))


def is_loop(attempts: Sequence[Attempt], last: Diagnostics) -> bool:
    """Whether it ended soon after its restarts, again and again. What the engine would not start has not ended."""
    after = [one.diagnostics for one in attempts[1:]] + [last] if attempts else []
    ended = [found for one, found in zip(attempts, after, strict=True) if one.outcome != "refused"]
    return len(ended) > 1 and all(one.ran is not None and one.ran < _SHORT for one in ended[-2:])


def is_settling(charge: Charge, wall: float) -> bool:
    """Whether it is well only since a moment, by a restart that was not the first one that counts: until it has run for
    longer than one in a crash loop does, it may be down again at once."""
    last = charge.counted[-1] if len(charge.counted) > 1 else None
    # A clock that was set back says nothing: then nobody waits.
    return last is not None and 0.0 <= wall - last.at - last.seconds < _SHORT
