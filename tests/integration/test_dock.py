"""The dock at a real engine, where only a real one can show it: what a container is made of, logs, images, builds, a
full disk, an engine without its containerd."""

import asyncio
import contextlib
import io
import os
import shutil
import subprocess
import tarfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests import docker_engine
from tests.docker_engine import IMAGE, Engine

from argus.core.breaker import State
from argus.core.circuit import Circuit
from argus.core.errors import ArgusError, Code
from argus.host.children import Children
from argus.host.dns import Resolver
from argus.host.engine.building import DockerDock
from argus.host.engine.guard import judge
from argus.host.engine.guarded import GuardedDock
from argus.host.engine.resources import Building, Making, Mount
from argus.host.engine.seam import EngineRefused
from argus.host.engine.wire import Line
from argus.host.leftovers import Leftovers

ENOUGH = 60.0
pytestmark = pytest.mark.skipif(bool(docker_engine.missing()), reason=docker_engine.missing() or "-")


@contextlib.asynccontextmanager
async def dock(engine: Engine, patience: float = ENOUGH, **more: str) -> AsyncIterator[GuardedDock]:
    resolver, children, leftovers = Resolver(threads=1), Children(), Leftovers()
    environ: Mapping[str, str] = {**os.environ, "DOCKER_HOST": engine.url, **more}
    try:
        async with asyncio.timeout(3 * ENOUGH):
            circuit = Circuit("docker:test", asyncio.get_running_loop().time, judge)
            yield GuardedDock(DockerDock(Line(resolver, environ), children, leftovers, environ, patience), circuit)
    finally:
        resolver.close()
        children.close()
        leftovers.close()


def shell(name: str, words: str, **more: Any) -> Making:
    return Making(name, IMAGE, command=("sh", "-c", words), **{"network": "none", **more})


async def eventually(is_so: Callable[[], Awaitable[Any]]) -> None:
    async with asyncio.timeout(ENOUGH):
        while not await is_so():  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0.05)


async def ended(at: GuardedDock, making: Making) -> list[str]:
    """Runs it to its end, and returns what it printed."""
    id = await at.make(making, timeout=ENOUGH)
    async with at.happenings({}, timeout=ENOUGH) as told:
        await at.start(id, timeout=ENOUGH)
        async for one in told:
            if (one.id, one.action) == (id, "die"):
                break
    return await at.logs(id, timeout=ENOUGH)


async def raised(code: Code, asked: Awaitable[Any]) -> ArgusError:
    with pytest.raises(ArgusError) as error:
        await asked
    assert error.value.code is code
    return error.value


# --- containers


async def test_a_container_is_made_of_what_it_was_given(docker: Engine, tmp_path: Path):
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "word").write_text("hello\n")
    words = (
        'echo $COLOUR "$0" "$1"; cat /given/word /etc/hosts; echo y > /made/new;'
        "{ echo x > /given/new; } 2>/dev/null || echo fast"
    )
    making = Making(
        "web",
        IMAGE,
        environment={"COLOUR": "red green"},
        mounts=(Mount(str(tmp_path / "given"), "/given", read_only=True), Mount(str(tmp_path / "made"), "/made")),
        network="none",
        entrypoint=("sh", "-c", words),
        command=("first", "second"),
        extra_hosts=("beside:10.1.2.3",),
    )
    async with dock(docker) as at:
        await at.make_network("net", {}, timeout=ENOUGH)
        lines = await ended(at, making)
    assert lines[:2] == ["red green first second", "hello"]
    assert any(line.split() == ["10.1.2.3", "beside"] for line in lines)
    assert lines[-1] == "fast"
    assert not (tmp_path / "given" / "new").exists()
    assert (tmp_path / "made" / "new").read_text() == "y\n"  # the folder was made, as `docker run -v` does


async def test_a_container_is_found_by_its_other_names_on_the_network(docker: Engine):
    async with dock(docker) as at:
        await at.make_network("net", {}, timeout=ENOUGH)
        waits = shell("web-1", "trap exit TERM; while :; do sleep 600 & wait; done", network="net", aliases=("web",))
        await at.start(await at.make(waits, timeout=ENOUGH), timeout=ENOUGH)
        web = await at.container("web-1", timeout=ENOUGH)
        assert web is not None
        lines = await ended(at, shell("asks", "busybox nslookup web 127.0.0.11", network="net"))
        assert any(web.networks["net"] in line for line in lines)
        shared = await ended(at, shell("shares", "busybox hostname -i; busybox ip addr", network=f"container:{web.id}"))
        assert any(web.networks["net"] in line for line in shared)


async def test_a_container_that_takes_too_much_memory_is_told_of(docker: Engine):
    async with dock(docker) as at:
        async with at.happenings({}, timeout=ENOUGH) as told:
            await asyncio.to_thread(docker.exhaust, "big", 16 * 1024**2)
            seen = []
            async for one in told:
                seen.append(one.action)
                if one.action == "die":
                    break
        assert "oom" in seen
        made = await at.container("big", timeout=ENOUGH)
        assert made is not None
        assert (made.oom_killed, made.exit_code, made.memory_limit) == (True, 137, 16 * 1024**2)


async def test_a_program_that_is_not_there_is_refused_and_the_error_kept(docker: Engine):
    async with dock(docker) as at:
        id = await at.make(Making("web", IMAGE, command=("/no/such",), network="none"), timeout=ENOUGH)
        with pytest.raises(EngineRefused, match="/no/such") as refused:
            await at.start(id, timeout=ENOUGH)
        made = await at.container(id, timeout=ENOUGH)
        assert made is not None
        assert "/no/such" in made.error
        assert refused.value.status == 400
        assert at.circuit.breaker.history == ()


async def test_what_a_terminal_showed_is_read_as_well(docker: Engine):
    docker.create("tty", "sh", "-c", "echo one; echo two >&2", Tty=True)
    async with dock(docker) as at:
        await at.start("tty", timeout=ENOUGH)

        async def two() -> bool:
            return await at.logs("tty", timeout=ENOUGH) == ["one", "two"]

        await eventually(two)


async def test_logs_are_bounded(docker: Engine):
    words = "echo first; busybox yes | busybox head -c 900000 | busybox tr -d '\\n'"
    async with dock(docker) as at:
        assert await ended(at, shell("job", words)) != []
        (last,) = await at.logs("job", 1_000_000, timeout=ENOUGH)
        assert (last.strip("y"), len(last)) == ("", 256 * 1024)


async def test_the_end_of_logs_is_read_also_behind_a_line_without_end(docker: Engine):
    words = "busybox yes | busybox head -c 18000000 | busybox tr -d '\\n'; echo; echo one; echo two"
    async with dock(docker) as at:
        assert (await ended(at, shell("job", words)))[-2:] == ["one", "two"]
        lines = await at.logs("job", 100, timeout=ENOUGH)
        assert (lines[-2:], lines.is_cut) == (["one", "two"], True)
        assert (await at.logs("job", 2, timeout=ENOUGH)).is_cut is False


# --- images


def tar(**files: str) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as made:
        made.add(os.path.realpath(shutil.which("busybox") or ""), "bin/busybox")
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            made.addfile(entry, io.BytesIO(text.encode()))
    return packed.getvalue()


async def test_an_image_is_imported_and_used(docker: Engine):
    async with dock(docker) as at:
        changes = ['ENTRYPOINT ["/bin/busybox", "cat"]', "LABEL a=b"]
        id = await at.import_image(tar(word="hello"), "argus/imported:1", changes, timeout=ENOUGH)
        assert id == await at.image("argus/imported:1", timeout=ENOUGH)
        assert await ended(at, Making("web", "argus/imported:1", command=("/word",), network="none")) == ["hello"]
        with pytest.raises(EngineRefused):
            await at.import_image(b"not a tar" * 1000, "argus/imported:2", timeout=ENOUGH)
        assert await at.image("argus/imported:2", timeout=ENOUGH) is None


def building(folder: Path, *lines: str, tag: str = "argus-built:3", **more: Any) -> Building:
    (folder / "Dockerfile").write_text("\n".join((f"FROM {IMAGE}", *lines)))
    return Building(tag, str(folder / "Dockerfile"), str(folder), **more)


def with_buildkit() -> str:
    """The folder of a docker command that can build with BuildKit: an old one by itself, a new one by buildx."""
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        program = os.path.join(folder, "docker")
        if os.path.exists(program):
            said = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=ENOUGH).stdout
            has = subprocess.run([program, "buildx", "version"], capture_output=True, timeout=ENOUGH).returncode == 0
            if has or said.split()[2].startswith("20."):
                return folder
    return ""


@pytest.mark.parametrize("buildkit", ["0", "1"])
async def test_an_image_is_built_with_and_without_buildkit(docker: Engine, tmp_path: Path, buildkit: str):
    folder = with_buildkit() if buildkit == "1" else ""
    if buildkit == "1" and not folder:
        pytest.skip("no docker command here can build with BuildKit")
    (tmp_path / "word").write_text("hello\n")
    lines: list[str] = []
    asked = building(
        tmp_path,
        "ARG COLOUR",
        "ENV PAINT=$COLOUR",
        "COPY word /word",
        args={"COLOUR": "red and = green"},
        labels={"argus.test": "built it"},
    )
    path = os.pathsep.join(filter(None, [folder, os.environ.get("PATH", os.defpath)]))
    async with dock(docker, DOCKER_BUILDKIT=buildkit, PATH=path) as at:
        id = await at.build(asked, lines.append, timeout=ENOUGH)
        assert await at.image("argus-built:3", timeout=ENOUGH) == id
        making = Making("web", "argus-built:3", command=("sh", "-c", "echo $PAINT; cat /word"), network="none")
        assert await ended(at, making) == ["red and = green", "hello"]
        failing = building(tmp_path, "COPY nothing /nothing")
        error = await raised(Code.BUILD_FAILED, at.build(failing, timeout=ENOUGH))
        assert "nothing" in error.details["output"]
        assert at.circuit.breaker.history == ()
    assert docker.ask("GET", "/images/argus-built:3/json")["Config"]["Labels"] == {"argus.test": "built it"}
    assert any("COPY word /word" in line for line in lines)


async def test_the_output_of_a_failing_step_is_in_the_error_but_only_its_end(docker: Engine, tmp_path: Path):
    asked = building(tmp_path, "RUN i=0; while test $i -lt 500; do i=$((i+1)); echo line $i; done; exit 3")
    async with dock(docker, DOCKER_BUILDKIT="0") as at:
        error = await raised(Code.BUILD_FAILED, at.build(asked, timeout=ENOUGH))
    lines = error.details["output"].splitlines()
    assert error.details["exitCode"] == 3
    assert "line 500" in lines
    assert len(lines) == 100


async def test_a_step_that_speaks_of_a_lost_engine_is_only_a_failing_step(docker: Engine, tmp_path: Path):
    asked = building(tmp_path, "RUN echo Cannot connect to the Docker daemon at tcp://x.; exit 1")
    async with dock(docker, DOCKER_BUILDKIT="0") as at:
        await raised(Code.BUILD_FAILED, at.build(asked, timeout=ENOUGH))
        assert at.circuit.breaker.history == ()


async def test_without_a_docker_command_there_is_a_clear_error(docker: Engine, tmp_path: Path):
    async with dock(docker, PATH=str(tmp_path)) as at:
        error = await raised(Code.DOCKER_UNAVAILABLE, at.build(building(tmp_path), timeout=ENOUGH))
        assert error.details == {"program": "docker"}
        assert at.circuit.breaker.history == ()


def builds_of(folder: Path) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if str(folder) in process.cmdline():
                found.append(process)
    return found


async def no_build_is_left(folder: Path) -> None:
    """It was killed before the error was told; on a busy machine that takes it a moment."""

    async def over() -> bool:
        return not builds_of(folder)

    await eventually(over)


LONG = "RUN echo begun; sleep 600"


async def test_a_build_that_nobody_waits_for_is_ended(docker: Engine, tmp_path: Path):
    begun = asyncio.Event()

    def heard(line: str) -> None:
        if line == "begun":
            begun.set()

    async with dock(docker, DOCKER_BUILDKIT="0") as at:
        task = asyncio.ensure_future(at.build(building(tmp_path, LONG), heard, timeout=ENOUGH))
        await asyncio.wait_for(begun.wait(), ENOUGH)
        assert builds_of(tmp_path)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

        async def over() -> bool:
            return not builds_of(tmp_path) and not docker.ask("GET", "/containers/json")

        await eventually(over)


async def test_a_build_that_takes_too_long_is_ended_and_no_failure_of_the_engine(docker: Engine, tmp_path: Path):
    async with dock(docker, DOCKER_BUILDKIT="0") as at:
        error = await raised(Code.BUILD_FAILED, at.build(building(tmp_path, LONG), timeout=8.0))
        assert error.details["exitCode"] is None
        assert "begun" in error.details["output"]
        assert at.circuit.breaker.history == ()
        await no_build_is_left(tmp_path)


@pytest.mark.parametrize(("how", "timeout"), [("freeze", 8.0), ("freeze", 10 * ENOUGH), ("kill", 10 * ENOUGH)])
async def test_a_build_that_loses_its_engine_ends_and_counts_against_it(
    docker: Engine, tmp_path: Path, how: str, timeout: float
):
    begun = asyncio.Event()

    def heard(line: str) -> None:
        if line == "begun":
            begun.set()

    async with dock(docker, patience=3.0 if timeout > ENOUGH else ENOUGH, DOCKER_BUILDKIT="0") as at:
        task = asyncio.ensure_future(at.build(building(tmp_path, LONG), heard, timeout=timeout))
        await asyncio.wait_for(begun.wait(), ENOUGH)
        getattr(docker, how)()
        error = await raised(Code.DOCKER_UNAVAILABLE, task)
        assert "begun" in error.details["output"]
        assert at.circuit.breaker.consecutive == 1
        await no_build_is_left(tmp_path)


# --- an engine of its own


@pytest.fixture(scope="module")
def small() -> Iterator[Engine]:
    engine = Engine(space="48m")
    yield engine
    engine.end()


async def test_a_full_disk_is_told_as_such_wherever_it_shows(small: Engine, tmp_path: Path):
    await asyncio.to_thread(
        small.inside, "sh", "-c", f"dd if=/dev/zero of={small.folder}/data/filler 2>/dev/null || true"
    )
    (tmp_path / "word").write_text("hello " * 100_000)
    try:
        await _is_told_as_full(small, tmp_path)
    finally:
        small.inside("rm", f"{small.folder}/data/filler")


async def _is_told_as_full(small: Engine, tmp_path: Path) -> None:
    async with dock(small, DOCKER_BUILDKIT="0") as at:
        for _ in range(2):
            await raised(Code.DISK_SPACE_LOW, at.make(shell("web", "true"), timeout=ENOUGH))
            await raised(Code.DISK_SPACE_LOW, at.build(building(tmp_path, "COPY word /word"), timeout=ENOUGH))
        assert at.circuit.breaker.history == ()


async def test_an_engine_without_its_containerd_fails_by_itself(small: Engine):
    program = shutil.which("containerd", path=f"{os.environ.get('PATH', os.defpath)}:/usr/local/sbin:/usr/sbin:/sbin")
    assert program is not None
    async with dock(small) as at:
        id = await at.make(shell("web", "true"), timeout=ENOUGH)
        small.inside("mount", "--bind", "/dev/null", program)  # it would start another one
        (containerd,) = (one for one in small.process.children() if one.name() == "containerd")
        containerd.kill()
        try:
            for _ in range(5):
                await raised(Code.DOCKER_UNAVAILABLE, at.start(id, timeout=ENOUGH))
            assert at.circuit.breaker.state is State.OPEN
        finally:
            small.inside("umount", program)
