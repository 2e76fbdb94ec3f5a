"""The words of the guardian's events, and of its final report. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from argus.core.clock import milliseconds, rfc3339
from argus.core.errors import ArgusError, Code
from argus.environments.guarding.model import Attempt, Charge, Restart, Settings, State
from argus.host.engine.resources import Made


def attempt(charge: Charge, one: Attempt, settings: Settings, died: float | None, decided: float) -> dict[str, Any]:
    """`died`: when the engine told of its end, by its clock. `decided`: when that was judged."""
    return {
        "attempt": one.number,
        "maxRestarts": settings.most,
        "reason": one.reason,
        "code": one.code,
        "delay": round(one.delay * 1000),
        "diedAt": milliseconds(died) if died is not None else None,
        "decidedAt": milliseconds(decided),
        "diagnostics": one.diagnostics.public(),
        **_earlier(charge),
    }


def _earlier(charge: Charge) -> dict[str, Any]:
    """The restarts that count and that other incidents tell: without them this one's limit would not add up."""
    several = [
        {
            "attempt": one.number,
            "at": rfc3339(one.at),
            "reason": one.reason,
            "outcome": one.outcome,
            "incident": one.incident,
        }
        for one in charge.earlier
    ]
    return {"earlier": several} if several else {}


def success(one: Attempt) -> dict[str, Any]:
    return {
        "attempt": one.number,
        "reason": one.reason,
        "code": one.code,
        "duration": round(one.seconds * 1000, 1),
    }


def given_up(charge: Charge) -> dict[str, Any]:
    error = problem(charge)
    assert error is not None
    return {
        "attempts": charge.spent,
        "code": error.code.value,
        "reason": charge.why,
        "cause": charge.code,
        "message": error.message,
        "crashLoop": charge.is_loop,
        "history": history(charge),
        "diagnostics": charge.last.public() if charge.last else None,
        **_earlier(charge),
    }


def history(charge: Charge) -> dict[str, Any]:
    return {
        "containerName": charge.container,
        "attempts": [one.public() for one in charge.counted],
        "finalStatus": "exhausted" if charge.state is State.EXHAUSTED else "recovered",
    }


def problem(charge: Charge) -> ArgusError | None:
    """What is wrong with it, as an error; None where nothing is."""
    if charge.state is State.EXHAUSTED:
        times = "once" if charge.spent == 1 else f"{charge.spent} times"
        often = f"was restarted {times} in vain" if charge.spent else "is not to be restarted"
        kind = "a crash loop: " if charge.is_loop else ""
        return ArgusError(
            Code.CONTAINER_RESTART_EXHAUSTED,
            f"{charge.service} {often}: {kind}{charge.why}",
            service=charge.service,
            container=charge.container,
            attempts=charge.spent,
            cause=charge.code,
            crashLoop=charge.is_loop,
            history=history(charge),
            diagnostics=charge.last.public() if charge.last else None,
        )
    if not charge.code:
        return None
    details: dict[str, Any] = {"service": charge.service, "container": charge.container}
    seen = charge.last or (charge.attempts[-1].diagnostics if charge.attempts else None)
    if seen is not None:
        details["diagnostics"] = seen.public()
    return ArgusError(Code(charge.code), f"{charge.service}: {charge.why}", **details)


def restarts(charge: Charge, since: float) -> list[Restart]:
    """Those that were begun since then, by the wall clock."""
    return [
        Restart(
            charge.service,
            charge.container,
            one.reason,
            one.code,
            one.number,
            one.delay,
            one.seconds,
            one.at,
            one.outcome,
            one.diagnostics.public(),
            charge.is_loop,
        )
        for one in charge.attempts
        if one.at >= since and one.outcome != "not_needed"
    ]


def shown(charge: Charge, blind: str, known: Made | None, found: Mapping[str, Made | None]) -> Charge:
    """One that was well when the guardian last judged it, as it stands now. `blind`: why he cannot look; `known`: what
    he saw last, `found`: what somebody else has just seen."""
    if blind:
        return replace(charge, state=State.UNWATCHED, why=f"nobody can look at it: {blind}")
    made = found.get(charge.service, known)
    if charge.service in found and made is None:
        return replace(charge, state=State.WAITING, why="it is not there, and is about to be looked at")
    if made is not None and made.state in ("exited", "dead"):
        return replace(charge, state=State.WAITING, why="it has ended, and is about to be looked at")
    return charge
