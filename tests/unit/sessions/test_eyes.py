"""Who is there, of those that are only seen in their terminals."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from argus.host.identity import Identity
from argus.host.panes import Look, Process, Who
from argus.host.panes import Place as Pane
from argus.sessions.eyes import MachineEyes
from argus.sessions.session import Place
from argus.testing import FakeClock, run_simulated

# Of nobody: beyond what a kernel gives.
_AGENT = Process(Identity(2**30, "1"), "sleep")
_THERE = Look(Pane("s", "shop-ps", "%1", 1), "mark", 80, 1, (0, 0), ("",), None, _AGENT)


class Panes:
    def __init__(self, shown: str) -> None:
        self.shown = list(shown)

    async def find(self, socket: str, session: str, who: Who, *, timeout: float) -> list[Look]:
        return [_THERE] if (self.shown.pop(0) if len(self.shown) > 1 else self.shown[0]) == "x" else []


class Transcripts:
    async def homes(self, pid: int) -> dict[str, str]:
        return {}


@pytest.mark.parametrize(
    ("shown", "alive"),
    [
        pytest.param("xx", [True, True], id="it-is-there"),
        pytest.param("x.x", [True, True], id="a-shell-has-the-terminal-for-a-moment"),
        pytest.param("x....x", [True, True], id="or-for-a-longer-one"),
        pytest.param("x.", [True, False], id="it-is-gone"),
        pytest.param(".", [None, None], id="one-that-was-never-there-is-not-dead"),
    ],
)
def test_who_is_missed_for_a_moment_is_not_dead(shown: str, alive: list[bool | None]) -> None:
    async def looks(loop: asyncio.AbstractEventLoop) -> list[Any]:
        eyes = MachineEyes(Panes(shown), Transcripts(), FakeClock(loop), lambda: "s")  # type: ignore[arg-type]
        place = Place("shop", session="shop-ps", agent="plain")
        return [(await eyes.look(place, "")).alive for _ in alive]

    assert run_simulated(looks) == alive
