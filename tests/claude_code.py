"""The real Claude Code in a pane of a tmux of the test's own, with a stand-in for its model."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.acceptance.harness import eventually
from tests.acceptance.model_service import ModelService
from tests.acceptance.test_agent_programs import program
from tests.tmux_server import TmuxServer

SESSION = "work"
_KEY = "sk-ant-stand-in"


class ClaudeCode:
    """Its home has the first questions answered, apart from those that are asked for."""

    def __init__(self, tmux: TmuxServer, *arguments: str, trusts: bool = True, **settings: Any) -> None:
        self.tmux = tmux
        self.project = tmux.folder / "project"
        self.project.mkdir(exist_ok=True)
        self.files = [self.project / "part-1", self.project / "part-2"]
        self.model = ModelService(self.files)
        home = tmux.folder / "home"
        home.mkdir(exist_ok=True)
        answers = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "projects": {str(self.project): {"hasTrustDialogAccepted": trusts}},
            "customApiKeyResponses": {"approved": [_KEY], "rejected": []},
        }
        (home / ".claude.json").write_text(json.dumps({**answers, **settings}))
        env = {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "TERM": "tmux-256color",
            "SHELL": "/bin/sh",
            "ANTHROPIC_BASE_URL": self.model.url,
            "ANTHROPIC_API_KEY": _KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
        }
        pairs = [f"{name}={text}" for name, text in env.items()]
        command = ["env", "-i", "-C", str(self.project), *pairs, program("claude"), *arguments]
        tmux.start(SESSION, *command, columns=120, rows=40)
        self.shows("❯")

    def shows(self, text: str) -> None:
        try:
            eventually(lambda: text in self.tmux.screen(SESSION), f"{text!r} is shown")
        except AssertionError as error:
            raise AssertionError(f"{error}; this is:\n{self.tmux.screen(SESSION)}") from None

    def keys(self, *keys: str, shows: str = "") -> None:
        self.tmux.keys(SESSION, *keys)
        if shows:
            self.shows(shows)

    def reject(self) -> None:
        """Closes a dialog. It does not heed a key that comes as soon as it is open."""

        def closed() -> bool:
            self.keys("Escape")
            until = time.monotonic() + 2
            while time.monotonic() < until:
                if "rejected" in self.tmux.screen(SESSION):
                    return True
            return False

        eventually(closed, "the dialog is closed")

    def line(self) -> str:
        """What stands at the prompt, as a person sees it."""
        y = int(self.tmux.run("display-message", "-p", "-t", f"={SESSION}:", "#{cursor_y}"))
        return self.tmux.screen(SESSION).split("\n")[y].strip("❯\xa0 ")

    def transcripts(self) -> list[Path]:
        return sorted((self.tmux.folder / "home/.claude/projects").glob("*/*.jsonl"))

    def end(self) -> None:
        self.tmux.end()
        self.model.close()


@contextmanager
def claude_code(folder: Path, *arguments: str, **settings: Any) -> Iterator[ClaudeCode]:
    tmux = TmuxServer(folder)
    try:
        one = ClaudeCode(tmux, *arguments, **settings)
    except BaseException:
        tmux.end()
        raise
    try:
        yield one
    finally:
        one.end()
