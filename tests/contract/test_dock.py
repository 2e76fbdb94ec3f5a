"""What environments ask of the engine: one suite over the fake one and a real one, so that the fake cannot lie."""

import asyncio
import contextlib
import functools
import os
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.contract.each_engine import on_each
from tests.docker_engine import IMAGE
from tests.docker_engine import Engine as RealEngine

from argus.core.breaker import Limits, State
from argus.core.circuit import Circuit
from argus.core.errors import ArgusError, Code
from argus.environments.guarding.signs import Signs, hear
from argus.host.children import Children
from argus.host.dns import Resolver
from argus.host.engine.building import DockerDock
from argus.host.engine.guard import judge
from argus.host.engine.guarded import GuardedDock
from argus.host.engine.resources import Binding, Building, Dock, Happening, HealthCheck, Made, Making, Mount
from argus.host.engine.seam import EngineRefused, EngineUnavailable
from argus.host.engine.wire import Line
from argus.host.leftovers import Leftovers
from argus.testing import FakeBuild, FakeEngine, FakeImage

ENOUGH = 60.0
"""Seconds that nothing here takes; a deadline that is not kept runs into it."""
NOBODY = "0" * 63 + "f"
_WAITS = "while :; do sleep 600 & wait; done"
_DOES = {
    "runs": f"trap exit TERM; {_WAITS}",
    "ignores": f"trap '' TERM; echo deaf; {_WAITS}",
    "fails": "exit 7",
    "prints": f"echo one; echo two >&2; echo three; trap exit TERM; {_WAITS}",
}
_IMAGES = {
    "runs": FakeImage(),
    "ignores": FakeImage(ignores_term=True, prints=("deaf",)),
    "fails": FakeImage(seconds=0.01, exit_code=7),
    "prints": FakeImage(prints=("one", "two", "three")),
    "sickens": FakeImage(health="unhealthy"),
}
CHECK = HealthCheck(("CMD-SHELL", "true"), interval=0.2, timeout=5, retries=1)


class World:
    """An engine, and the dock of one caller at it."""

    def __init__(self, kind: str, request: pytest.FixtureRequest) -> None:
        self.fake = FakeEngine() if kind == "fake" else None
        self.real: RealEngine | None = None if self.fake else request.getfixturevalue("docker")
        self._resolver, self._children, self._leftovers = Resolver(), Children(), Leftovers()
        environ = {**os.environ, "DOCKER_HOST": self.real.url} if self.real else {}
        dock = self.fake or DockerDock(Line(self._resolver, environ), self._children, self._leftovers, environ)
        loop = asyncio.get_running_loop()
        self.circuit = Circuit("docker:test", loop.time, judge, Limits(reset_after=0.5))
        self.dock: Dock = GuardedDock(dock, self.circuit)
        if self.fake:
            self.fake.images = {f"fake-{name}": replace(image) for name, image in _IMAGES.items()}

    def making(self, name: str, does: str = "runs", **more: Any) -> Making:
        """What is made of it does that."""
        given = {"network": "none", "labels": {"argus.test": "yes"}, **more}
        if self.fake:
            return Making(name, f"fake-{does}", **given)
        return Making(name, IMAGE, command=("sh", "-c", _DOES.get(does, _DOES["runs"])), **given)

    async def make(self, name: str, does: str = "runs", **more: Any) -> str:
        return await self.dock.make(self.making(name, does, **more), timeout=ENOUGH)

    async def run(self, name: str, does: str = "runs", **more: Any) -> str:
        id = await self.make(name, does, **more)
        await self.dock.start(id, timeout=ENOUGH)
        return id

    async def one(self, id: str) -> Made:
        found = await self.dock.container(id, timeout=ENOUGH)
        assert found is not None
        return found

    async def printed(self, id: str, lines: int) -> list[str]:
        while len(found := await self.dock.logs(id, timeout=ENOUGH)) < lines:  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0.05)
        return found

    async def until(self, id: str, action: str, begin: Callable[[], Awaitable[Any]]) -> Happening:
        """Listens, begins, and waits until that happens to it."""
        async with self.dock.happenings({}, timeout=ENOUGH) as told:
            await begin()
            async for one in told:
                if one.id == id and one.action == action:
                    return one
        raise AssertionError

    @contextlib.contextmanager
    def held(self, port: int) -> Iterator[None]:
        if self.fake:
            self.fake.taken_ports.add(port)
            yield
            self.fake.taken_ports.discard(port)
        elif self.real:
            with self.real.held(port):
                yield

    @contextlib.contextmanager
    def frozen(self) -> Iterator[None]:
        if self.fake:
            self.fake.is_frozen = True
        elif self.real:
            self.real.freeze()
        try:
            yield
        finally:
            if self.fake:
                self.fake.is_frozen = False
            elif self.real:
                self.real.thaw()

    def kill(self) -> None:
        if self.fake:
            self.fake.away = "killed"
        elif self.real:
            self.real.kill()

    def building(self, folder: Path, tag: str, *lines: str) -> Building:
        (folder / "Dockerfile").write_text("\n".join(lines))
        return Building(tag, str(folder / "Dockerfile"), str(folder), {"COLOUR": "red"}, {"argus.test": "yes"})

    def close(self) -> None:
        self._resolver.close()
        self._children.close()
        self._leftovers.close()


on_every_engine = functools.partial(on_each, World)


async def raises(code: Code, asked: Awaitable[Any]) -> ArgusError:
    with pytest.raises(ArgusError) as raised:
        await asked
    assert raised.value.code is code
    return raised.value


async def refused(status: int, asked: Awaitable[Any]) -> None:
    with pytest.raises(EngineRefused) as raised:
        await asked
    assert raised.value.status == status


# --- the life of a container


@on_every_engine
async def test_a_container_is_made_and_started_and_stopped_and_removed(world: World):
    id = await world.make("web", environment={"COLOUR": "red"}, memory=64 * 1024**2)
    made = await world.one("web")
    assert (made.id, made.name, made.state, made.health) == (id, "web", "created", None)
    assert (dict(made.labels), made.memory_limit) == ({"argus.test": "yes"}, 64 * 1024**2)
    assert made.image == world.making("web").image
    assert (made.started, made.finished) == (None, None)
    await world.dock.start(id, timeout=ENOUGH)
    running = await world.one(id)
    assert (running.state, running.finished) == ("running", None)
    assert made.created is not None
    assert running.started is not None
    assert running.started >= made.created
    await world.dock.start(id, timeout=ENOUGH)
    await world.dock.stop(id, 10, timeout=ENOUGH)
    ended = await world.one(id)
    assert (ended.state, ended.oom_killed) == ("exited", False)
    assert ended.finished is not None
    assert ended.finished >= running.started
    await world.dock.stop(id, 10, timeout=ENOUGH)
    assert await world.dock.remove(id, timeout=ENOUGH)
    assert not await world.dock.remove(id, timeout=ENOUGH)
    assert await world.dock.container(id, timeout=ENOUGH) is None


@on_every_engine
async def test_one_that_runs_is_removed_as_well(world: World):
    id = await world.run("web")
    assert await world.dock.remove(id, timeout=ENOUGH)
    assert await world.dock.containers({}, timeout=ENOUGH) == []


@on_every_engine
async def test_one_that_goes_by_itself_is_gone_when_it_ends(world: World):
    id = await world.run("web", auto_remove=True)
    assert (await world.one(id)).state == "running"
    await world.dock.kill(id, timeout=ENOUGH)
    async with asyncio.timeout(ENOUGH):
        while await world.dock.containers({}, timeout=ENOUGH):  # noqa: ASYNC110 - only the engine knows
            await asyncio.sleep(0.01)


@on_every_engine
async def test_one_that_is_removed_twice_at_once_is_gone_for_both(world: World):
    id = await world.run("web")
    done = await asyncio.gather(*(world.dock.remove(id, timeout=ENOUGH) for _ in range(3)))
    assert done.count(True) == 1
    assert await world.dock.container(id, timeout=ENOUGH) is None


@on_every_engine
async def test_one_that_does_not_hear_is_ended_after_its_grace(world: World):
    id = await world.run("web", "ignores")
    await world.printed(id, 1)
    await world.dock.stop(id, 1, timeout=ENOUGH)
    assert ((await world.one(id)).state, (await world.one(id)).exit_code) == ("exited", 137)


@on_every_engine
async def test_one_is_killed_by_a_signal_and_only_while_it_runs(world: World):
    id = await world.run("web")
    died = await world.until(id, "die", lambda: world.dock.kill(id, timeout=ENOUGH))
    assert died.exit_code == 137
    error = await raises(Code.CONTAINER_NOT_RUNNING, world.dock.kill(id, timeout=ENOUGH))
    assert error.details["container"] == id


@on_every_engine
async def test_an_exit_code_is_told_and_kept(world: World):
    id = await world.make("job", "fails")
    died = await world.until(id, "die", lambda: world.dock.start(id, timeout=ENOUGH))
    assert (died.kind, died.name, died.exit_code) == ("container", "job", 7)
    assert died.labels == {"argus.test": "yes"}
    made = await world.one("job")
    assert (made.state, made.exit_code, made.oom_killed) == ("exited", 7, False)


@on_every_engine
async def test_the_health_check_of_a_container_is_seen(world: World):
    sick = replace(CHECK, test=("CMD-SHELL", "echo no good; exit 1"))
    well = await world.make("well", health=CHECK)
    await world.until(well, "health_status: healthy", lambda: world.dock.start(well, timeout=ENOUGH))
    ill = await world.make("ill", "sickens", health=sick)
    await world.until(ill, "health_status: unhealthy", lambda: world.dock.start(ill, timeout=ENOUGH))
    assert ((await world.one(well)).health, (await world.one(ill)).health) == ("healthy", "unhealthy")
    assert (await world.one(ill)).state == "running"


@on_every_engine
async def test_what_was_printed_is_read_from_its_end(world: World):
    id = await world.run("web", "prints")
    every = await world.printed(id, 3)
    assert sorted(every) == ["one", "three", "two"]
    assert await world.dock.logs(id, 1, timeout=ENOUGH) == every[-1:]
    assert await world.dock.logs(id, 0, timeout=ENOUGH) == []
    started = (await world.one(id)).started
    assert started is not None
    assert len(await world.dock.logs(id, since=started - 1, timeout=ENOUGH)) == 3
    assert await world.dock.logs(id, since=started + 3600, timeout=ENOUGH) == []


@on_every_engine
async def test_memory_is_known_of_one_that_runs(world: World):
    id = await world.run("web", memory=64 * 1024**2)
    used = await world.dock.stats(id, timeout=ENOUGH)
    assert used.memory is not None
    assert 0 < used.memory < 64 * 1024**2
    assert used.limit == 64 * 1024**2
    await world.dock.stop(id, 10, timeout=ENOUGH)
    assert (await world.dock.stats(id, timeout=ENOUGH)).memory is None


@on_every_engine
async def test_containers_are_found_by_all_their_labels(world: World):
    await world.make("web2", labels={"project": "shop", "run": "1"})
    await world.run("web1", labels={"project": "shop", "run": "1"})
    await world.make("web3", labels={"project": "shop", "run": "2"})
    await world.make("other", labels={"run": "1"})

    async def names(**labels: str | None) -> list[str]:
        return [one.name for one in await world.dock.containers(labels, timeout=ENOUGH)]

    assert await names(project="shop", run="1") == ["web1", "web2"]
    assert await names(project=None) == ["web1", "web2", "web3"]
    assert await names(project="sho") == []
    assert len(await names()) == 4


# --- what is in the way


@on_every_engine
async def test_a_name_that_is_taken_is_told_with_its_holder(world: World):
    id = await world.make("web", labels={"owner": "somebody"})
    error = await raises(Code.NAME_CONFLICT, world.make("web"))
    assert error.details == {"kind": "container", "name": "web", "id": id, "labels": {"owner": "somebody"}}
    assert [one.id for one in await world.dock.containers({}, timeout=ENOUGH)] == [id]


@on_every_engine
async def test_a_port_that_another_container_has_is_a_conflict_until_it_is_free(world: World):
    net = await world.dock.make_network("net", {}, timeout=ENOUGH)
    first = await world.run("web1", network=net, ports=(Binding(80, 18080),))
    assert (await world.one(first)).ports == (Binding(80, 18080),)
    second = await world.make("web2", network=net, ports=(Binding(80, 18080),))
    error = await raises(Code.PORT_CONFLICT, world.dock.start(second, timeout=ENOUGH))
    assert error.details == {"port": 18080}
    assert ((await world.one(second)).state, (await world.one(second)).ports) == ("created", ())
    await world.dock.remove(first, timeout=ENOUGH)
    await world.dock.start(second, timeout=ENOUGH)
    assert (await world.one(second)).ports == (Binding(80, 18080),)


@on_every_engine
async def test_a_port_that_another_program_has_is_a_conflict_as_well(world: World):
    net = await world.dock.make_network("net", {}, timeout=ENOUGH)
    id = await world.make("web", network=net, ports=(Binding(80, 18081),))
    with world.held(18081):
        for _ in range(6):  # however often: it is no fault of the engine
            error = await raises(Code.PORT_CONFLICT, world.dock.start(id, timeout=ENOUGH))
            assert error.details == {"port": 18081}
    assert world.circuit.breaker.consecutive == 0
    await world.dock.start(id, timeout=ENOUGH)


@on_every_engine
async def test_a_port_that_is_not_chosen_is_chosen_by_the_engine(world: World):
    net = await world.dock.make_network("net", {}, timeout=ENOUGH)
    id = await world.run("web", network=net, ports=(Binding(80, 0), Binding(53, 0, protocol="udp")))
    udp, tcp = (await world.one(id)).ports
    assert (udp.container_port, udp.protocol, tcp.container_port, tcp.protocol) == (53, "udp", 80, "tcp")
    assert udp.host_port > 1023
    assert tcp.host_port > 1023


@on_every_engine
async def test_what_is_not_there_is_told_and_counts_against_nobody(world: World):
    dock = world.dock
    missing = replace(world.making("web"), image="nobody/nothing:1")
    for _ in range(2):
        await raises(Code.CONTAINER_NOT_FOUND, dock.start(NOBODY, timeout=ENOUGH))
        await raises(Code.CONTAINER_NOT_FOUND, dock.stop(NOBODY, 1, timeout=ENOUGH))
        await raises(Code.CONTAINER_NOT_FOUND, dock.kill(NOBODY, timeout=ENOUGH))
        await raises(Code.CONTAINER_NOT_FOUND, dock.logs(NOBODY, timeout=ENOUGH))
        await raises(Code.CONTAINER_NOT_FOUND, dock.stats(NOBODY, timeout=ENOUGH))
        error = await raises(Code.IMAGE_NOT_FOUND, dock.make(missing, timeout=ENOUGH))
        assert error.details == {"image": "nobody/nothing:1"}
    assert not await dock.remove(NOBODY, timeout=ENOUGH)
    assert not await dock.remove_network("nobody", timeout=ENOUGH)
    assert not await dock.remove_volume("nobody", timeout=ENOUGH)
    assert await dock.container("nobody", timeout=ENOUGH) is None
    assert await dock.network("nobody", timeout=ENOUGH) is None
    assert await dock.image("nobody/nothing:1", timeout=ENOUGH) is None
    assert (world.circuit.breaker.state, world.circuit.breaker.history) == (State.CLOSED, ())


@pytest.mark.parametrize("name", ["", "../images", "-f", "a b", "web?force=1", "%2e%2e", "web\n", "wëb", "web/json"])
@on_every_engine
async def test_a_name_is_never_more_than_a_name(world: World, name: str):
    dock = world.dock
    id = await world.run("web")
    await refused(400, world.make(name))
    await refused(400, dock.make_network(name, {}, timeout=ENOUGH))
    await refused(400, dock.make_volume(name, {}, timeout=ENOUGH))
    await refused(400, dock.make(replace(world.making("new"), image=f"{name}/../x"), timeout=ENOUGH))
    await raises(Code.CONTAINER_NOT_FOUND, dock.start(name, timeout=ENOUGH))
    assert not await dock.remove(name, timeout=ENOUGH)
    assert not await dock.remove_network(name, timeout=ENOUGH)
    assert await dock.container(name, timeout=ENOUGH) is None
    assert await dock.network(name, timeout=ENOUGH) is None
    assert (await world.one(id)).state == "running"


# --- networks and volumes


@on_every_engine
async def test_a_network_stays_while_containers_run_on_it(world: World):
    dock, labels = world.dock, {"project": "shop"}
    net = await dock.make_network("shop-net", labels, timeout=ENOUGH)
    error = await raises(Code.NAME_CONFLICT, dock.make_network("shop-net", {}, timeout=ENOUGH))
    assert error.details == {"kind": "network", "name": "shop-net", "id": net, "labels": labels}
    id = await world.run("web", network="shop-net", aliases=("shop",))
    found = await dock.network("shop-net", timeout=ENOUGH)
    assert found is not None
    assert (found.id, found.name, dict(found.labels), dict(found.containers)) == (net, "shop-net", labels, {id: "web"})
    assert found.gateway
    assert found.created
    address = (await world.one(id)).networks["shop-net"]
    assert address.rpartition(".")[0] == found.gateway.rpartition(".")[0]
    await refused(403, dock.remove_network(net, timeout=ENOUGH))
    assert await dock.leave(net, id, timeout=ENOUGH)
    assert not await dock.leave(net, id, timeout=ENOUGH)
    assert await dock.remove_network(net, timeout=ENOUGH)
    assert await dock.networks({"project": "shop"}, timeout=ENOUGH) == []


@on_every_engine
async def test_a_container_joins_a_second_network(world: World):
    dock = world.dock
    await dock.make_network("first", {"project": "shop"}, timeout=ENOUGH)
    await dock.make_network("second", {"project": "shop"}, timeout=ENOUGH)
    id = await world.run("web", network="first")
    await dock.join("second", id, ("shop",), timeout=ENOUGH)
    assert set((await world.one(id)).networks) == {"first", "second"}
    on = {one.name: dict(one.containers) for one in await dock.networks({"project": None}, timeout=ENOUGH)}
    assert on == {"first": {id: "web"}, "second": {id: "web"}}
    await refused(403, dock.join("second", id, timeout=ENOUGH))
    await refused(404, dock.join("nowhere", id, timeout=ENOUGH))
    await raises(Code.CONTAINER_NOT_FOUND, dock.join("second", NOBODY, timeout=ENOUGH))


@on_every_engine
async def test_a_container_on_a_network_that_is_gone_does_not_start(world: World):
    net = await world.dock.make_network("net", {}, timeout=ENOUGH)
    id = await world.make("web", network="net")
    assert await world.dock.remove_network(net, timeout=ENOUGH)
    await refused(404, world.dock.start(id, timeout=ENOUGH))


@on_every_engine
async def test_a_volume_stays_while_a_container_has_it(world: World):
    dock, labels = world.dock, {"project": "shop", "argus.test": "yes"}
    await dock.make_volume("data", labels, timeout=ENOUGH)
    await dock.make_volume("data", labels, timeout=ENOUGH)
    error = await raises(Code.NAME_CONFLICT, dock.make_volume("data", {}, timeout=ENOUGH))
    assert error.details["labels"] == labels
    id = await world.run("web", mounts=(Mount("data", "/data", kind="volume"), Mount("new", "/new", kind="volume")))
    found = {one.name: dict(one.labels) for one in await dock.volumes({"argus.test": None}, timeout=ENOUGH)}
    assert found == {"data": labels, "new": {"argus.test": "yes"}}  # nothing is made without labels
    assert [one.name for one in await dock.volumes({"project": "shop"}, timeout=ENOUGH)] == ["data"]
    await refused(409, dock.remove_volume("data", timeout=ENOUGH))
    await dock.remove(id, timeout=ENOUGH)
    assert await dock.remove_volume("data", timeout=ENOUGH)
    assert [one.name for one in await dock.volumes({"argus.test": None}, timeout=ENOUGH)] == ["new"]


# --- what the engine tells


@on_every_engine
async def test_events_are_told_from_the_moment_it_listens_and_only_those_of_the_labels(world: World):
    await world.make("before", labels={"project": "shop"})
    async with world.dock.happenings({"project": "shop"}, timeout=ENOUGH) as told:
        await world.make("other", labels={"project": "other"})
        id = await world.run("web", labels={"project": "shop", "run": "1"})
        await world.dock.remove(id, timeout=ENOUGH)
        seen = []
        async for one in told:
            seen.append(one)
            if one.action == "destroy":
                break
    assert {one.id for one in seen} == {id}
    assert [one.action for one in seen] == ["create", "start", "kill", "die", "destroy"]
    assert all(one.labels == {"project": "shop", "run": "1"} for one in seen)
    assert [one.at for one in seen] == sorted(one.at for one in seen)


@on_every_engine
async def test_events_from_before_are_told_again(world: World):
    id = await world.run("web")
    started = (await world.one(id)).started
    assert started is not None
    async with world.dock.happenings({"argus.test": None}, started - 3600, timeout=ENOUGH) as told:
        async for one in told:
            if (one.id, one.action) == (id, "start"):
                break


@on_every_engine
async def test_events_end_with_the_engine(world: World):
    async with world.dock.happenings({}, timeout=ENOUGH) as told:
        world.kill()
        with pytest.raises(EngineUnavailable):
            async for _ in told:
                pass
    await raises(Code.DOCKER_UNAVAILABLE, world.dock.ping(timeout=ENOUGH))


async def _signs(world: World, id: str, last: str, act: Awaitable[None]) -> Signs:
    """What the events of a container tell of it, up to the last that is waited for."""
    async with world.dock.happenings({"argus.test": None}, timeout=ENOUGH) as told:
        await act
        signs = Signs()
        async for one in told:
            signs = hear(signs, one)
            if one.action == last:
                break
    return signs


@on_every_engine
async def test_it_is_told_whether_one_was_asked_to_end_or_killed(world: World):
    id = await world.run("web")
    stopped = await _signs(world, id, "stop", world.dock.stop(id, 10, timeout=ENOUGH))
    assert (stopped.is_on_purpose, stopped.died is not None) == (True, True)
    await world.dock.start(id, timeout=ENOUGH)
    killed = await _signs(world, id, "die", world.dock.kill(id, timeout=ENOUGH))
    assert (killed.is_on_purpose, killed.died is not None) == (False, True)
    await world.dock.start(id, timeout=ENOUGH)
    before = (await world.one(id)).started
    restarted = await _signs(world, id, "start", world.dock.restart(id, timeout=ENOUGH))
    assert (restarted.is_on_purpose, restarted.died) == (False, None)
    after = await world.one(id)
    assert after.state == "running"
    assert (after.started or 0) > (before or 0)


@on_every_engine
async def test_who_watches_asks_in_vain_again_and_again_and_spends_one_failure(world: World):
    world.kill()
    watching = world.dock.watching()
    for _ in range(4):
        with pytest.raises(EngineUnavailable):
            async with watching.happenings({}, timeout=ENOUGH):
                pass
        with pytest.raises(EngineUnavailable):
            await watching.ping(timeout=ENOUGH)
    assert world.dock.circuit.breaker.consecutive == 1
    with pytest.raises(EngineUnavailable):
        await world.dock.ping(timeout=ENOUGH)
    assert world.dock.circuit.breaker.consecutive == 2


# --- an engine that is not well


def every_call(dock: Dock, folder: Path, timeout: float) -> list[Awaitable[Any]]:
    """A frozen engine may carry some of them out when it wakes: nothing else has these names."""

    async def listen() -> None:
        async with dock.happenings({}, timeout=timeout):
            pass

    building = Building("argus-built:1", str(folder / "Dockerfile"), str(folder))
    return [
        dock.ping(timeout=timeout),
        dock.info(timeout=timeout),
        dock.image("web:1", timeout=timeout),
        dock.import_image(b"", "web:1", timeout=timeout),
        dock.build(building, timeout=timeout),
        dock.make(Making("frozen", "web:1"), timeout=timeout),
        dock.start("frozen", timeout=timeout),
        dock.stop("frozen", 0, timeout=timeout),
        dock.kill("frozen", timeout=timeout),
        dock.remove("frozen", timeout=timeout),
        dock.container("frozen", timeout=timeout),
        dock.containers({}, timeout=timeout),
        dock.logs("frozen", timeout=timeout),
        dock.stats("frozen", timeout=timeout),
        dock.make_network("frozen", {}, timeout=timeout),
        dock.network("frozen", timeout=timeout),
        dock.networks({}, timeout=timeout),
        dock.remove_network("frozen", timeout=timeout),
        dock.join("frozen", "frozen", timeout=timeout),
        dock.leave("frozen", "frozen", timeout=timeout),
        dock.make_volume("frozen", {}, timeout=timeout),
        dock.volumes({}, timeout=timeout),
        dock.remove_volume("frozen", timeout=timeout),
        listen(),
    ]


@on_every_engine
async def test_every_call_to_a_frozen_engine_ends_at_its_deadline(world: World, tmp_path: Path):
    (tmp_path / "Dockerfile").write_text(f"FROM {IMAGE}\n")
    with world.frozen():
        ended = await asyncio.gather(*every_call(world.dock, tmp_path, 2.0), return_exceptions=True)
    assert {one.code if isinstance(one, ArgusError) else one for one in ended} == {Code.DOCKER_UNAVAILABLE}


@on_every_engine
async def test_no_call_passes_an_open_breaker(world: World, tmp_path: Path):
    with world.frozen():
        for _ in range(5):
            await raises(Code.DOCKER_UNAVAILABLE, world.dock.ping(timeout=0.5))
        for asked in every_call(world.dock, tmp_path, ENOUGH):
            await raises(Code.CIRCUIT_OPEN, asked)
    await asyncio.sleep(0.5)  # the breaker's own time, which nothing tells of
    ended = await asyncio.gather(*(world.dock.ping(timeout=ENOUGH) for _ in range(10)), return_exceptions=True)
    assert sorted(type(one).__name__ for one in ended) == ["CircuitOpen"] * 9 + ["NoneType"]
    assert world.circuit.breaker.state is State.CLOSED


@on_every_engine
async def test_haste_is_no_failure_of_the_engine(world: World):
    id = await world.run("web", "ignores")
    await world.printed(id, 1)
    for _ in range(3):
        await raises(Code.DOCKER_UNAVAILABLE, world.dock.stop(id, 30, timeout=0.6))
        with world.frozen():
            await raises(Code.DOCKER_UNAVAILABLE, world.dock.start(id, timeout=0.6))
            await raises(Code.DOCKER_UNAVAILABLE, world.dock.ping(timeout=0.1))
    assert world.circuit.breaker.history == ()


@on_every_engine
async def test_the_engine_says_what_it_is(world: World):
    await world.dock.ping(timeout=ENOUGH)
    about = await world.dock.info(timeout=ENOUGH)
    assert about.version
    assert about.data_root.startswith("/")
    assert about.storage_driver == "vfs"
    assert about.memory > 0
    assert about.architecture


# --- images


@on_every_engine
async def test_a_build_tells_its_lines_and_leaves_an_image(world: World, tmp_path: Path):
    lines: list[str] = []
    if world.fake:
        world.fake.builds["argus-built:1"] = FakeBuild(prints=("Step 1/3 : FROM argus-test:1",))
    building = world.building(tmp_path, "argus-built:1", f"FROM {IMAGE}", "ARG COLOUR", "ENV PAINT=$COLOUR")
    id = await world.dock.build(building, lines.append, timeout=ENOUGH)
    assert id.startswith("sha256:")
    assert await world.dock.image("argus-built:1", timeout=ENOUGH) == id
    assert any(IMAGE in line for line in lines)


@on_every_engine
async def test_a_build_that_fails_carries_its_output_and_counts_against_nobody(world: World, tmp_path: Path):
    if world.fake:
        world.fake.builds["argus-built:2"] = FakeBuild(prints=("COPY failed: nothing.txt",), exit_code=1)
    building = world.building(tmp_path, "argus-built:2", f"FROM {IMAGE}", "COPY nothing.txt /")
    for _ in range(6):
        error = await raises(Code.BUILD_FAILED, world.dock.build(building, timeout=ENOUGH))
    assert "nothing.txt" in error.details.pop("output")
    assert error.details.pop("exitCode") > 0
    assert error.details == {"image": "argus-built:2", "dockerfile": building.dockerfile}
    assert world.circuit.breaker.history == ()
    assert await world.dock.image("argus-built:2", timeout=ENOUGH) is None
