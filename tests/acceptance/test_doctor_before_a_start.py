"""What would keep Argus from starting or from recording, `argus doctor` says before, with what mends it."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import argus as package
from tests.acceptance.harness import Argus, Ran, eventually, is_alive
from tests.acceptance.test_doctor import doctor, tree

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")


class Plain(Argus):
    """Without what root may do with files whatever their mode."""

    prefix: tuple[str, ...] = ()

    def words(self, *arguments: str) -> list[str]:
        dropped = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
        return [*self.prefix, *dropped, *super().words(*arguments)]


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[Plain]:
    one = Plain(tmp_path / "argus")
    one.configure([])
    one.up()
    one.down()
    yield one
    if one.home.is_dir():
        one.home.chmod(0o700)
    one.end()


def bad(found: dict[str, dict[str, Any]]) -> set[str]:
    return {one["name"] for one in found.values() if one["state"] == "bad"}


def _mode(name: str, mode: int) -> Callable[[Argus], None]:
    return lambda argus: (argus.home / name).chmod(mode)


def _in_the_way(name: str, *, folder: bool) -> Callable[[Argus], None]:
    """Something of the wrong kind where something of ours belongs."""

    def broken(argus: Argus) -> None:
        place = argus.home / name
        if place.is_dir():
            place.rename(argus.folder / "what-was-there")
        else:
            place.unlink(missing_ok=True)
        place.mkdir(mode=0o700) if folder else place.write_text("theirs")

    return broken


def _pipe(name: str) -> Callable[[Argus], None]:
    """Whoever opens it waits for somebody at its other end."""

    def broken(argus: Argus) -> None:
        (argus.home / name).unlink(missing_ok=True)
        os.mkfifo(argus.home / name, 0o600)

    return broken


def _token(text: bytes) -> Callable[[Argus], None]:
    return lambda argus: void((argus.home / "token").write_bytes(text))


def void(_: object) -> None: ...


def _dangling(argus: Argus) -> None:
    shutil.rmtree(argus.home)
    argus.home.symlink_to(argus.folder / "unplugged")


@pytest.mark.parametrize(
    ("broken", "name"),
    [
        pytest.param(_mode("", 0o500), "STATE_FOLDER", id="a-folder-that-cannot-be-written"),
        pytest.param(_mode("logs/argus.err", 0o400), "STATE_FOLDER", id="a-log-that-cannot-be-written"),
        pytest.param(_dangling, "STATE_FOLDER", id="a-link-to-nowhere"),
        pytest.param(_mode("argus.lock", 0o400), "LOCK", id="a-lock-that-cannot-be-written"),
        pytest.param(_mode("argus.db", 0o400), "STORE", id="a-store-that-cannot-be-written"),
        pytest.param(_in_the_way("logs", folder=False), "STATE_FOLDER", id="a-file-named-logs"),
        pytest.param(_in_the_way("logs/argus.log", folder=True), "STATE_FOLDER", id="a-folder-named-argus.log"),
        pytest.param(_in_the_way("logs/argus.err", folder=True), "STATE_FOLDER", id="a-folder-named-argus.err"),
        pytest.param(_in_the_way("argus.lock", folder=True), "LOCK", id="a-folder-named-argus.lock"),
        pytest.param(_in_the_way("argus.db.lock", folder=True), "STORE", id="a-folder-named-argus.db.lock"),
        pytest.param(_pipe("logs/argus.log"), "STATE_FOLDER", id="a-pipe-named-argus.log"),
        pytest.param(_pipe("logs/argus.err"), "STATE_FOLDER", id="a-pipe-named-argus.err"),
        pytest.param(_pipe("daemon.json"), "STATE_FOLDER", id="a-pipe-named-daemon.json"),
        pytest.param(_pipe("argus.lock"), "LOCK", id="a-pipe-named-argus.lock"),
        pytest.param(_pipe("argus.db"), "STORE", id="a-pipe-named-argus.db"),
        pytest.param(_pipe("argus.db.lock"), "STORE", id="a-pipe-named-argus.db.lock"),
        pytest.param(_pipe("token"), "TOKEN", id="a-pipe-named-token"),
        pytest.param(_token(b"\xff\xfe" * 20), "TOKEN", id="a-token-that-is-no-text"),
        pytest.param(_token(b"ab"), "TOKEN", id="a-token-that-could-be-guessed"),
        pytest.param(_token(b"white space " * 4), "TOKEN", id="a-token-with-white-space"),
    ],
)
def test_it_is_found_a_start_agrees_and_what_is_said_mends_it(
    plain: Plain, broken: Callable[[Argus], None], name: str
) -> None:
    broken(plain)
    before = tree(plain.folder)
    found = doctor(plain)
    assert bad(found) == {name}
    assert tree(plain.folder) == before
    refused = plain.cli("up", "--detach", "--json")
    assert (refused.code, refused.error["code"]) == (1, "STORE_UNAVAILABLE")
    if refused.error["suggestedActions"] == ["move_away"]:
        place = found[name]["next"].partition(";")[0].split()[1]
        assert place in refused.error["message"], "the start names the same"
    subprocess.run(found[name]["next"].partition(";")[0], shell=True, check=True)
    assert bad(doctor(plain)) == set()
    plain.up()
    assert bad(doctor(plain)) == set()


class Nobody(Argus):
    """Another user, on whatever folder that is."""

    def words(self, *arguments: str) -> list[str]:
        nobody = ("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups")
        # An argument of `sh`, and not read by it from here: this folder is closed to them.
        return [*nobody, "sh", "-c", 'cd / && exec "$@"', "sh", *super().words(*arguments)]


@pytest.fixture
def nobody() -> Iterator[Nobody]:
    """In a folder that everybody can enter: pytest's own are closed."""
    with tempfile.TemporaryDirectory(prefix="argus-nobody-") as place:
        Path(place).chmod(0o755)
        one = Nobody(Path(place, "argus"))
        one.configure([])
        yield one
        one.end()


@as_root
def test_a_folder_of_somebody_else_is_one_finding_and_the_others_point_to_it(plain: Plain, nobody: Nobody) -> None:
    if subprocess.run(nobody.words("--help"), capture_output=True).returncode:
        pytest.skip("where Argus is installed, nobody else can go")
    shutil.move(plain.home, nobody.home)
    before = tree(nobody.folder)
    found = doctor(nobody)
    assert bad(found) == {"STATE_FOLDER"}
    assert "root" in found["STATE_FOLDER"]["detail"]
    for name in ("TOKEN", "LOCK", "STORE", "DAEMON"):
        assert (found[name]["state"], found[name]["next"]) == ("warn", "see STATE_FOLDER"), found[name]
    assert tree(nobody.folder) == before
    refused = nobody.cli("up", "--detach", "--json").error
    assert "root" in refused["message"]


@pytest.mark.parametrize("url", ["nonsense", "mysql://host/x", "postgresql://user:pa@ss/word@host/x"])
def test_a_store_that_the_environment_names_wrongly_is_said_by_its_variable(plain: Plain, url: str) -> None:
    plain.env["ARGUS_STORE"] = url
    for words in (("up", "--detach"), ("check", str(plain.config))):
        refused = plain.cli(*words, "--json").error
        assert (refused["code"], refused["suggestedActions"]) == ("CONFIG_INVALID", ["fix_store_variable"])
        assert refused["message"].startswith("ARGUS_STORE: ")
        assert [one["path"] for one in refused["details"]["errors"]] == ["ARGUS_STORE"]
    found = doctor(plain)
    for name in ("CONFIGURATION", "STORE"):
        assert (found[name]["state"], "ARGUS_STORE" in found[name]["next"]) == ("bad", True), found[name]
        assert "argus.yaml" not in found[name]["next"]
    plain.write(f"store: {{url: '{url}'}}\n")
    del plain.env["ARGUS_STORE"]
    refused = plain.cli("check", str(plain.config), "--json").error
    assert refused["suggestedActions"][0] == "fix_config"
    assert "ARGUS_STORE" not in doctor(plain)["STORE"]["next"]


def test_a_configuration_that_may_not_be_read_is_said_before_a_state_folder_is_made(plain: Plain) -> None:
    plain.config.chmod(0)
    plain.env["ARGUS_HOME"] = str(plain.folder / "new")
    for words in (("up", "--detach"), ("up",), ("check", str(plain.config))):
        refused = plain.cli(*words, "--json").error
        assert (refused["code"], refused["suggestedActions"][0]) == ("CONFIG_NOT_FOUND", "make_readable")
    assert not (plain.folder / "new").exists()
    assert "chmod" in doctor(plain)["CONFIGURATION"]["next"]


def test_a_folder_that_cannot_be_entered_is_one_finding(plain: Plain) -> None:
    plain.home.chmod(0)
    found = doctor(plain)
    assert bad(found) == {"STATE_FOLDER"}
    assert found["STATE_FOLDER"]["next"] == f"chmod u+rwx {plain.home}"
    assert found["TOKEN"]["next"] == found["STORE"]["next"] == "see STATE_FOLDER"


def test_a_folder_below_one_that_cannot_be_entered_is_one_finding(plain: Plain) -> None:
    closed = plain.folder / "closed"
    (closed / "state").mkdir(parents=True)
    closed.chmod(0)
    plain.env["ARGUS_HOME"] = str(closed / "state")
    try:
        assert bad(doctor(plain)) == {"STATE_FOLDER"}
    finally:
        closed.chmod(0o700)


@pytest.mark.parametrize("name", ["argus.lock", "daemon.json", "token"])
def test_no_command_waits_for_a_pipe_where_a_file_belongs(plain: Plain, name: str) -> None:
    _pipe(name)(plain)
    refused = plain.cli("status", "--json", timeout=30).error
    assert (refused["code"], refused["suggestedActions"]) == ("STORE_UNAVAILABLE", ["move_away"])
    assert f"{plain.home / name} is a pipe, and a file belongs there" in refused["message"]
    assert plain.cli("token", timeout=30).code == (1 if name == "token" else 0)
    assert plain.cli("down", timeout=30).code == 0


def test_a_store_elsewhere_that_is_a_pipe_is_refused(plain: Plain) -> None:
    os.mkfifo(plain.folder / "pipe", 0o600)
    plain.env["ARGUS_STORE"] = f"sqlite:///{plain.folder / 'pipe'}"
    assert bad(doctor(plain)) == {"STORE"}
    refused = plain.cli("up", "--detach", "--json", timeout=30).error
    assert f"{plain.folder / 'pipe'} is a pipe" in refused["message"]


@as_root
def test_a_file_system_that_is_mounted_read_only_is_found(plain: Plain) -> None:
    mount = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'
    plain.prefix = ("unshare", "--mount", "sh", "-c", mount, str(plain.home))
    assert bad(doctor(plain)) == {"STATE_FOLDER"}
    assert plain.cli("up", "--detach", "--json").error["code"] == "STORE_UNAVAILABLE"


def test_a_store_that_was_read_only_once_is_written_again(plain: Plain) -> None:
    """Its index keeps the mode with which it was made."""
    plain.up()
    plain.kill()
    for name in ("argus.db", "argus.db-wal", "argus.db-shm"):
        (plain.home / name).chmod(0o400)
    refused = plain.cli("up", "--detach", "--json").error
    assert "argus.db " in refused["message"]
    (plain.home / "argus.db").chmod(0o600)
    plain.up()
    assert plain.rest("GET", "/api/state").json["argus"]["store"] == "ok"


def test_what_lies_in_the_stores_place_is_judged_as_a_start_does(plain: Plain) -> None:
    store = plain.home / "argus.db"
    store.unlink()
    with closing(sqlite3.connect(store)) as db:
        db.execute("CREATE TABLE theirs (x)")
    store.chmod(0o600)
    found = doctor(plain)["STORE"]
    assert found["state"] == "bad"
    refused = plain.cli("up", "--detach", "--json").error
    assert (refused["code"], refused["suggestedActions"]) == ("STORE_UNAVAILABLE", ["move_away"])
    store.write_text("text, and no database")
    assert "sets it aside" in doctor(plain)["STORE"]["next"]
    plain.up()


def test_a_token_that_is_a_link_is_judged_by_what_it_leads_to(plain: Plain) -> None:
    token = plain.home / "token"
    token.rename(plain.folder / "kept")
    token.symlink_to(plain.folder / "kept")
    assert doctor(plain)["TOKEN"]["state"] == "ok"
    (plain.folder / "kept").chmod(0o640)
    assert doctor(plain)["TOKEN"]["state"] == "bad"


def test_a_token_that_is_a_link_to_nowhere_is_said_to_be_one(plain: Plain) -> None:
    token = plain.home / "token"
    token.unlink()
    refused = plain.cli("token", "--json").error
    assert "never started" not in refused["message"]
    assert "a start makes a new one" in refused["message"]
    assert "next start" in doctor(plain)["TOKEN"]["detail"]
    token.symlink_to(plain.folder / "unplugged")
    found = doctor(plain)["TOKEN"]
    assert found["state"] == "warn"
    assert str(plain.folder / "unplugged") in found["detail"]
    refused = plain.cli("token", "--json").error
    assert (refused["code"], refused["suggestedActions"]) == ("STORE_UNAVAILABLE", ["check_token"])
    assert str(plain.folder / "unplugged") in refused["message"]
    plain.up()
    assert doctor(plain)["TOKEN"]["state"] == "ok"
    assert not token.is_symlink()


@as_root
def test_a_daemon_that_sees_other_files_is_no_leftover(argus: Argus, tmp_path: Path) -> None:
    argus.configure([])
    place = tmp_path / "place"
    place.mkdir()
    mount = 'mount -t tmpfs none "$0" && exec "$@"'
    words = ["unshare", "--mount", "sh", "-c", mount, str(place), *argus.words("up", "--detach", "--json")]
    ran = subprocess.run(
        words, env={**argus.env, "ARGUS_HOME": f"{place}/state"}, cwd=argus.folder, capture_output=True, text=True
    )
    pid = Ran(ran.returncode, ran.stdout, ran.stderr).json["pid"]
    try:
        assert doctor(argus)["LEFTOVERS"]["state"] == "ok"
    finally:
        os.kill(pid, 9)
        eventually(lambda: not is_alive(pid), "it is gone")


def _distribution(folder: Path, name: str, *needs: str, files: tuple[str, ...] = ()) -> None:
    info = folder / f"{name}-1.dist-info"
    info.mkdir(parents=True)
    lines = ["Metadata-Version: 2.1", f"Name: {name}", "Version: 1", *(f"Requires-Dist: {one}" for one in needs)]
    (info / "METADATA").write_text("\n".join(lines) + "\n")
    (info / "RECORD").write_text("".join(f"{one},,\n" for one in files))


def test_what_argus_needs_and_is_not_there_is_named_before_it_is_imported(argus: Argus) -> None:
    folder = argus.folder / "packages"
    _distribution(folder, "argusd", "absent>=1", "hollow", "optional; extra == 'more'")
    _distribution(folder, "hollow", "deeper", files=("hollow/__init__.py",))
    for name in ("pydantic", "psutil", "yaml"):
        (folder / f"{name}.py").write_text(f"raise ModuleNotFoundError('no {name}', name='{name}')\n")
    env = {**argus.env, "PYTHONPATH": str(folder)}
    words = [sys.executable, "-m", "argus.cli.main"]

    def run(*more: str) -> Ran:
        ran = subprocess.run([*words, *more], env=env, cwd=argus.folder, capture_output=True, text=True, timeout=60)
        return Ran(ran.returncode, ran.stdout, ran.stderr)

    ran = run("doctor", "--json")
    assert (ran.code, ran.stderr) == (1, "")
    (found,) = ran.json["checks"]
    assert (found["name"], found["state"]) == ("PACKAGE", "bad")
    assert found["detail"].endswith(": absent, hollow, deeper")
    refused = run("check", "--json").error
    assert (refused["code"], refused["suggestedActions"]) == ("INTERNAL_ERROR", ["install_again"])


_NO_PYTHON = "this is no Python (\n"


@pytest.mark.parametrize(
    ("file", "text"),
    [
        pytest.param("argus/cli/render.py", _NO_PYTHON, id="what-prints"),
        pytest.param("argus/config.py", "import argus.nothing\n", id="a-module-of-ours"),
        pytest.param("yaml/__init__.py", _NO_PYTHON, id="yaml"),
        pytest.param("cronsim/__init__.py", "raise ImportError('half of it')\n", id="cronsim"),
    ],
)
@pytest.mark.parametrize("as_json", [True, False], ids=["json", "text"])
def test_what_cannot_be_imported_is_named_by_the_doctor(argus: Argus, file: str, text: str, as_json: bool) -> None:
    folder = argus.folder / "packages"
    shutil.copytree(Path(package.__file__).parent, folder / "argus", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / file).parent.mkdir(exist_ok=True)
    (folder / file).write_text(text)
    argus.configure([])
    env = {**argus.env, "PYTHONPATH": str(folder)}
    words = [sys.executable, "-m", "argus.cli.main", "doctor", *(["--json"] if as_json else [])]
    done = subprocess.run(words, env=env, cwd=argus.folder, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (1, "")
    if as_json:
        (found,) = Ran(done.returncode, done.stdout, done.stderr).json["checks"]
        assert (found["name"], found["state"]) == ("PACKAGE", "bad")
    assert str(folder / file) in done.stdout
    assert " install " in done.stdout


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param("DROP TABLE acts", id="no-table-of-acts"),
        pytest.param("DROP TABLE settings", id="no-table-of-settings"),
        pytest.param("PRAGMA user_version = 0", id="version-0"),
        pytest.param("PRAGMA user_version = -3", id="version-below-0"),
    ],
)
def test_a_store_whose_tables_are_not_those_of_its_version_is_damaged(plain: Plain, damage: str) -> None:
    store = plain.home / "argus.db"
    with closing(sqlite3.connect(store)) as db:
        db.execute(damage)
        db.commit()
    found = doctor(plain)["STORE"]
    assert found["state"] == "bad"
    assert "sets it aside" in found["next"]
    notices = plain.up()["notices"]
    assert any(".corrupt-" in notice for notice in notices), notices
    assert plain.cli("status", "--json").json["budget"]["left"] == 0, "nobody knows what was spent"
    assert doctor(plain)["STORE"]["state"] == "ok"


@pytest.mark.parametrize("host", ["192.0.2.1", "nonsense.invalid", "a..b"])
def test_a_host_where_nothing_can_listen_is_found(plain: Plain, host: str) -> None:
    plain.write(f"server: {{port: 0, host: {host}}}\n")
    found = doctor(plain)["PORT"]
    assert found["state"] == "bad"
    assert host in found["detail"]
    refused = plain.cli("up", "--detach", "--json").error
    assert refused["code"] == "CONFIG_INVALID"
    assert host in refused["message"]


@pytest.mark.parametrize("text", ["{}", "[1]", "7", '"x"', '{"web": 1}', '{"level": "wild", "file": 3}', "no JSON"])
def test_settings_that_nobody_understands_do_not_keep_argus_from_starting(plain: Plain, text: str) -> None:
    keys = ("autonomy", "services.paused", "services.certificates", "store.set_aside", "graph.told", "epoch")
    with closing(sqlite3.connect(plain.home / "argus.db")) as db:
        for key in keys:
            db.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (key, text))
        db.commit()
    plain.up()
    state = plain.cli("status", "--json").json
    assert state["autonomy"] == "moderate"
    if text != "{}":
        assert "not understood" in (plain.home / "logs" / "argus.log").read_text()
