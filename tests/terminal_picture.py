"""A picture of what the installed program shows in a real terminal."""

from __future__ import annotations

import io
import subprocess
import time

from playwright.sync_api import Page
from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

from tests.acceptance.harness import Argus, eventually

_WIDTH, _HEIGHT = 118, 44
_SOCKET = "argus-pictures"
_SETTLES = 30.0
"""Seconds until what is shown live has its curves."""


def shown(argus: Argus, *words: str, until: str) -> str:
    """The screen once it has been there for a while, with its colours."""
    tmux = ["tmux", "-L", _SOCKET, "-f", "/dev/null"]
    size = ["-x", str(_WIDTH), "-y", str(_HEIGHT)]
    env = {**argus.env, "TERM": "xterm-256color"}
    subprocess.run([*tmux, "new-session", "-d", *size, *argus.words(*words)], env=env, cwd=argus.folder, check=True)
    try:
        capture = [*tmux, "capture-pane", "-ep"]
        eventually(lambda: until in subprocess.check_output(capture, env=env, text=True), f"{until!r} is shown")
        time.sleep(_SETTLES)
        return subprocess.check_output(capture, env=env, text=True).rstrip()
    finally:
        subprocess.run([*tmux, "kill-server"], env=env, check=False)


def pictured(painter: Page, command: str, screen: str) -> bytes:
    console = Console(record=True, width=_WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Text(f"$ {command}", style="bold"))
    console.print(Text.from_ansi(screen), no_wrap=True)
    painter.set_content(f"<body style='margin:0'>{console.export_svg(title='argus', theme=MONOKAI)}</body>")
    return painter.locator("svg").first.screenshot(omit_background=True)
