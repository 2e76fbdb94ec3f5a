"""A tmux server of a test's own, with agents that read lines in it."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from tests.acceptance.harness import DEADLINE, eventually, is_alive

_AGENT = Path(__file__).with_name("line_agent.py")


class TmuxServer:
    def __init__(self, folder: Path) -> None:
        if not shutil.which("tmux"):
            reason = "tmux is missing (Debian: apt-get install tmux)"
            if os.environ.get("CI", "").lower() in ("true", "1"):
                pytest.fail(reason)
            pytest.skip(reason)
        self.folder = folder
        self.socket = f"argus-test-{uuid.uuid4().hex[:12]}"

    def run(self, *words: str) -> str:
        env = {name: text for name, text in os.environ.items() if not name.startswith("TMUX")}
        env["SHELL"] = "/bin/sh"
        if "TMUX_TMPDIR" in os.environ:
            env["TMUX_TMPDIR"] = os.environ["TMUX_TMPDIR"]
        # Without anybody's own configuration: what is tested must not depend on it.
        argv = ["tmux", "-L", self.socket, "-f", os.devnull, *words]
        done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=DEADLINE)
        return done.stdout

    def start(self, session: str, *command: str, columns: int = 80, rows: int = 10) -> None:
        size = ("-x", str(columns), "-y", str(rows))
        self.run("new-session", "-d", "-s", session, *size, "-c", str(self.folder), *command)

    def agent(self, session: str, *how: str, around: str = "exec {}") -> Path:
        """A session with an agent that is ready; the file is what it notes. `around`: the shell's words around it."""
        file = self.folder / f"{session}.jsonl"
        command = shlex.join([sys.executable, str(_AGENT), str(file), *how])
        self.start(session, around.format(command))
        self.shows(session, "> ")
        return file

    def screen(self, session: str) -> str:
        return self.run("capture-pane", "-p", "-t", f"={session}:")

    def shows(self, session: str, text: str) -> None:
        eventually(lambda: text.strip() in self.screen(session), f"{text!r} in {session}")

    def keys(self, session: str, *keys: str) -> None:
        self.run("send-keys", "-t", f"={session}:", *keys)

    def end(self) -> None:
        """Returns when it has ended: until then a new session would be refused by the old server."""
        pid = self.run("display-message", "-p", "#{pid}").strip()
        self.run("kill-server")
        eventually(lambda: not pid or not is_alive(int(pid)), "the tmux server has ended")


def noted(file: Path) -> list[str]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
