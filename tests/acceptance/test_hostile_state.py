"""The state folder, the store and the configuration, where somebody else has been."""

from __future__ import annotations

import shutil
import stat
from pathlib import Path

import pytest

from tests.acceptance.harness import DEADLINE, Argus, Ran

_FOREGROUND, _DETACHED = ("up", "--json"), ("up", "--detach", "--json")


def take_away(database: Path) -> None:
    database.unlink()


def replace(database: Path) -> None:
    copy = database.with_name("copy.db")
    shutil.copy(database, copy)
    copy.replace(database)


@pytest.mark.parametrize("befall", [take_away, replace])
def test_a_store_that_is_no_longer_where_it_was_is_not_written_and_said(argus: Argus, befall) -> None:
    argus.configure(autonomy="observe")
    argus.up()
    befall(argus.home / "argus.db")
    refused = argus.cli("autonomy", "full", "--json")
    assert (refused.code, refused.error["code"]) == (1, "STORE_UNAVAILABLE")
    assert argus.get("/api/autonomy") == {"level": "observe"}, "what is not on record is not so"
    status = argus.cli("status", "--json")
    assert (status.code, status.json["well"]) == (1, False)
    assert status.json["argus"]["store"] != "ok"
    plain = argus.cli("status")
    assert plain.code == 1
    assert "STORE: " in plain.stdout
    argus.down()


@pytest.mark.parametrize(
    "content",
    [b"milk\n", b"Dear diary,\n" * 1000, b"\x00" * 5000, b"SQLite format 2\x00" + b"x" * 4096],
    ids=["a-line", "a-long-text", "zeros", "almost-a-database"],
)
def test_a_store_url_that_names_somebody_s_file_leaves_that_file_as_it_is(argus: Argus, content: bytes) -> None:
    folder = argus.folder / "documents"
    folder.mkdir()
    file = folder / "notes.txt"
    file.write_bytes(content)
    file.chmod(0o644)
    argus.write(f"server: {{port: 0}}\nstore: {{url: 'sqlite://{file}'}}\n")
    ran = argus.cli(*_DETACHED)
    assert (ran.code, ran.error["code"]) == (1, "STORE_UNAVAILABLE")
    assert file.read_bytes() == content
    assert stat.S_IMODE(file.stat().st_mode) == 0o644
    assert [one.name for one in folder.iterdir()] == ["notes.txt"]
    assert argus.find() is None


def refuses(ran: Ran, code: str = "STORE_UNAVAILABLE") -> None:
    assert (ran.code, ran.error["code"]) == (1, code), ran
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("words", [_FOREGROUND, _DETACHED], ids=["foreground", "detached"])
def test_a_state_folder_that_cannot_be_one_is_a_structured_error(argus: Argus, words: tuple[str, ...]) -> None:
    argus.configure()
    file = argus.folder / "file"
    file.write_text("mine")
    # Nobody can make a folder in /proc, not even root, from whom no mode keeps anything.
    for home in (str(file), "/proc/argus"):
        refuses(argus.cli(*words, env={"ARGUS_HOME": home}, timeout=DEADLINE))
    assert file.read_text() == "mine"
    plain = argus.cli(*words[:-1], env={"ARGUS_HOME": str(file)}, timeout=DEADLINE)
    assert (plain.code, plain.stdout) == (1, "")
    assert "STORE_UNAVAILABLE" in plain.stderr
    assert "ARGUS_HOME=" in plain.stderr, "it says how to name another"
    assert "Traceback" not in plain.stderr


@pytest.mark.parametrize("words", [_FOREGROUND, _DETACHED], ids=["foreground", "detached"])
def test_a_folder_that_others_use_is_not_taken_for_the_state_folder(argus: Argus, words: tuple[str, ...]) -> None:
    argus.configure()
    shared = argus.folder / "shared"
    shared.mkdir()
    (shared / "somebody-s").write_text("theirs")
    shared.chmod(0o1777)
    ran = argus.cli(*words, env={"ARGUS_HOME": str(shared)}, timeout=DEADLINE)
    assert ran.code == 1
    assert ran.error["code"] != "INTERNAL_ERROR"
    assert "Traceback" not in ran.stderr
    assert stat.S_IMODE(shared.stat().st_mode) == 0o1777
    assert [one.name for one in shared.iterdir()] == ["somebody-s"]


def test_check_refuses_a_store_that_up_refuses(argus: Argus) -> None:
    argus.write("server: {port: 0}\nstore: {url: 'mysql://x'}\n")
    for words in (("check", "--json"), _DETACHED):
        ran = argus.cli(*words)
        assert (ran.code, ran.error["code"]) == (2, "CONFIG_INVALID"), words
        assert [one["path"] for one in ran.error["details"]["errors"]] == ["store.url"]


def test_a_link_to_a_configuration_that_is_gone_is_not_no_configuration(argus: Argus) -> None:
    argus.config.symlink_to(argus.folder / "gone.yaml")
    for words in (("check", "--json"), _DETACHED, ("status", "--json")):
        ran = argus.cli(*words)
        assert (ran.code, ran.error["code"]) == (2, "CONFIG_NOT_FOUND"), words
    assert argus.find() is None


@pytest.mark.parametrize("command", ["'text'", "text", "'make restart'"])
def test_a_restart_command_is_a_list_and_not_a_text(argus: Argus, command: str) -> None:
    argus.write(
        "server: {port: 0}\nhealth:\n  services:\n"
        f"    - {{name: web, type: tcp, port: 1, restart: {{command: {command}}}}}\n"
    )
    ran = argus.cli("check", "--json")
    assert (ran.code, ran.error["code"]) == (2, "CONFIG_INVALID")
    assert [one["path"] for one in ran.error["details"]["errors"]] == ["health.services[0].restart.command"]
