"""One scenario over the fake engine and the real one, and over the real one on both loops: the daemon's is uvloop."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import pytest
import uvloop

from argus.testing import SimulatedLoop

KINDS = ("fake", "docker", "docker-on-uvloop")
LOOPS: dict[str, Any] = {"fake": SimulatedLoop, "docker-on-uvloop": uvloop.new_event_loop}
_ALL = 180.0
"""Seconds that no scenario takes."""


class Closing(Protocol):
    def close(self) -> None: ...


def on_each(
    make: Callable[[str, pytest.FixtureRequest], Closing], scenario: Callable[..., Awaitable[None]]
) -> Callable[..., None]:
    """A test of a scenario whose first parameter is the world that `make` makes of a kind of engine."""

    def test(kind: str, request: pytest.FixtureRequest, **given: Any) -> None:
        async def whole() -> None:
            world = make(kind, request)
            try:
                async with asyncio.timeout(_ALL):
                    await scenario(world, **given)
                assert asyncio.all_tasks() == {asyncio.current_task()}, "a question is left under way"
            finally:
                world.close()

        with asyncio.Runner(loop_factory=LOOPS.get(kind)) as runner:
            runner.run(whole())

    own = list(inspect.signature(scenario).parameters.values())[1:]
    common = list(inspect.signature(test).parameters.values())[:2]
    test.__name__, test.__doc__, test.__module__ = scenario.__name__, scenario.__doc__, scenario.__module__
    test.__signature__ = inspect.Signature(common + own)  # type: ignore[attr-defined]
    return pytest.mark.parametrize("kind", KINDS)(test)
