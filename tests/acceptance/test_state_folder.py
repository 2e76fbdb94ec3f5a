"""Whose the state folder is, and who else could have been in it. These tests are about owners: they need root."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import stat
import subprocess
from pathlib import Path

import pytest

from tests.acceptance.harness import DEADLINE, Argus, Ran, is_alive

_NOBODY = 65534
_UP = ("up", "--detach", "--json")
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to another user")


def refused(ran: Ran) -> str:
    assert (ran.code, ran.error["code"]) == (1, "STORE_UNAVAILABLE"), ran
    assert "Traceback" not in ran.stderr
    return str(ran.error["message"])


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def used(argus: Argus) -> Argus:
    """A state folder that an Argus has used."""
    argus.configure()
    argus.up()
    argus.down()
    return argus


@as_root
@pytest.mark.parametrize("words", [("up", "--json"), _UP], ids=["foreground", "detached"])
def test_a_folder_that_belongs_to_someone_else_is_refused_even_by_root(argus: Argus, words: tuple[str, ...]) -> None:
    argus.configure()
    argus.home.mkdir(mode=0o700)
    os.chown(argus.home, _NOBODY, -1)
    said = refused(argus.cli(*words, timeout=DEADLINE))
    assert "ARGUS_HOME" in said, "it says what to do"
    assert list(argus.home.iterdir()) == []
    assert argus.home.stat().st_uid == _NOBODY


@as_root
@pytest.mark.parametrize("name", ["token", "argus.lock", "argus.db", "logs"])
def test_a_file_in_it_that_belongs_to_someone_else_is_refused(argus: Argus, name: str) -> None:
    used(argus)
    os.chown(argus.home / name, _NOBODY, -1)
    refused(argus.cli(*_UP))
    assert argus.find() is None


@as_root
def test_a_link_that_someone_else_left_in_it_is_not_followed(argus: Argus, tmp_path: Path) -> None:
    used(argus)
    mine = tmp_path / "mine"
    mine.write_text("precious")
    (argus.home / "argus.lock").unlink()
    (argus.home / "argus.lock").symlink_to(mine)
    os.chown(argus.home / "argus.lock", _NOBODY, -1, follow_symlinks=False)
    refused(argus.cli(*_UP))
    assert mine.read_text() == "precious"


@as_root
def test_a_store_elsewhere_that_belongs_to_someone_else_is_refused(argus: Argus, tmp_path: Path) -> None:
    store = tmp_path / "elsewhere.db"
    argus.configure()
    argus.env["ARGUS_STORE"] = f"sqlite:///{store}"
    argus.up()
    argus.down()
    os.chown(store, _NOBODY, -1)
    before = store.read_bytes()
    refused(argus.cli(*_UP))
    assert store.read_bytes() == before


@as_root
@pytest.mark.parametrize("words", [("down",), ("status",)])
def test_what_someone_else_wrote_signals_nobody_and_gets_no_token(argus: Argus, words: tuple[str, ...]) -> None:
    used(argus)
    with subprocess.Popen(["sleep", "1000"], env=argus.env) as innocent:
        try:
            started = Path(f"/proc/{innocent.pid}/stat").read_text().rpartition(")")[2].split()[19]
            note = f'{{"pid": {innocent.pid}, "started": "{started}", "url": "http://127.0.0.1:9"}}'
            (argus.home / "daemon.json").write_text(note)
            os.chown(argus.home / "daemon.json", _NOBODY, -1)
            os.chown(argus.home, _NOBODY, -1)
            refused(argus.cli(*words, "--json", env={"ARGUS_NO_AUTOSTART": "1"}))
            assert is_alive(innocent.pid)
        finally:
            innocent.send_signal(signal.SIGKILL)


@pytest.mark.parametrize("open_to", [0o777, 0o775, 0o770, 0o1777], ids=oct)
def test_a_used_folder_that_others_could_write_to_is_refused_until_somebody_has_looked(
    argus: Argus, open_to: int
) -> None:
    used(argus)
    argus.home.chmod(open_to)
    assert f"chmod 700 {argus.home}" in refused(argus.cli(*_UP)), "it says what to do"
    assert mode(argus.home) == open_to, "who looks at it sees it as it was"
    argus.home.chmod(0o700)
    argus.up()


@pytest.mark.parametrize("open_to", [0o755, 0o750, 0o711], ids=oct)
def test_a_folder_that_others_could_look_into_is_closed_again_and_that_is_said(argus: Argus, open_to: int) -> None:
    token = used(argus).token
    argus.home.chmod(open_to)
    (argus.home / "argus.db").chmod(0o644)
    said = argus.up()
    assert (mode(argus.home), mode(argus.home / "argus.db")) == (0o700, 0o600)
    assert sum(str(argus.home) in notice for notice in said["notices"]) == 2
    assert argus.get("/api/state")["argus"]["notices"] == said["notices"]
    assert argus.token == token
    assert argus.token not in str(said["notices"])
    argus.down()
    assert argus.up()["notices"] == []


@pytest.mark.parametrize("open_to", [0o777, 0o755], ids=oct)
def test_an_empty_folder_is_taken_and_closed(argus: Argus, open_to: int) -> None:
    argus.configure()
    argus.home.mkdir()
    argus.home.chmod(open_to)
    argus.up()
    assert mode(argus.home) == 0o700


@pytest.mark.parametrize("open_to", [0o644, 0o640, 0o604], ids=oct)
def test_a_token_that_others_could_read_is_no_longer_good(argus: Argus, open_to: int) -> None:
    before = used(argus).token
    (argus.home / "token").chmod(open_to)
    said = argus.up()
    assert argus.token != before
    assert mode(argus.home / "token") == 0o600
    assert len(said["notices"]) == 1
    old = argus.rest("GET", "/api/state", headers={"Authorization": f"Bearer {before}"})
    assert (old.status, old.error["code"]) == (401, "UNAUTHORIZED")
    assert argus.rest("GET", "/api/state").status == 200


def test_a_store_of_a_newer_argus_is_refused_and_left_as_it_is(argus: Argus) -> None:
    used(argus)
    store = argus.home / "argus.db"
    with contextlib.closing(sqlite3.connect(store)) as db:
        db.execute("PRAGMA user_version = 99")
    before = store.read_bytes()
    ran = argus.cli(*_UP)
    refused(ran)
    assert ran.error["details"]["storeVersion"] == 99
    assert ran.error["suggestedActions"] == ["install_newer"], "neither the disk nor time mends it"
    assert store.read_bytes() == before
    assert list(argus.home.glob("*corrupt*")) == []


@pytest.mark.parametrize("name", ["argus.db", "argus.lock", "token", "daemon.json"])
def test_a_folder_in_the_place_of_a_file_is_called_one(argus: Argus, name: str) -> None:
    used(argus)
    (argus.home / name).unlink(missing_ok=True)
    (argus.home / name).mkdir(mode=0o700)
    ran = argus.cli(*_UP)
    said = refused(ran)
    assert f"{argus.home / name} is a folder" in said
    assert ran.error["suggestedActions"] == ["move_away"]
    (argus.home / name).rmdir()
    argus.up()


def test_a_store_with_two_names_is_said_to_have_them(argus: Argus) -> None:
    used(argus)
    os.link(argus.home / "argus.db", argus.folder / "other.db")
    ran = argus.cli(*_UP)
    assert "hard link" in refused(ran)
    assert ran.error["suggestedActions"] == ["check_store"]
