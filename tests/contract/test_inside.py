"""What is looked at inside of containers: one suite over the fake engine and a real one."""

import functools
import stat
from typing import Any

import pytest
from tests.contract.each_engine import on_each
from tests.contract.test_dock import ENOUGH, NOBODY, World

from argus.core.errors import ArgusError, Code
from argus.host.engine.resources import Dock, Executed, FileFound, Process

contract: Any = functools.partial(on_each, World)
_SAYS = ("sh", "-c", "echo out; echo err >&2; exit 3")


async def running(world: World) -> tuple[Dock, str]:
    id = await world.run("argus-inside")
    if world.fake is not None:
        one = world.fake.containers_by_name["argus-inside"]
        one.answers = {_SAYS: Executed(3, "out\n", "err\n"), ("cat", "/etc/note"): Executed(0, "hello")}
        one.processes = (Process(1, "0", "sh -c trap exit TERM; while :; do sleep 600 & wait; done"),)
        one.files = {"/etc/note": FileFound("/etc/note", stat.S_IFREG | 0o640, 7, 8, 5, b"hello")}
    else:
        written = "mkdir -p /etc; printf hello >/etc/note; chmod 640 /etc/note; chown 7:8 /etc/note"
        assert (await world.dock.execute(id, ("sh", "-c", written), timeout=ENOUGH)).exit_code == 0
    return world.dock, id


@contract
async def test_a_command_gives_both_outputs_and_its_exit_code(world: World):
    dock, id = await running(world)
    ran = await dock.execute(id, _SAYS, timeout=ENOUGH)
    assert (ran.exit_code, ran.stdout, ran.stderr, ran.problem) == (3, "out\n", "err\n", "")


@contract
async def test_a_program_that_is_not_there_is_an_exit_code(world: World):
    dock, id = await running(world)
    ran = await dock.execute(id, ("no-such-program",), timeout=ENOUGH)
    assert ran.exit_code in (126, 127)


@contract
async def test_processes_are_listed_with_their_user_and_command(world: World):
    dock, id = await running(world)
    found = await dock.processes(id, timeout=ENOUGH)
    assert [one.user for one in found if "trap exit TERM" in one.command] == ["0"]


@contract
async def test_a_file_is_read_with_its_owner_mode_and_size(world: World):
    dock, id = await running(world)
    found = await dock.file(id, "/etc/note", 3, timeout=ENOUGH)
    assert found is not None
    assert (stat.filemode(found.mode), found.uid, found.gid, found.size) == ("-rw-r-----", 7, 8, 5)
    assert found.content == b"hel"
    assert await dock.file(id, "/etc/nothing", timeout=ENOUGH) is None


@contract
async def test_one_that_does_not_run_is_said_so_and_its_files_are_still_there(world: World):
    dock, id = await running(world)
    await world.until(id, "die", lambda: dock.kill(id, timeout=ENOUGH))
    for asked in (dock.execute(id, _SAYS, timeout=ENOUGH), dock.processes(id, timeout=ENOUGH)):
        with pytest.raises(ArgusError) as error:
            await asked
        assert error.value.code is Code.CONTAINER_NOT_RUNNING
    assert await dock.file(id, "/etc/note", timeout=ENOUGH) is not None


@contract
async def test_one_that_is_not_there_is_said_so(world: World):
    for name in (NOBODY, "../x"):
        for asked in (
            world.dock.execute(name, _SAYS, timeout=ENOUGH),
            world.dock.processes(name, timeout=ENOUGH),
            world.dock.file(name, "/etc/note", timeout=ENOUGH),
        ):
            with pytest.raises(ArgusError) as error:
                await asked
            assert error.value.code is Code.CONTAINER_NOT_FOUND
