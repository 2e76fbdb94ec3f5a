"""`argus doctor`: the installation itself, with the daemon up and down, and broken in many ways. It changes nothing."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

import argus as package
from argus.store import numbered
from tests.acceptance.harness import Argus, Ran, eventually, free_port, is_alive
from tests.acceptance.yard import Yard
from tests.postgresql import PASSWORD

NAMES = {
    "CONFIGURATION", "PYTHON", "PROGRAM", "PACKAGE", "STATE_FOLDER", "DISK_SPACE", "TOKEN", "LOCK", "STORE", "DAEMON",
    "PORT", "LEFTOVERS", "SERVICE", "CLOCK", "DOCKER", "TMUX", "CLAUDE", "CODEX",
}  # fmt: skip


def checks(ran: Ran) -> dict[str, dict[str, Any]]:
    found = {one["name"]: one for one in ran.json["checks"]}
    for one in found.values():
        assert set(one) == {"name", "state", "detail", "next"}
        assert one["state"] in ("ok", "warn", "bad")
        assert one["next"] or one["state"] == "ok", f"{one['name']} does not say what to do"
    assert ran.json["well"] is all(one["state"] != "bad" for one in found.values())
    assert ran.code == (0 if ran.json["well"] else 1)
    return found


def doctor(argus: Argus, **env: str) -> dict[str, dict[str, Any]]:
    return checks(argus.cli("doctor", "--json", env=env))


def tree(*folders: Path) -> dict[str, object]:
    """Every file with all that could change of it, and what is in it."""
    found: dict[str, object] = {}
    for folder in folders:
        for path in [folder, *folder.rglob("*")]:
            about = path.lstat()
            body = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
            found[str(path)] = (about.st_mode, about.st_mtime_ns, about.st_ctime_ns, about.st_size, body)
    return found


def test_before_the_first_start_all_is_well_and_nothing_is_made(argus: Argus) -> None:
    argus.configure([])
    before = tree(argus.folder)
    found = doctor(argus)
    assert set(found) == NAMES
    assert {one["name"] for one in found.values() if one["state"] == "bad"} == set()
    assert found["PACKAGE"]["state"] == "ok"
    assert found["DAEMON"]["next"] == "argus up --detach"
    assert tree(argus.folder) == before


def test_with_the_daemon_up_it_is_the_daemons_port_lock_and_store(argus: Argus) -> None:
    argus.configure([])
    argus.up()
    found = doctor(argus)
    for name in ("DAEMON", "PORT", "LOCK", "STORE", "TOKEN", "STATE_FOLDER", "LEFTOVERS"):
        assert found[name]["state"] == "ok", found[name]
    assert str(argus.pid) in found["DAEMON"]["detail"]
    assert is_alive(argus.pid)


@pytest.mark.parametrize("end", ["down", "kill"])
def test_it_changes_nothing_also_where_the_daemon_was_killed(argus: Argus, end: str) -> None:
    argus.configure([])
    argus.up()
    getattr(argus, end)()
    if end == "kill":
        assert (argus.home / "argus.db-wal").stat().st_size, "the log of a killed one is what could be touched"
    before = tree(argus.folder)
    assert doctor(argus)["STORE"]["state"] == "ok"
    assert tree(argus.folder) == before


def test_for_people_there_is_a_line_for_each_and_what_to_do(argus: Argus) -> None:
    argus.write("nonsense: 1\n")
    ran = argus.cli("doctor")
    assert ran.code == 1
    lines = ran.stdout.splitlines()
    assert {line.split()[1] for line in lines if not line.startswith(" ")} == NAMES
    broken = next(place for place, line in enumerate(lines) if line.startswith("bad   CONFIGURATION"))
    assert lines[broken + 1].strip().startswith("-> ")


# --- what is wrong, one thing at a time


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A state folder that an Argus left."""
    one = Argus(tmp_path_factory.mktemp("used") / "argus")
    try:
        one.configure([])
        one.up()
        one.down()
    finally:
        one.end()
    return one.home


Break = Callable[[Argus], Any]


@contextmanager
def _nothing() -> Iterator[None]:
    yield


def _token_open(argus: Argus) -> Any:
    (argus.home / "token").chmod(0o644)
    return _nothing()


def _token_empty(argus: Argus) -> Any:
    (argus.home / "token").write_text("")
    return _nothing()


def _folder_open(argus: Argus) -> Any:
    argus.home.chmod(0o777)
    return _nothing()


def _folder_is_a_file(argus: Argus) -> Any:
    shutil.rmtree(argus.home)
    argus.home.write_text("")
    return _nothing()


def _store_damaged(argus: Argus) -> Any:
    file = argus.home / "argus.db"
    body = file.read_bytes()
    file.write_bytes(body[:4096] + b"\xff" * (len(body) - 4096))
    return _nothing()


def _store_newer(argus: Argus) -> Any:
    with closing(sqlite3.connect(argus.home / "argus.db")) as db:
        db.execute("PRAGMA user_version = 999")
    return _nothing()


def _store_of_somebody_else(argus: Argus) -> Any:
    (argus.home / "argus.db").write_bytes(b"not a database of ours" * 100)
    return _nothing()


def _in_its_place_a_folder(name: str) -> Break:
    def replaced(argus: Argus) -> Any:
        (argus.home / name).unlink()
        (argus.home / name).mkdir(mode=0o700)
        return _nothing()

    return replaced


def _store_set_aside(argus: Argus) -> Any:
    for suffix in ("", "-wal", "-shm"):
        (argus.home / f"argus.db.corrupt-1{suffix}").write_bytes(b"")
    return _nothing()


def _in_the_future(argus: Argus) -> Any:
    with closing(sqlite3.connect(argus.home / "argus.db")) as db:
        db.execute("UPDATE journal SET timestamp = timestamp + 86400000")
        db.commit()
    return _nothing()


@contextmanager
def _lock_held(argus: Argus) -> Iterator[None]:
    with (argus.home / "argus.lock").open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def _port_taken(argus: Argus) -> Iterator[None]:
    port = free_port()
    argus.write(f"server: {{port: {port}}}\n")
    with socket.create_server(("127.0.0.1", port)):
        yield


def _broken_configuration(argus: Argus) -> Any:
    argus.write("health: {services: [{name: x}]}\n")
    return _nothing()


@pytest.mark.parametrize(
    ("broken", "name", "state"),
    [
        pytest.param(_token_open, "TOKEN", "bad", id="a-token-that-others-can-read"),
        pytest.param(_token_empty, "TOKEN", "bad", id="an-empty-token"),
        pytest.param(_in_its_place_a_folder("token"), "TOKEN", "bad", id="a-folder-named-token"),
        pytest.param(_in_its_place_a_folder("argus.db"), "STORE", "bad", id="a-folder-named-argus.db"),
        pytest.param(_folder_open, "STATE_FOLDER", "bad", id="a-folder-that-others-can-write-to"),
        pytest.param(_folder_is_a_file, "STATE_FOLDER", "bad", id="a-folder-that-is-none"),
        pytest.param(_store_damaged, "STORE", "bad", id="a-damaged-store"),
        pytest.param(_store_newer, "STORE", "bad", id="a-store-of-a-newer-argus"),
        pytest.param(_store_of_somebody_else, "STORE", "bad", id="a-file-that-is-no-store"),
        pytest.param(_store_set_aside, "STORE_SET_ASIDE", "warn", id="a-store-that-was-set-aside"),
        pytest.param(_in_the_future, "CLOCK_SET_BACK", "warn", id="events-of-tomorrow"),
        pytest.param(_lock_held, "LOCK", "bad", id="a-lock-that-a-stranger-holds"),
        pytest.param(_port_taken, "PORT", "bad", id="a-taken-port"),
        pytest.param(_broken_configuration, "CONFIGURATION", "bad", id="a-configuration-that-is-not-valid"),
    ],
)
def test_what_is_wrong_is_found_named_and_left_as_it_is(
    argus: Argus, used: Path, broken: Break, name: str, state: str
) -> None:
    argus.configure([])
    shutil.copytree(used, argus.home)
    with broken(argus):
        before = tree(argus.folder)
        found = doctor(argus)
        assert found[name]["state"] == state, found
        others = {one["name"] for one in found.values() if one["state"] == "bad"} - {name}
        assert others == set(), "nothing else is blamed"
        assert tree(argus.folder) == before


@pytest.mark.parametrize(("name", "check"), [("token", "TOKEN"), ("argus.db", "STORE")])
def test_what_is_said_of_a_folder_in_the_place_of_a_file_mends_it(
    argus: Argus, used: Path, name: str, check: str
) -> None:
    argus.configure([])
    shutil.copytree(used, argus.home)
    _in_its_place_a_folder(name)(argus)
    subprocess.run(doctor(argus)[check]["next"].partition(";")[0], shell=True, check=True)
    assert doctor(argus)[check]["state"] == "ok"


def test_a_store_that_was_set_aside_is_one_with_all_its_files(argus: Argus, used: Path) -> None:
    argus.configure([])
    shutil.copytree(used, argus.home)
    _store_set_aside(argus)
    names = [one["name"] for one in argus.cli("doctor", "--json").json["checks"]]
    assert names.count("STORE_SET_ASIDE") == 1


def test_a_store_of_the_first_version_is_well_and_will_be_brought_on(argus: Argus) -> None:
    from tests import old_stores

    argus.configure([])
    argus.home.mkdir(mode=0o700)
    old_stores.load_sqlite(argus.home / "argus.db", old_stores.text("sqlite", 1))
    (argus.home / "argus.db").chmod(0o600)
    found = doctor(argus)["STORE"]
    assert found["state"] == "ok"
    assert "version 1" in found["detail"]


def test_a_daemon_whose_state_folder_is_gone_is_a_leftover(argus: Argus) -> None:
    argus.configure([])
    argus.up()
    argus.home.rename(argus.folder / "moved")
    found = doctor(argus)["LEFTOVERS"]
    assert found["state"] == "warn"
    assert f"pid {argus.pid} " in found["detail"]


def test_a_daemon_that_does_not_take_the_token_is_bad(argus: Argus) -> None:
    argus.configure([])
    argus.up()
    (argus.home / "token").write_text("another")
    assert doctor(argus)["DAEMON"]["state"] == "bad"


def test_what_is_not_as_it_was_built_is_found(argus: Argus) -> None:
    """On a copy of the program: this one is others' too."""
    argus.configure([])
    copy = argus.folder / "copy" / "argus"
    shutil.copytree(Path(package.__file__).parent, copy)
    (copy / "api" / "static" / "app.js").write_text("gone")
    (copy / "environments" / "helper" / "argus-helper-arm64").unlink()
    words = [sys.executable, "-m", "argus.cli.main", "doctor", "--json"]
    env = {**argus.env, "PYTHONPATH": str(copy.parent)}
    ran = subprocess.run(words, env=env, cwd=argus.folder, capture_output=True, text=True, timeout=60)
    found = checks(Ran(ran.returncode, ran.stdout, ran.stderr))["PACKAGE"]
    assert found["state"] == "bad"
    assert found["detail"].endswith(": helper/argus-helper-arm64, static/app.js")


def test_an_agents_program_without_hooks_is_a_warning_until_they_are_installed(argus: Argus) -> None:
    programs = argus.folder / "programs"
    programs.mkdir()
    for name in ("claude", "codex"):
        (programs / name).write_text("#!/bin/sh\n")
        (programs / name).chmod(0o755)
    path = f"{programs}{os.pathsep}{argus.env['PATH']}"
    argus.configure([])
    argus.up()
    found = doctor(argus, PATH=path)
    assert (found["CLAUDE"]["state"], found["CLAUDE"]["next"]) == ("warn", "argus hooks install")
    assert (found["CODEX"]["state"], found["CODEX"]["next"]) == ("warn", "argus hooks install --agent codex")
    for name in ("claude", "codex"):
        assert argus.cli("hooks", "install", "--agent", name).code == 0
    found = doctor(argus, PATH=path)
    assert (found["CLAUDE"]["state"], found["CODEX"]["state"]) == ("ok", "ok")
    argus.down()
    argus.up("--port", str(free_port()))
    assert doctor(argus, PATH=path)["CLAUDE"]["state"] == "warn", "another port than the hooks were told"


def test_what_the_configuration_needs_and_is_not_there_is_bad(argus: Argus) -> None:
    empty = argus.folder / "nothing"
    empty.mkdir()
    unreachable = {"PATH": str(empty), "DOCKER_HOST": f"unix://{empty}/docker.sock"}
    argus.configure([])
    found = doctor(argus, **unreachable)
    assert (found["DOCKER"]["state"], found["TMUX"]["state"]) == ("warn", "ok")
    argus.write(
        "health: {services: [{name: x, type: docker, containers: [a]}]}\n"
        f"sessions: {{projects: {{one: {{path: {argus.folder}}}}}}}\n"
    )
    found = doctor(argus, **unreachable)
    assert (found["DOCKER"]["state"], found["TMUX"]["state"]) == ("bad", "bad")


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_an_agents_program_that_the_configuration_starts_and_is_not_there_is_bad(argus: Argus, name: str) -> None:
    empty = argus.folder / "nothing"
    empty.mkdir()
    wrapper = argus.folder / "wrapper"
    wrapper.write_text("#!/bin/sh\n")
    wrapper.chmod(0o755)

    def examined(config: str) -> dict[str, Any]:
        argus.write(f"agents: {{configs: {{Coder: {config}}}}}\n")
        return doctor(argus, PATH=str(empty))[name.upper()]

    assert examined("{command: [true]}")["state"] == "ok"
    for config in (
        f"{{command: [{name}, '{{{{task}}}}']}}",
        f"{{command: [/nowhere/{name}]}}",
        f"{{command: [/nowhere/other], agent: {name}}}",
    ):
        found = examined(config)
        assert found["state"] == "bad", config
        assert "agents.configs.Coder" in found["detail"]
        assert "install" in found["next"]
    assert examined(f"{{command: [{wrapper}], agent: {name}}}")["state"] == "warn", "nobody knows what it starts"
    program = argus.folder / "programs" / name
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert "hooks" in examined(f"{{command: [{program}]}}")["detail"], "it is there, if not on the PATH"
    assert "hooks" in examined(f"{{command: [{name}], env: {{PATH: {program.parent}}}}}")["detail"]


def test_a_docker_engine_that_answers_is_named_with_its_version(yard: Yard) -> None:
    found = checks(yard.cli("doctor", "--json"))["DOCKER"]
    assert found["state"] == "ok"
    assert found["detail"][0].isdigit()


def test_a_start_after_the_doctor_finds_the_lock_free(argus: Argus) -> None:
    argus.configure([])
    argus.up()
    argus.kill()
    doctor(argus)
    argus.up()
    eventually(lambda: doctor(argus)["DAEMON"]["state"] == "ok", "it is up again")


def test_a_store_in_postgresql_is_asked_and_its_password_is_not_shown(argus: Argus, database: str) -> None:
    def examine(url: str) -> dict[str, Any]:
        argus.configure([])
        argus.write(argus.config.read_text(encoding="utf-8") + f"store: {{url: '{url}'}}\n")
        ran = argus.cli("doctor", "--json")
        assert PASSWORD not in ran.stdout + ran.stderr
        return checks(ran)["STORE"]

    assert examine(database)["state"] == "ok"
    argus.up()
    argus.down()
    known = len(numbered.migrations("postgres"))
    assert examine(database)["detail"] == f"PostgreSQL, version {known} of {known}"
    base, _, host = database.partition("?")
    for url, why in (
        (f"{base.rpartition('/')[0]}/there-is-none?{host}", 'database "there-is-none" does not exist'),
        (database.replace("argus:", "nobody-here:"), 'for user "nobody-here"'),
        (f"{base}?host={argus.folder}", "No such file or directory"),
        (f"postgresql://argus:{PASSWORD}@127.0.0.1:{free_port()}/x", "127.0.0.1"),
    ):
        found = examine(url)
        assert found["state"] == "bad"
        assert why in found["detail"]
        assert "Error" not in found["detail"], "no name of a class"
        assert found["detail"] == argus.cli("up", "--detach", "--json").error["message"], "a start says the same"
