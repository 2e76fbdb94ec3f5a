"""Records the screens anew: python -m tests.recorded_screens. Look at what changed before you keep it."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from tests.claude_code import SESSION, ClaudeCode, claude_code
from tests.recorded_screens import FOLDER

Found = dict[str, dict[str, Any]]


class _Quoted(str):
    __slots__ = ()


def _dumped(dumper: yaml.SafeDumper, text: _Quoted) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, '"')


yaml.SafeDumper.add_representer(_Quoted, _dumped)


def keep(found: Found, name: str, claude: ClaudeCode, *, still: bool = True) -> None:
    """When it has stopped being drawn, twice the same; one that works is always being drawn."""
    before = ""
    while True:
        time.sleep(0.5)
        shown = claude.tmux.run("capture-pane", "-p", "-e", "-t", f"={SESSION}:")
        cursor = claude.tmux.run("display-message", "-p", "-t", f"={SESSION}:", "#{cursor_x} #{cursor_y}").split()
        if shown == before or not still:
            break
        before = shown
    lines = shown.removesuffix("\n").split("\n")
    found[name] = {"cursor": [int(one) for one in cursor], "lines": [_Quoted(line) for line in lines]}
    print(name)


@contextmanager
def claude(*arguments: str, **settings: Any) -> Iterator[ClaudeCode]:
    folder = Path(tempfile.gettempdir()) / "argus-screens"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    with claude_code(folder, *arguments, **settings) as one:
        yield one
    time.sleep(1)
    shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    found: Found = {}
    with claude(trusts=False) as one:
        keep(found, "trust", one)
    with claude("--permission-mode", "default") as one:
        one.shows("? for shortcuts")
        keep(found, "fresh", one)
        one.keys("-l", "half typed", shows="half typed")
        keep(found, "half-typed", one)
        one.keys("Home")
        keep(found, "half-typed-cursor-at-its-start", one)
        one.keys("C-k")
        keep(found, "erased", one)
        one.keys("-l", "x", shows="❯\xa0x")
        one.keys("Home")
        keep(found, "one-letter-under-the-cursor", one)
        one.keys("C-k")
        one.keys("-l", "line one\\", shows="line one\\")
        time.sleep(0.2)
        one.keys("Enter")
        one.keys("-l", "line two", shows="line two")
        keep(found, "half-typed-lines", one)
        one.keys("Enter", shows="Do you want to create")
        keep(found, "permission", one)
        one.reject()
        keep(found, "rejected", one)
        for n in range(30):
            one.keys("-l", f"line {n}\\", shows=f"line {n}\\")
            time.sleep(0.2)  # sooner, the Enter counts as a part of the text
            one.keys("Enter")
        one.shows("line 29")
        keep(found, "half-typed-scrolled", one)
        one.keys("Up")
        one.keys("Up")
        keep(found, "half-typed-scrolled-cursor-inside", one)
        one.keys("C-c")
        keep(found, "cleared-by-ctrl-c", one)
        one.tmux.run("set-buffer", "-b", "p", "a\nb\nc\nd\ne\nf\ng")
        one.tmux.run("paste-buffer", "-p", "-r", "-b", "p", "-t", f"={SESSION}:")
        one.shows("[Pasted text")
        keep(found, "pasted", one)
        one.keys("C-u")
        one.keys("-l", "!", shows="shell mode")
        keep(found, "shell-mode", one)
        one.keys("-l", "ls", shows="ls")
        keep(found, "shell-mode-half-typed", one)
        one.keys("C-u")
        one.keys("BSpace", shows="? for shortcuts")
        one.keys("?", shows="ctrl + z to suspend")
        keep(found, "shortcuts", one)
        one.keys("BSpace")
        one.keys("-l", "/cl", shows="Start a new session")
        keep(found, "menu", one)
        one.keys("-l", "ear")
        keep(found, "menu-at-the-command", one)
        one.keys("C-u")
        one.keys("-l", "/model")
        one.keys("Enter", shows="Select model")
        keep(found, "choice-of-model", one)
        one.keys("Escape")
        keep(found, "after-a-choice", one)
        one.keys("C-r", shows="Filter history")
        keep(found, "history", one)
        one.keys("Escape")
        keep(found, "after-the-history", one)
    with claude("--permission-mode", "default") as one:
        one.model.think_at(0)
        one.keys("-l", "work", shows="work")
        one.keys("Enter", shows="…")
        keep(found, "working", one, still=False)
        one.keys("-l", "half", shows="half")
        keep(found, "working-half-typed", one, still=False)
        one.keys("Enter", shows="Press up to edit")
        keep(found, "working-with-one-queued", one, still=False)
    with claude("--permission-mode", "default", editorMode="vim") as one:
        one.shows("-- INSERT --")
        keep(found, "vim-insert", one)
        one.keys("Escape", shows="? for shortcuts")
        keep(found, "vim-normal", one)
    target = FOLDER / "claude-2.1.325.yaml"
    text = yaml.safe_dump(found, allow_unicode=True, width=100_000, sort_keys=False)
    target.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
