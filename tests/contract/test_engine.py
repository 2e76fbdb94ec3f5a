"""One suite over the fake engine and a real one, so that the fake cannot lie.

The real one is asked on both loops: the daemon's is uvloop.
"""

import asyncio
import functools

import pytest
from tests.contract.each_engine import on_each
from tests.docker_engine import Engine as RealEngine

from argus.core.breaker import Limits
from argus.core.errors import ArgusError, Code
from argus.host.dns import Resolver
from argus.host.engine.docker import DockerContainers
from argus.host.engine.guard import GuardedEngine
from argus.host.engine.seam import Container, EngineRefused
from argus.testing import FakeEngine

ENOUGH = 60.0
"""Seconds that nothing here takes; a deadline that is not kept runs into it."""
LABELS = {"argus.test": "yes"}


class World:
    """An engine, with containers on it."""

    def __init__(self, kind: str, request: pytest.FixtureRequest) -> None:
        self.fake = FakeEngine() if kind == "fake" else None
        self.real: RealEngine | None = None if self.fake else request.getfixturevalue("docker")
        self._resolver = Resolver()
        self._where = {"DOCKER_HOST": self.real.url} if self.real else {}
        containers = self.fake or DockerContainers(self._resolver, self._where)
        self.engine = GuardedEngine(containers, lambda: asyncio.get_running_loop().time(), Limits(reset_after=0.5))

    def run(self, name: str, **labels: str) -> None:
        if self.fake:
            self.fake.add(name, labels=labels)
        elif self.real:
            self.real.run(name, Labels=labels)

    def end(self, name: str, exit_code: int) -> None:
        if self.fake:
            self.fake.add(name).end(exit_code)
        elif self.real:
            self.real.run(name, "sh", "-c", f"exit {exit_code}")
            self.real.ask("POST", f"/containers/{name}/wait")

    def broken(self, name: str) -> None:
        """One that cannot be started."""
        if self.fake:
            self.fake.add(name, refuses="no such program", state="created")
        elif self.real:
            self.real.create(name, "/no/such/program")

    def freeze(self) -> None:
        if self.fake:
            self.fake.is_frozen = True
        elif self.real:
            self.real.freeze()

    def thaw(self) -> None:
        if self.fake:
            self.fake.is_frozen = False
        elif self.real:
            self.real.thaw()

    async def one(self, name: str) -> Container:
        found = (await self.engine.named([name], timeout=ENOUGH))[name]
        assert found is not None
        return found

    def close(self) -> None:
        self._resolver.close()


on_every_engine = functools.partial(on_each, World)


@on_every_engine
async def test_containers_are_found_by_name_and_those_that_are_not_there_are_none(world: World):
    world.run("web")
    world.end("job", 7)
    found = await world.engine.named(["web", "job", "nobody"], timeout=ENOUGH)
    assert list(found) == ["web", "job", "nobody"]
    web, job = found["web"], found["job"]
    assert web is not None
    assert job is not None
    assert (web.name, web.state, web.health, web.oom_killed) == ("web", "running", None, False)
    assert (job.name, job.state, job.exit_code, job.oom_killed) == ("job", "exited", 7, False)
    assert found["nobody"] is None


@on_every_engine
async def test_a_name_is_whole_and_an_id_is_long_enough(world: World):
    world.run("web")
    id = (await world.one("web")).id
    found = await world.engine.named([id, id[:12], id[:6], "we"], timeout=ENOUGH)
    assert [one.name if one else None for one in found.values()] == ["web", "web", None, None]


@pytest.mark.parametrize("name", ["web/json?x=", "../images", "-f", "a b", "web#", "%2e%2e"])
@on_every_engine
async def test_a_name_is_never_more_than_a_name(world: World, name: str):
    world.run("web")
    assert await world.engine.named([name], timeout=ENOUGH) == {name: None}


@on_every_engine
async def test_containers_are_found_by_label_running_or_not(world: World):
    world.run("web2", **LABELS)
    world.run("web1", **LABELS)
    world.run("other", **{"argus.test": "no"})
    world.run("without")
    assert [one.name for one in await world.engine.labelled("argus.test=yes", timeout=ENOUGH)] == ["web1", "web2"]
    assert [one.name for one in await world.engine.labelled("argus.test", timeout=ENOUGH)] == ["other", "web1", "web2"]
    assert await world.engine.labelled("argus.none", timeout=ENOUGH) == []


@on_every_engine
async def test_a_restart_starts_what_had_ended(world: World):
    world.end("job", 7)
    before = await world.one("job")
    await world.engine.restart(before.id, timeout=ENOUGH)
    assert (await world.one("job")).id == before.id


@on_every_engine
async def test_a_restart_of_what_runs_leaves_it_running(world: World):
    world.run("web")
    await world.engine.restart((await world.one("web")).id, timeout=ENOUGH)
    assert (await world.one("web")).state == "running"


@on_every_engine
async def test_a_container_that_is_not_there_cannot_be_restarted(world: World):
    for _ in range(6):  # and that is no fault of the engine, however often
        with pytest.raises(ArgusError) as missing:
            await world.engine.restart("0" * 63 + "f", timeout=ENOUGH)
        assert missing.value.code is Code.CONTAINER_NOT_FOUND


@on_every_engine
async def test_a_container_that_cannot_be_started_is_no_failure_of_the_engine(world: World):
    world.broken("broken")
    id = (await world.one("broken")).id
    for _ in range(6):
        with pytest.raises(EngineRefused, match="no such"):
            await world.engine.restart(id, timeout=ENOUGH)
    assert (await world.one("broken")).state == "created"


@on_every_engine
async def test_a_frozen_engine_is_unavailable_then_not_asked_then_asked_once_and_then_well(world: World):
    world.run("web")
    world.freeze()
    try:
        for _ in range(5):
            with pytest.raises(ArgusError) as unavailable:
                await world.engine.named(["web"], timeout=0.5)
            assert unavailable.value.code is Code.DOCKER_UNAVAILABLE
        for _ in range(10):
            with pytest.raises(ArgusError) as refused:
                await world.engine.named(["web"], timeout=ENOUGH)
            assert refused.value.code is Code.CIRCUIT_OPEN
    finally:
        world.thaw()
    await asyncio.sleep(0.5)  # the breaker's own time, which nothing tells of
    ten = [world.engine.named(["web"], timeout=ENOUGH) for _ in range(10)]
    ended = await asyncio.gather(*ten, return_exceptions=True)
    assert sorted(type(one).__name__ for one in ended) == ["CircuitOpen"] * 9 + ["dict"]
    assert (await world.one("web")).state == "running"
