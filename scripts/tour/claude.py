"""The real Claude Code in a terminal of its own, in a home of its own, with a stand-in for its model."""

from __future__ import annotations

import json
from pathlib import Path

from tour.model import Model
from tour.stage import Stage

SESSION = "shop-ps"
_KEY = "sk-ant-argus-tour"


class Claude:
    def __init__(self, stage: Stage, program: str) -> None:
        self.model = Model()
        self._stage = stage
        home = stage.folder / "home"
        home.mkdir(exist_ok=True)
        answers = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "projects": {str(stage.shop): {"hasTrustDialogAccepted": True}},
            "customApiKeyResponses": {"approved": [_KEY], "rejected": []},
        }
        (home / ".claude.json").write_text(json.dumps(answers), encoding="utf-8")
        stage.quietly("hooks", "install", "--agent", "claude", HOME=str(home))
        said = {
            "HOME": str(home),
            "ANTHROPIC_BASE_URL": self.model.url,
            "ANTHROPIC_API_KEY": _KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            # Else it leaves folders in /tmp.
            "CLAUDE_CODE_TMPDIR": stage.sockets,
            "XDG_RUNTIME_DIR": stage.sockets,
        }
        pairs = [f"{name}={text}" for name, text in said.items()]
        stage.tmux(
            *("new-session", "-d", "-s", SESSION, "-x", "150", "-y", "40", "-c", str(stage.shop)),
            *("env", *pairs, program, "--permission-mode", "acceptEdits"),
        )
        stage.until(lambda: "❯" in self.screen(), "Claude Code is ready")

    def screen(self) -> str:
        return self._stage.tmux("capture-pane", "-p", "-t", f"={SESSION}:")

    def work(self, text: str) -> None:
        self._stage.until(lambda: self._stage.works("sessions", "tell", "shop", text), "it can be told something")
        self._stage.until(lambda: text in self.model.prompts, "Claude Code works")

    def documents(self) -> list[Path]:
        return sorted((self._stage.shop / ".bmad" / "handoffs").glob("*.md"))
