"""What of `make demo` needs neither Docker nor an Argus."""

import contextlib
import importlib
import os
import pty
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
LOOK = """
import sys
import demo
class Stage:
    def say(self, *lines): print(*lines)
    def argus(self, *words): print("$ argus", *words)
demo.look_around(Stage(), fast=sys.argv[1] == "fast")
print("tidied up")
"""


def test_a_person_may_look_around_until_enter():
    with _on_a_terminal("slow") as (program, terminal):
        said = _read(terminal, "Enter tidies up.\r\n")
        assert "$ argus open" in said
        assert not select.select([terminal], [], [], 0.5)[0], "it waits"
        os.write(terminal, b"\n")
        _read(terminal, "tidied up")
        assert program.wait(10) == 0


def test_whoever_wants_it_fast_is_not_waited_for():
    with _on_a_terminal("fast") as (_, terminal):
        assert _read(terminal, "tidied up").split() == ["tidied", "up"]


def test_without_a_terminal_nobody_is_waited_for():
    words = [sys.executable, "-c", LOOK, "slow"]
    asked = subprocess.PIPE  # never answered
    with subprocess.Popen(words, env=_environ(), stdin=asked, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        assert program.stdout.read().split() == ["tidied", "up"]


def test_dockers_notice_about_its_builder_is_left_out_and_nothing_else(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(SCRIPTS))
    said = [
        "   0.1 s  building shop:1\n",
        "   0.1 s    DEPRECATED: The legacy builder is deprecated and will be removed in a future release.\n",
        "   0.1 s                Install the buildx component to build images with BuildKit:\n",
        "   0.1 s                https://docs.docker.com/go/buildx/\n",
        "   0.1 s    \n",
        "   0.3 s    \n",
        "   0.3 s    DEPRECATED: something else\n",
        "   0.3 s    ERROR: no such file\n",
    ]
    shown = list(importlib.import_module("tour.words").without_notice(said))
    assert shown == [said[0], *said[5:]]


@contextlib.contextmanager
def _on_a_terminal(way: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", LOOK, way], env=_environ(), stdin=theirs, stdout=theirs, stderr=theirs
    ) as program:
        os.close(theirs)
        try:
            yield program, ours
        finally:
            program.kill()
            os.close(ours)


def _environ() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(SCRIPTS)}


def _read(terminal: int, until: str) -> str:
    said = b""
    while until.encode() not in said:
        assert select.select([terminal], [], [], 20)[0], said.decode()
        said += os.read(terminal, 4096)
    return said.decode()
