"""What is written for systemd and launchd, and whose a file is."""

from __future__ import annotations

import plistlib
from pathlib import Path

import pytest

from argus.cli import service
from argus.cli.installing import files, launchd, plan, systemd
from argus.cli.installing.files import Whose
from argus.cli.installing.manager import Standing
from argus.cli.installing.plan import Plan
from argus.core.errors import ArgusError, Code

RECORDED = Path(__file__).parent / "argusd.plist"
PLAN = Plan(
    (
        "/opt/argus/bin/python",
        "-m",
        "argus.daemon",
        "--folder",
        "/Users/a",
        "--config",
        "/Users/a/x & y/argus.yaml",
    ),
    {"PATH": "/opt/homebrew/bin:/usr/bin:/bin", "ARGUS_HOME": "/Users/a/Library/Application Support/argus"},
    Path("/Users/a/Library/Application Support/argus"),
)


def test_the_job_of_launchd_is_as_recorded() -> None:
    """A change of it is meant: write the file anew, and read it as launchd would."""
    assert launchd.render(PLAN) == RECORDED.read_text(encoding="utf-8")


def test_the_job_of_launchd_says_what_launchd_reads() -> None:
    job = plistlib.loads(launchd.render(PLAN).encode())
    assert job["Label"] == "argusd"
    assert job["ProgramArguments"] == list(PLAN.command)
    assert job["EnvironmentVariables"] == PLAN.environment
    assert job["KeepAlive"] == {"SuccessfulExit": False}
    assert (job["RunAtLoad"], job["AbandonProcessGroup"]) == (True, True)
    assert job["StandardErrorPath"] == "/Users/a/Library/Application Support/argus/logs/argus.err"


@pytest.mark.parametrize(
    ("word", "written"),
    [
        ("/a b", '"/a b"'),
        ("100%", '"100%%"'),
        ("$HOME", '"$$HOME"'),
        ('say "x"', '"say \\"x\\""'),
        ("back\\slash", '"back\\\\slash"'),
    ],
)
def test_a_word_of_a_unit_is_one_word_and_means_itself(word: str, written: str) -> None:
    made = systemd.render(Plan((word,)), system=False)
    assert f"ExecStart={written}" in made.splitlines()


@pytest.mark.parametrize("text", [launchd.render(PLAN), systemd.render(PLAN, system=False)], ids=["launchd", "systemd"])
def test_what_was_written_is_known_again_until_it_is_changed(tmp_path: Path, text: str) -> None:
    file = tmp_path / "file"
    assert files.whose(file) is Whose.NOBODYS
    files.write(file, text)
    assert files.whose(file) is Whose.OURS
    file.write_text(text.replace("/opt", "/own"), encoding="utf-8")
    assert files.whose(file) is Whose.CHANGED
    file.write_text("\n".join(line for line in text.splitlines() if "Written by" not in line), encoding="utf-8")
    assert files.whose(file) is Whose.THEIRS


def test_a_link_is_not_ours_wherever_it_leads(tmp_path: Path) -> None:
    (tmp_path / "masked").symlink_to("/dev/null")
    assert files.whose(tmp_path / "masked") is Whose.THEIRS


def test_only_what_a_service_needs_is_taken_from_this_environment() -> None:
    environ = {"HOME": "/h", "PATH": "/bin", "ANTHROPIC_API_KEY": "k", "ARGUS_TOKEN": "t", "TMUX_TMPDIR": "a\nb"}
    made = plan.make(Path("/etc/argus.yaml"), environ)
    assert made.environment == {"PATH": "/bin", "ARGUS_HOME": "/h/.local/state/argus"}
    assert made.command[1:] == ("-m", "argus.daemon", "--folder", "/h", "--config", "/etc/argus.yaml")


@pytest.mark.parametrize(
    ("host", "kept"),
    [
        ("tcp://user:hunter2@h:2375", False),
        ("ssh://user@h", True),
        ("unix:///run/user/1000/docker.sock", True),
    ],
)
def test_a_variable_with_a_password_is_left_out_and_that_is_said(host: str, kept: bool) -> None:
    environ = {"HOME": "/h", "PATH": "/bin", "DOCKER_HOST": host}
    assert ("DOCKER_HOST" in plan.make(None, environ).environment) is kept
    notices = plan.notices(environ)
    assert [notice.split()[0] for notice in notices] == ([] if kept else ["DOCKER_HOST"])
    assert "hunter2" not in str(notices)


@pytest.mark.parametrize("name", ["HOME", "ARGUS_HOME"])
def test_a_path_that_would_break_the_lines_of_a_unit_is_refused(name: str) -> None:
    with pytest.raises(ArgusError) as caught:
        plan.make(None, {"HOME": "/home/a", name: "/home/a\nExecStart=/bin/true"})
    assert caught.value.code is Code.INVALID_REQUEST


def test_below_what_is_no_folder_lies_nobodys_file() -> None:
    assert files.whose(Path("/dev/null/.config/systemd/user/argus.service")) is Whose.NOBODYS


def test_a_unit_that_is_not_ours_is_not_to_be_enabled(tmp_path: Path) -> None:
    keeper = systemd.Systemd({"HOME": str(tmp_path)}, system=False)
    first = service.to_run(keeper, Whose.THEIRS, Standing())[0]
    assert first.startswith(f"mv {keeper.file} ")
