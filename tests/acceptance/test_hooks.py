"""Agents that tell Argus what they do, by their own hooks: put into their settings, heard, and taken out again."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.harness import Argus, Event, eventually
from tests.acceptance.test_agent_programs import CODEX, Bench, bench, missing, program

__all__ = ["bench"]

# As somebody could have written it: an order and an indentation of its own, hooks and a status line.
MINE = """{
    "model": "opus",
    "unknown": [1, 2.50, "é"],
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "cat > $HOME/stopped"}]}]
    },
    "statusLine": {"type": "command", "command": "cat > $HOME/shown; printf 'my own line'", "padding": 0}
}
"""


@pytest.fixture
def settings(argus: Argus) -> Path:
    path = Path(argus.env["HOME"]) / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text(MINE, encoding="utf-8")
    path.chmod(0o640)
    argus.configure()
    return path


def installed(argus: Argus, *more: str) -> dict[str, Any]:
    ran = argus.cli("hooks", "install", "--json", *more)
    assert ran.code == 0, ran
    said: dict[str, Any] = ran.json
    return said


def checks(argus: Argus, *more: str) -> tuple[int, dict[str, bool | None]]:
    ran = argus.cli("hooks", "doctor", "--json", *more)
    return ran.code, {one["name"]: one["well"] for one in ran.json["checks"]}


def test_hooks_are_installed_beside_what_was_there_and_uninstalled_byte_for_byte(argus: Argus, settings: Path) -> None:
    argus.up()
    said = installed(argus)
    assert (said["file"], said["changed"], said["statusLine"]) == (str(settings), True, "wrapped")
    assert {"SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "Stop"} <= set(said["events"])
    made = json.loads(settings.read_text(encoding="utf-8"))
    mine = json.loads(MINE)
    assert list(made) == list(mine)
    assert made["hooks"]["Stop"][0] == mine["hooks"]["Stop"][0]
    assert stat.S_IMODE(settings.stat().st_mode) == 0o640
    once = settings.read_bytes()
    assert installed(argus)["changed"] is False, "twice is as once"
    assert settings.read_bytes() == once
    assert argus.token.encode() not in once, "only a token that can report"
    code, found = checks(argus)
    assert (code, found["settings"], found["token"], found["events"]) == (0, True, True, None)
    gone = argus.cli("hooks", "uninstall", "--json").json
    assert (gone["changed"], gone["restored"]) == (True, True)
    assert settings.read_bytes() == MINE.encode()
    assert sorted(path.name for path in settings.parent.iterdir()) == ["settings.json"]
    assert argus.cli("hooks", "uninstall", "--json").json["changed"] is False
    assert checks(argus)[0] == 1


def test_what_was_changed_since_stays_when_ours_are_taken_out(argus: Argus, settings: Path) -> None:
    argus.up()
    installed(argus)
    made = json.loads(settings.read_text(encoding="utf-8"))
    settings.write_text(json.dumps({**made, "added": True}), encoding="utf-8")
    gone = argus.cli("hooks", "uninstall", "--json").json
    assert (gone["changed"], gone["restored"]) == (True, False)
    assert json.loads(settings.read_text(encoding="utf-8")) == {**json.loads(MINE), "added": True}


def test_a_file_that_was_not_there_is_gone_again_and_a_link_stays_one(argus: Argus) -> None:
    argus.configure()
    argus.up()
    path = Path(argus.env["HOME"]) / ".claude" / "settings.json"
    installed(argus)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    argus.cli("hooks", "uninstall")
    assert not path.exists()
    real = argus.folder / "dotfiles.json"
    real.write_text("{}\n")
    path.symlink_to(real)
    installed(argus)
    assert path.is_symlink()
    assert "hooks" in json.loads(real.read_text())
    argus.cli("hooks", "uninstall")
    assert (path.is_symlink(), real.read_text()) == (True, "{}\n")


@pytest.mark.parametrize(
    "raw",
    [b'{"env":{"X":"\\ud83d"},"model":"opus"}', b'\xef\xbb\xbf{"model": "opus"}\r\n', b'{"a": 0.10, "b": 1E5}'],
    ids=["half-of-a-pair", "with-a-mark", "odd-numbers"],
)
def test_settings_that_are_hard_to_keep_come_back_byte_for_byte(argus: Argus, settings: Path, raw: bytes) -> None:
    settings.write_bytes(raw)
    argus.up()
    said = installed(argus)
    assert (said["changed"], "Stop" in said["events"]) == (True, True)
    made = json.loads(settings.read_bytes().decode("utf-8-sig"))
    assert {name: made[name] for name in made if name not in ("hooks", "statusLine")} == json.loads(
        raw.decode("utf-8-sig")
    )
    assert argus.cli("hooks", "uninstall", "--json").json["restored"] is True
    assert settings.read_bytes() == raw


@pytest.mark.parametrize("text", ['{"model": "x"} // mine\n', "[]", '{"a": 1, "a": 2}', '{"a": NaN}', '{"b":1e400}'])
def test_settings_that_cannot_be_edited_are_left_alone(argus: Argus, settings: Path, text: str) -> None:
    settings.write_text(text)
    ran = argus.cli("hooks", "install", "--json")
    assert (ran.code, ran.json["error"]["code"]) == (2, "CONFIG_INVALID")
    assert str(settings) in ran.json["error"]["message"]
    assert ran.json["error"]["suggestedActions"] == ["fix_settings", "use_other_settings"]
    assert settings.read_text() == text
    assert argus.find() is None, "nothing was started for it"


def test_the_doctor_says_what_is_wrong(argus: Argus, settings: Path) -> None:
    argus.up()
    installed(argus)
    argus.down()
    code, found = checks(argus)
    assert (code, found["settings"], found["daemon"]) == (1, True, False)
    assert argus.find() is None or not (argus.home / "daemon.json").exists(), "it starts nothing"
    (argus.home / "token").unlink()
    argus.up()
    code, found = checks(argus)
    assert (code, found["token"], found["address"]) == (1, False, False), "another token, and another port"
    installed(argus)
    assert checks(argus)[0] == 0
    made = json.loads(settings.read_text(encoding="utf-8"))
    settings.write_text(json.dumps({**made, "disableAllHooks": True}), encoding="utf-8")
    code, found = checks(argus)
    assert (code, found["hindrance"]) == (1, False)


def test_without_a_daemon_one_is_started_unless_that_is_forbidden(argus: Argus, settings: Path) -> None:
    ran = argus.cli("hooks", "install", env={"ARGUS_NO_AUTOSTART": "1"})
    assert ran.code == 3, ran
    assert settings.read_bytes() == MINE.encode()


# --- the real programs ----------------------------------------------------------------------------------------------


class Terminal:
    """Claude Code in a tmux of its own."""

    def __init__(self, bench: Bench) -> None:
        if not shutil.which("tmux"):
            missing("tmux is missing")
        self._env = {**bench.argus.env, **bench.env}
        command = [program("claude"), "--permission-mode", "acceptEdits"]
        self._tmux("new-session", "-d", "-s", "a", "-x", "150", "-y", "50", "-c", str(bench.project), *command)

    def _tmux(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-L", "hooks", "-f", "/dev/null", *words],
            env=self._env, capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
        return done.stdout

    def screen(self) -> str:
        return self._tmux("capture-pane", "-p", "-t", "=a:")

    def shows(self, text: str) -> None:
        eventually(lambda: text in self.screen(), f"the screen shows {text!r}; it shows {self.screen()}")

    def say(self, text: str) -> None:
        self._tmux("send-keys", "-t", "=a:", "-l", text)
        self.shows(text)
        self._tmux("send-keys", "-t", "=a:", "Enter")

    def close(self) -> None:
        subprocess.run(["tmux", "-L", "hooks", "kill-server"], env=self._env, capture_output=True, timeout=60)


@pytest.fixture
def terminal(bench: Bench) -> Iterator[Terminal]:
    settings = bench.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(MINE, encoding="utf-8")
    bench.argus.configure()
    bench.argus.up()
    installed(bench.argus)
    one = Terminal(bench)
    yield one
    one.close()


def test_the_real_claude_tells_what_it_does_and_works_on_without_argus(bench: Bench, terminal: Terminal) -> None:
    argus, settings = bench.argus, bench.home / ".claude" / "settings.json"
    with argus.events(live="true") as stream:
        terminal.shows("my own line")
        terminal.say("write both files")
        for file in bench.files:
            bench.written(file)

        told: list[dict[str, Any]] = []
        wanted = {"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "status line"}

        def is_all(event: Event) -> bool:
            told.extend([event.data] if event.type == "reported" else [])
            return wanted <= {one["event"] for one in told} and any(one.get("context") for one in told)

        stream.until(is_all, "all that it does")
    assert {one["agent"] for one in told} == {"claude"}
    assert {one["by"] for one in told} == {"report"}, "with a token that can only report"
    assert {one["folder"] for one in told} == {str(bench.project)}
    assert {one["session"] for one in told} == {bench.model.asked[-1].session}
    readings = [one["context"] for one in told if one.get("context")]
    assert readings[-1]["used"] == 100, "as the model's service counts"
    assert readings[-1]["total"] >= 200_000
    assert {one["tool"] for one in told if one["event"] == "PreToolUse"} == {"Write"}
    code, found = checks(argus)
    assert (code, found["events"]) == (0, True)
    assert (bench.home / "stopped").exists(), "the person's own hook ran too"
    shown = eventually(lambda: (bench.home / "shown").read_text(), "it is drawn, and not being drawn just now")
    assert json.loads(shown)["session_id"], "and their status line got what it gets"
    assert not any("ignored" in text for one in bench.model.asked for text in one.prompts), "nothing of ours gets in"

    for prompt, away in (("while it hangs", lambda: os.kill(argus.pid, signal.SIGSTOP)), ("without it", argus.kill)):
        away()
        (bench.home / "stopped").unlink()
        terminal.say(prompt)
        eventually(lambda: any(prompt in one.prompts for one in bench.model.asked), "it asked the model")  # noqa: B023
        eventually((bench.home / "stopped").exists, "it came to the end of its turn")
    terminal.shows("my own line")
    argus.cli("hooks", "uninstall")
    assert settings.read_bytes() == MINE.encode()


def test_the_real_codex_says_that_its_turn_is_over(bench: Bench) -> None:
    argus, config = bench.argus, bench.home / ".codex" / "config.toml"
    before = config.read_bytes()
    argus.configure()
    argus.up()
    assert installed(argus, "--agent", "codex")["events"] == ["agent-turn-complete"]
    with argus.events(live="true") as stream:
        subprocess.run(
            [program("codex"), *CODEX.arguments, "write both files"],
            cwd=bench.project,
            env={**argus.env, **bench.env},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
        )
        event = stream.until(lambda one: one.type == "reported", "the end of its turn")[-1]
    assert (event.data["agent"], event.data["event"]) == ("codex", "agent-turn-complete")
    assert event.data["folder"] == os.path.realpath(bench.project)
    assert event.data["session"] == bench.model.asked[-1].session
    code, found = checks(argus, "--agent", "codex")
    assert (code, found["events"]) == (0, True)
    argus.cli("hooks", "uninstall", "--agent", "codex")
    assert config.read_bytes() == before
