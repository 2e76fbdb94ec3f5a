"""Where programs of a project are found, and what is read of what they leave."""

import os
import tempfile
from pathlib import Path

import pytest

from argus.host import scratch
from argus.host.finding import Finder


def program(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_a_program_of_the_virtual_environment_goes_before_one_on_the_path(tmp_path: Path):
    there = program(tmp_path / "bin" / "pytest")
    finder = Finder(str(tmp_path), {"PATH": f"{tmp_path}/nothing:bin"})
    assert finder.on_path("pytest") == there
    active = program(tmp_path / "venv" / "bin" / "pytest")
    assert Finder(str(tmp_path), {"PATH": "bin", "VIRTUAL_ENV": f"{tmp_path}/venv"}).on_path("pytest") == active
    assert finder.on_path("vitest") is None


def test_a_program_of_node_is_found_above_and_then_on_the_path(tmp_path: Path):
    below = tmp_path / "packages" / "web"
    below.mkdir(parents=True)
    finder = Finder(str(below), {"PATH": f"{tmp_path}/bin"})
    assert finder.of_project("vitest") is None
    on_path = program(tmp_path / "bin" / "vitest")
    assert finder.of_project("vitest") == on_path
    installed = program(tmp_path / "node_modules" / ".bin" / "vitest")
    assert finder.of_project("vitest") == installed


def write(path: str) -> None:
    Path(path).write_bytes(b"x" * 10)


async def test_what_a_program_leaves_is_read_in_bounds_and_gone_afterwards():
    async with scratch.folder() as made:
        path = os.path.join(made, "report")
        assert scratch.read(path, 10) is None
        write(path)
        assert scratch.read(path, 10) == b"x" * 10
        assert scratch.read(path, 9) == "larger than 9 bytes"
    assert os.path.basename(made) not in os.listdir(tempfile.gettempdir())


@pytest.mark.parametrize("what", ["pipe", "folder", "link"])
async def test_what_is_no_file_is_not_waited_for(what: str):
    async with scratch.folder() as made:
        path = os.path.join(made, "report")
        {"pipe": os.mkfifo, "folder": os.mkdir, "link": lambda path: os.symlink("/dev/zero", path)}[what](path)
        assert isinstance(scratch.read(path, 10), str)
