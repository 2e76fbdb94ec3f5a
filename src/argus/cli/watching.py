"""`argus status --watch`: the state, live, until q or Ctrl-C."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import click

from argus.cli import client, stream
from argus.cli.http import TIMEOUT
from argus.cli.panel import Picture, paint
from argus.cli.render import show
from argus.cli.terminal import ESCAPE, Gone, Signals, keys
from argus.core.errors import ArgusError

_EVERY = 2.0
"""Seconds after which the state is asked for although nothing happened: ages grow."""
_SOONEST = 0.2
"""Seconds between two questions, however much happens."""
_PATIENCE = 2.5
"""Seconds that an answer may take, before its lack is told: with `_EVERY`, within five of the last one."""
_SILENT = "Argus does not answer"


def watch(config: str | None) -> None:
    if os.isatty(1) and os.environ.get("TERM", "dumb") != "dumb":
        _on_screen(config)
    else:
        _in_lines(config)


class _News:
    """Follows the events in a thread; what they told is taken over between two pictures."""

    def __init__(self, config: str | None) -> None:
        self._config = config
        self._lock = threading.Lock()
        self._told: list[dict[str, Any]] = []
        threading.Thread(target=self._follow, daemon=True).start()

    def taken(self) -> list[dict[str, Any]]:
        with self._lock:
            told, self._told = self._told, []
            return told

    def _follow(self) -> None:
        with contextlib.suppress(client.Refused, ArgusError):
            told = stream.events(self._config, follow=True, last=6, after=None, channel=None, live=True, start=False)
            for event in told:
                with self._lock:
                    self._told = [*self._told[-1000:], event]


class _Answers:
    """Asks for the state in a thread: keys and signals are heard also while Argus is silent."""

    def __init__(self, config: str | None, first: dict[str, Any]) -> None:
        self._config = config
        self._wanted = threading.Event()
        self._asked: float | None = None
        self.state, self.seen, self._problem = first, time.monotonic(), ""
        threading.Thread(target=self._ask, daemon=True).start()

    def want(self) -> None:
        """As soon as may be, because something happened."""
        self._wanted.set()

    @property
    def problem(self) -> str:
        asked = self._asked
        silent = asked is not None and time.monotonic() - asked > _PATIENCE
        return self._problem or (_SILENT if silent else "")

    def _ask(self) -> None:
        while True:
            time.sleep(_SOONEST)
            self._wanted.wait(_EVERY - _SOONEST)
            self._wanted.clear()
            self._asked = time.monotonic()
            try:
                self.state, problem = _ask(self._config, start=False), ""
                self.seen = time.monotonic()
            except (client.Refused, ArgusError) as error:
                problem = f"{_SILENT}: {error}"
            self._problem, self._asked = problem, None


class _View:
    """What is on the screen, and what it is made of."""

    def __init__(self, config: str | None) -> None:
        from rich.console import Console

        self._answers = _Answers(config, _ask(config))
        self._news = _News(config)
        for name in ("COLUMNS", "LINES"):
            os.environ.pop(name, None)  # as large as it was when somebody wrote that down; the terminal knows how it is
        self._picture, self._console = Picture(), Console()

    def shown(self, pressed: Callable[[], str], signals: Signals) -> bool:
        """Until a key ends it; False, as soon as a signal wants something of it."""
        from rich.live import Live

        with Live(console=self._console, screen=True, auto_refresh=False) as live:
            while not signals.any:
                self._follow()
                live.update(paint(self._picture, self._console.height, self._console.width), refresh=True)
                if pressed() in ("q", "Q", ESCAPE):
                    return True
        return False

    def _follow(self) -> None:
        for event in self._news.taken():
            self._picture.saw(event)
            self._answers.want()
        self._picture.state, self._picture.problem = self._answers.state, self._answers.problem
        self._picture.age = time.monotonic() - self._answers.seen


def _on_screen(config: str | None) -> None:
    view, signals, is_over = _View(config), Signals(), False
    try:
        with signals.heard():
            while not (is_over or signals.ending):
                with keys(signals) as pressed:
                    # In the background it may have waited for the keyboard, and be asked to end: nothing is drawn then.
                    is_over = not signals.any and view.shown(pressed, signals)
                signals.step_back()
    except (Gone, OSError):
        # There is nobody to say it to, nor anything to write to: Python would complain once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        signals.ending = signals.ending or signal.SIGHUP
    if signals.ending:
        sys.exit(128 + signals.ending)


def _in_lines(config: str | None) -> None:
    """Without a terminal: the state as text, whenever it says something else."""
    said, text = _in_words(_ask(config))
    news, before = _News(config), ""
    while True:
        if said != before:
            before = said
            click.echo(f"{text}\n")  # which takes colours away where nobody sees them
        until = time.monotonic() + _EVERY
        while time.monotonic() < until and not [event for event in news.taken() if event["id"]]:
            time.sleep(_SOONEST)
        try:
            # One that a person stopped meanwhile is waited for, not started.
            said, text = _in_words(_ask(config, start=False, timeout=2 * _PATIENCE))
        except (client.Refused, ArgusError) as error:
            said, text = _SILENT, f"{_SILENT}: {error}"


def _in_words(state: dict[str, Any]) -> tuple[str, str]:
    """What is to be told when it changes, and how."""
    plain = [
        [*state["notWell"], *state["needsYou"]],
        sorted((one["name"], one["state"]) for one in state["services"]),
        sorted((one["agent_id"], one["state"]) for one in state["agents"]),
        sorted((one["project"], one["state"], one["needs_you"]) for one in state["sessions"]),
        sorted((one["runId"], one["state"], sorted(one["guards"].items())) for one in state["environments"]),
    ]
    return repr(plain), "\n".join(line for line in show("status", state).text.splitlines() if line)


def _ask(config: str | None, *, start: bool = True, timeout: float = TIMEOUT) -> dict[str, Any]:
    answer: dict[str, Any] = client.ask(config, "GET", "/api/state", start=start, timeout=timeout)
    return answer
