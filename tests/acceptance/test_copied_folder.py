"""A copy of a state folder is another Argus: no command in it reaches the one that runs on the original."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.harness import Argus, is_alive
from tests.acceptance.test_doctor import doctor

_ALONE = {"ARGUS_NO_AUTOSTART": "1"}


@pytest.fixture
def copy(argus: Argus, tmp_path: Path) -> Iterator[Argus]:
    """While the original runs, with all that it says of itself."""
    argus.configure([])
    argus.up()
    one = Argus(tmp_path / "copy")
    one.configure([])
    shutil.copytree(argus.home, one.home)
    yield one
    one.end()


def _forget_the_folder(home: Path) -> None:
    """As an Argus of before wrote it."""
    for name in ("daemon.json", "argus.lock"):
        said: dict[str, Any] = json.loads((home / name).read_text())
        said.pop("folder", None)
        (home / name).write_text(json.dumps(said))


@pytest.mark.parametrize("old", [False, True], ids=["of-this-version", "of-an-older-one"])
def test_no_command_in_a_copy_reaches_the_daemon_of_the_original(argus: Argus, copy: Argus, old: bool) -> None:
    if old:
        _forget_the_folder(copy.home)
    for words in (("status",), ("autonomy", "cautious"), ("services", "list")):
        refused = copy.cli(*words, "--json", env=_ALONE)
        assert (refused.code, refused.error["code"]) == (3, "NO_DAEMON"), words
    found = doctor(copy)
    assert (found["LOCK"]["detail"], found["DAEMON"]["state"]) == ("free", "ok")
    assert str(argus.pid) not in found["DAEMON"]["detail"]
    assert copy.cli("down", "--json").json == {"stopped": False}
    assert is_alive(argus.pid)
    assert argus.get("/api/autonomy")["level"] == "moderate"


def test_a_copy_gets_a_daemon_of_its_own_and_each_ends_alone(argus: Argus, copy: Argus) -> None:
    copy.up()
    assert copy.pid != argus.pid
    for one in (argus, copy):
        assert one.cli("status", "--json", env=_ALONE).json["argus"]["pid"] == one.pid
    copy.down()
    assert is_alive(argus.pid)


def test_a_daemon_of_an_older_version_is_still_found_and_stopped(argus: Argus) -> None:
    argus.configure([])
    argus.up()
    _forget_the_folder(argus.home)
    assert argus.cli("status", "--json", env=_ALONE).json["argus"]["pid"] == argus.pid
    argus.down()


def test_a_folder_that_was_moved_keeps_its_daemon_and_the_doctor_says_so(argus: Argus) -> None:
    argus.configure([])
    argus.up()
    moved = argus.folder / "elsewhere"
    argus.home.rename(moved)
    env = {**_ALONE, "ARGUS_HOME": str(moved)}
    assert argus.cli("status", "--json", env=env).json["argus"]["pid"] == argus.pid
    found = doctor(argus, **env)["DAEMON"]
    assert found["state"] == "warn"
    assert str(argus.home) in found["detail"], "it names where the daemon believes to be"
    assert argus.cli("down", "--json", env=env).json == {"stopped": True}
    assert not is_alive(argus.pid)
