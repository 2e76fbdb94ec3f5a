"""The engine of the environments' world: it ends its containers, hangs, forgets and tells late, and people use it."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from dataclasses import replace

from argus.core.clock import Clock
from argus.core.errors import ArgusError
from argus.host.engine.birth import Birth
from argus.host.engine.resources import Happening, Wanted
from argus.host.engine.seam import EngineRefused, EngineUnavailable
from argus.testing import FakeContainer, FakeEngine
from argus.testing.containers import carries

GRACE = 10.0


class Machine(FakeEngine):
    """Beside what the fake engine does: an engine has a life of its own, and one event can be late or told twice."""

    def __init__(self, clock: Clock, happened: Callable[[FakeContainer, str], None]) -> None:
        super().__init__()
        self._clock = clock
        self._happened = happened
        """Told of all that truly happens to a container, at once."""
        self.is_closing = False
        """It is being ended: it takes no more questions, and still tells what becomes of its containers."""
        self.number = 1
        self.began = clock.wall()
        self.late = 0.0
        """Seconds by which it tells late."""
        self.is_twice = False
        self.tells_again = False
        """Whether it would tell something again of what this Argus has heard."""
        self._cuts = 0
        self._thawed = asyncio.Event()
        self._thawed.set()

    @property
    def is_there(self) -> bool:
        return not (self.away or self.is_closing or self.is_frozen)

    @property
    def birth(self) -> Birth:
        return Birth(f"engine-{self.number}", self.began, is_engine=True)

    def now(self) -> float:
        return self._clock.wall()

    # What it is asked, and what it tells.

    async def _reach(self) -> None:
        self.asked += 1
        await asyncio.sleep(0.001)
        # What was asked of a frozen one is done when it thaws, whether anybody still waits for it or not.
        await self._thawed.wait()
        if self.away or self.is_closing:
            raise EngineUnavailable("the Docker engine cannot be reached")

    def _tells(self, one: FakeContainer, action: str, more: dict[str, str]) -> None:
        self._happened(one, action)
        super()._tells(one, action, more)

    async def _telling(self, labels: Wanted, at: int) -> AsyncGenerator[Happening, None]:
        news, cuts = asyncio.Event(), self._cuts
        self.listeners.add(news)
        try:
            while not self.away and self._cuts == cuts:
                if self.is_frozen or at >= len(self.told):
                    news.clear()
                    await news.wait()
                    continue
                one = self.told[at]
                at += 1
                if carries(dict(one.labels), labels):
                    if self.late:
                        await asyncio.sleep(min(self.late, max(0.0, one.at + self.late - self.now())))
                    self.tells_again = self.tells_again or bool(one.at)
                    for _ in range(2 if self.is_twice else 1):
                        yield one
        finally:
            self.listeners.discard(news)
        raise EngineUnavailable("the Docker engine ended its events")

    def cut(self) -> None:
        """Whoever listens is cut off; the engine goes on and remembers."""
        self._cuts += 1
        self._wake()

    async def restart(self, id: str) -> None:
        """As the real one tells it: ended like by `docker stop`, and started. What comes between may find it ended."""
        await self._reach()
        one = self._one(id)
        if one.state == "running":
            await self._ended_in_its_time(one)
            await self._reach()
        await self.start(id)

    async def _ended_in_its_time(self, one: FakeContainer) -> bool:
        """Whether it was by this."""
        starts, number = one.starts, self.number
        self._tells(one, "kill", {"signal": "15"})
        if one.image.ignores_term:
            with suppress(TimeoutError):
                async with asyncio.timeout(GRACE):
                    while one.state == "running":  # noqa: ASYNC110 - virtual time costs nothing
                        await asyncio.sleep(0.05)
            if one.starts != starts or self.number != number or not self.is_there:
                return False
        if one.state == "running":
            if one.image.ignores_term:
                self._tells(one, "kill", {"signal": "9"})
            one.end(137 if one.image.ignores_term else one.image.exit_code and 143)
        self._tells(one, "stop", {})
        return True

    # What people do.

    async def stop_by_hand(self, one: FakeContainer) -> bool:
        return one.state == "running" and self.is_there and await self._ended_in_its_time(one)

    async def start_by_hand(self, one: FakeContainer) -> None:
        with suppress(ArgusError, EngineRefused):
            await super().start(one.id)

    def kill_by_hand(self, one: FakeContainer) -> None:
        self._tells(one, "kill", {"signal": "9"})
        one.end(137)

    # What befalls it.

    def freeze(self) -> None:
        self.is_frozen = True
        self._thawed.clear()

    def thaw(self) -> None:
        self.is_frozen = False
        self._thawed.set()

    def running(self) -> list[FakeContainer]:
        return [one for one in self.containers_by_name.values() if one.state == "running"]

    async def be_ended(self, seconds: float, then: float) -> None:
        """`systemctl restart docker`, or the end of the machine: it ends its containers, then itself."""
        self.is_closing = True
        for one in self.running():
            self._tells(one, "kill", {"signal": "15"})
        await asyncio.sleep(seconds)
        for one in self.running():
            one.end(137 if one.image.ignores_term else 0)
        await asyncio.sleep(0.05)
        self.away, self.is_closing = "not running", False
        await asyncio.sleep(then)
        self._begin_anew()

    async def be_killed(self, then: float) -> None:
        """Its containers go on until the next one comes: that ends them before it answers."""
        self.away = "not running"
        await asyncio.sleep(then)
        self.told.clear()
        for one in self.running():
            self._tells(one, "kill", {"signal": "15"})
            one.end(137 if one.image.ignores_term else 0)
        self._begin_anew(forgets=False)

    def _begin_anew(self, *, forgets: bool = True) -> None:
        if forgets:
            self.told.clear()
        self.number += 1
        self.tells_again = False
        self.began = self.now()
        self.away = ""

    def forget(self) -> None:
        """More happened than it keeps. Asked since when, it has nothing to tell."""
        self.told = [replace(one, at=0.0) for one in self.told]
        self.tells_again = False
