"""Test files on the containers of a real engine: commands, files, processes and ports, with what an image lacks."""

import asyncio
import contextlib
import io
import itertools
import os
import shutil
import socket
import tarfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests import docker_engine
from tests.docker_engine import IMAGE, Engine

from argus.core.circuit import Circuit
from argus.core.clock import SystemClock
from argus.core.errors import ArgusError, Code
from argus.environments.labels import RUN
from argus.environments.testing import real
from argus.environments.testing.results import SuiteResult
from argus.environments.testing.running import Plan, run_suite_file
from argus.environments.testing.variables import Given
from argus.environments.tools import Shell
from argus.host.engine.guard import judge
from argus.host.engine.resources import Dock, Making, Mount
from argus.host.machine import MachineHost

ENOUGH = 60.0
BUSYBOX = os.path.realpath(shutil.which("busybox") or "")
pytestmark = pytest.mark.skipif(bool(docker_engine.missing()), reason=docker_engine.missing() or "-")

# Root's own shell, a worker of another user, and a server on one port.
_LIVES = """
chmod 755 / /bin; mkdir -p /etc /data/deep
echo 'root:x:0:0::/:/bin/sh' >/etc/passwd; echo 'app:x:1234:1234::/:/bin/sh' >>/etc/passwd
printf '{"port": 8080, "env": "test"}' >/data/deep/config.json
chown 1234:1234 /data/deep/config.json; chmod 640 /data/deep/config.json
busybox mkfifo /data/pipe; ln -s deep/config.json /data/link; ln -s /nowhere /data/broken
busybox httpd -f -p 8080 -h /data &
busybox su app -c 'sleep 9876' &
echo ready; trap exit TERM; while :; do sleep 600 & wait; done
"""


@contextlib.asynccontextmanager
async def machine(engine: Engine) -> AsyncIterator[tuple[MachineHost, Dock]]:
    host = MachineHost()
    try:
        circuit = Circuit("docker:test", asyncio.get_running_loop().time, judge)
        async with asyncio.timeout(3 * ENOUGH):
            yield host, host.dock({**os.environ, "DOCKER_HOST": engine.url}, circuit)
    finally:
        host.close()


async def started(
    dock: Dock, name: str, image: str = IMAGE, *command: str, mounted: Path | None = None, run: str = "r1"
) -> str:
    words = command or ("sh", "-c", _LIVES)
    mounts = (Mount(str(mounted), "/mounted"),) if mounted else ()
    making = Making(name, image, labels={RUN: run}, command=words, network="none", mounts=mounts)
    id = await dock.make(making, timeout=ENOUGH)
    await dock.start(id, timeout=ENOUGH)
    while command == () and not await dock.logs(id, timeout=ENOUGH):  # noqa: ASYNC110 - nothing tells of it
        await asyncio.sleep(0.05)
    return id


async def played(host: MachineHost, dock: Dock, folder: Path, cases: list[dict[str, Any]], **names: str) -> SuiteResult:
    file = folder / "t.yaml"
    file.write_text(yaml.safe_dump({"name": "x", "cases": [{"name": str(n), **one} for n, one in enumerate(cases)]}))
    world = real.world(host, dock, Shell(str(folder), dict(os.environ)), base_url=None, names=names, run="r1")
    numbers = itertools.count()
    return await run_suite_file(file, Plan("s"), world, Given(), clock=SystemClock(), new_id=lambda: str(next(numbers)))


GOOD: list[dict[str, Any]] = [
    {"exec": {"command": "echo $0; echo bad >&2"}, "expect": {"exitCode": 0, "output": {"matches": "^sh$"}}},
    {"exec": {"command": ["cat", "/data/link"], "container": "app"}, "expect": {"output": {"json": {"port": 8080}}}},
    {"exec": {"command": "exit 3", "container": "argus-cases"}, "expect": {"exitCode": 3}},
    {
        "file": {
            "path": "/data/deep/config.json",
            "exists": True,
            "contains": ["port", "env"],
            "notContains": "secret",
            "matches": '"port":\\s+\\d+',
            "json": {"env": "test", "port": {"gt": 1}},
            "permissions": "-rw-r-----",
            "owner": "app",
            "size": ">10",
        }
    },
    {"file": {"path": "/data/link", "json": {"port": 8080}, "permissions": "640", "owner": "1234"}},
    {"file": {"path": "/data/broken", "exists": False}},
    {"file": {"path": "/data/deep", "permissions": "drwxr-xr-x", "owner": "root"}},
    {"file": {"path": "/nothing/at/all", "exists": False}},
    {"file": {"path": "/data/pipe", "permissions": "prw-r--r--"}},
    {"file": {"path": "/mounted/socket", "exists": True, "permissions": "srwxr-xr-x"}},
    {"process": {"name": "sleep 9876", "running": True, "count": ">=1", "user": "app"}},
    {"process": {"name": "trap exit", "user": "root"}},
    {"process": {"name": "nginx", "running": False}},
    {"port": {"port": 8080}},
    {"port": {"port": 8081, "listening": False, "container": "app"}},
]
BAD: list[tuple[dict[str, Any], str]] = [
    ({"exec": {"command": "exit 3"}}, "got 3"),
    ({"exec": {"command": "sleep 60", "timeout": "300ms"}}, "not finished within 0.3 s"),
    ({"exec": {"command": "true", "container": "nobody"}}, "nobody"),
    ({"file": {"path": "/data/broken"}}, "does not exist"),
    ({"file": {"path": "/data/deep/config.json", "owner": "root"}}, "got app"),
    ({"process": {"name": "httpd -f", "user": "app"}}, "does not run as app"),
    ({"port": {"port": 8081}}, "[8080]"),
    ({"port": {"port": 8080, "listening": False}}, "is listened on"),
]


async def test_steps_in_a_container(docker: Engine, tmp_path: Path):
    async with machine(docker) as (host, dock):
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(str(tmp_path / "socket"))
        (tmp_path / "socket").chmod(0o755)
        await started(dock, "argus-cases", mounted=tmp_path)
        result = await played(host, dock, tmp_path, [*GOOD, *(one for one, _ in BAD)], app="argus-cases")
        assert [[str(wrong) for wrong in one.failures] for one in result.cases[: len(GOOD)]] == [[]] * len(GOOD)
        for (_, words), one in zip(BAD, result.cases[len(GOOD) :], strict=True):
            assert words in str(one.failures[0])
        assert result.cases[len(GOOD) + 2].failures[0].code == "CONTAINER_NOT_FOUND"


async def test_no_step_reaches_a_container_of_another_environment_or_of_a_stranger(docker: Engine, tmp_path: Path):
    """Neither by naming it, nor where it has taken the name of one that is gone."""
    async with machine(docker) as (host, dock):
        await started(dock, "argus-cases")
        await started(dock, "argus-other", run="r2")
        steps: dict[str, dict[str, Any]] = {
            "exec": {"command": "true"}, "file": {"path": "/etc/passwd"}, "process": {"name": "sleep"},
            "port": {"port": 8080},
        }  # fmt: skip
        cases = [
            {step: {**said, "container": name}} for name in ("argus-other", "taken") for step, said in steps.items()
        ]
        names = {"app": "argus-cases", "taken": "argus-other"}
        result = await played(host, dock, tmp_path, cases[:4], app="argus-cases")
        taken = await played(host, dock, tmp_path, cases[4:], **names)
        for one in (*result.cases, *taken.cases):
            assert [wrong.code for wrong in one.failures] == ["CONTAINER_NOT_FOUND"], one
        wrong = result.cases[0].failures[0]
        assert (wrong.expected, wrong.actual) == (["app", "argus-cases"], "argus-other")
        assert "app, argus-cases" in wrong.message
        assert "another has its name" in taken.cases[0].failures[0].message


async def test_an_image_without_any_program_can_be_looked_at_too(docker: Engine, tmp_path: Path):
    """One static program and nothing else. Its ports are seen only where its processes are, which is not here."""
    async with machine(docker) as (host, dock):
        name = await bare_image(dock)
        id = await started(dock, "argus-bare", name, "/busybox", "httpd", "-f", "-p", "7000")
        cases: list[dict[str, Any]] = [
            {"file": {"path": "/busybox", "exists": True, "size": ">100", "owner": "root", "permissions": "0755"}},
            {"process": {"name": "/busybox", "count": "1", "user": "root"}},
            {"port": {"port": 7000}},
            {"exec": {"command": "true"}, "expect": {"exitCode": 0}},
        ]
        result = await played(host, dock, tmp_path, cases, app=id)
        assert [one.status.value for one in result.cases] == ["passed"] * 2 + ["failed"] * 2
        assert "cannot be seen" in str(result.cases[2].failures[0])
        assert "got 12" in str(result.cases[3].failures[0])


async def bare_image(dock: Dock) -> str:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        archive.add(BUSYBOX, "busybox", filter=_as_root)
    await dock.import_image(data.getvalue(), "argus-bare:test", timeout=ENOUGH)
    return "argus-bare:test"


def _as_root(info: tarfile.TarInfo) -> tarfile.TarInfo:
    info.uid = info.gid = 0
    info.mode = 0o755
    return info


async def test_a_command_that_prints_without_end_is_cut(docker: Engine):
    async with machine(docker) as (_, dock):
        id = await started(dock, "argus-cases")
        ran = await dock.execute(id, ("sh", "-c", "yes | head -c 3000000; yes >&2"), timeout=3)
        assert (len(ran.stdout), len(ran.stderr), ran.is_cut, ran.exit_code) == (1 << 20, 1 << 20, True, None)


async def test_an_engine_that_freezes_or_dies_under_a_command_is_unavailable(docker: Engine):
    async with machine(docker) as (_, dock):
        id = await started(dock, "argus-cases")
        docker.freeze()
        try:
            with pytest.raises(ArgusError) as frozen:
                await dock.execute(id, ("sh", "-c", "sleep 60"), timeout=1)
        finally:
            docker.thaw()
        assert frozen.value.code is Code.DOCKER_UNAVAILABLE
        running = asyncio.ensure_future(dock.execute(id, ("sh", "-c", "sleep 60"), timeout=ENOUGH))
        while not await sleeps(dock, id):  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0.05)
        docker.kill()
        try:
            with pytest.raises(ArgusError) as killed:
                await running
        finally:
            docker.start()
        assert killed.value.code is Code.DOCKER_UNAVAILABLE


async def sleeps(dock: Dock, id: str) -> bool:
    return any("sleep 60" in one.command for one in await dock.processes(id, timeout=ENOUGH))
