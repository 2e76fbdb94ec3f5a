"""`argus status --watch`: the state, live, until q or Ctrl-C."""

from __future__ import annotations

import contextlib
import os
import select
import termios
import threading
import time
import tty
from collections.abc import Iterator
from typing import Any

import click

from argus.cli import client, stream
from argus.cli.panel import Picture, paint
from argus.cli.render import show
from argus.core.errors import ArgusError

_EVERY = 2.0
"""Seconds after which the state is asked for although nothing happened: ages grow."""
_SOONEST = 0.2
"""Seconds between two questions, however much happens."""
_TICK = 0.1


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
            for event in stream.events(self._config, follow=True, last=6, after=None, channel=None, live=True):
                with self._lock:
                    self._told = [*self._told[-1000:], event]


def _on_screen(config: str | None) -> None:
    from rich.console import Console
    from rich.live import Live

    picture, console = Picture(state=_ask(config)), Console()
    news, asked, dirty = _News(config), time.monotonic(), False
    with _keys() as pressed, Live(console=console, screen=True, auto_refresh=False) as live:
        while pressed() not in ("q", "Q", "\x1b"):
            for event in news.taken():
                picture.saw(event)
                dirty = True
            waited = time.monotonic() - asked
            if waited > _EVERY or (dirty and waited > _SOONEST):
                asked, dirty = time.monotonic(), False
                try:
                    picture.state, picture.problem = _ask(config, start=False), ""
                except (client.Refused, ArgusError) as error:
                    picture.problem = f"Argus does not answer: {error}"
            live.update(paint(picture, console.size.height), refresh=True)


def _in_lines(config: str | None) -> None:
    """Without a terminal: the state as text, whenever it says something else."""
    news, before = _News(config), ""
    while True:
        state = _ask(config)
        text = show("status", state).text
        verdict = "\n".join(line for line in text.splitlines() if line)
        plain = (
            {(one["name"], one["state"]) for one in state["services"]},
            {(one["agent_id"], one["state"]) for one in state["agents"]},
        )
        if repr(plain) != before:
            before = repr(plain)
            click.echo(f"{verdict}\n")  # which takes colours away where nobody sees them
        until = time.monotonic() + _EVERY
        while time.monotonic() < until and not [event for event in news.taken() if event["id"]]:
            time.sleep(_SOONEST)


def _ask(config: str | None, *, start: bool = True) -> dict[str, Any]:
    answer: dict[str, Any] = client.ask(config, "GET", "/api/state", start=start)
    return answer


def _nobody() -> str:
    """There is no keyboard."""
    time.sleep(_TICK)
    return ""


@contextlib.contextmanager
def _keys() -> Iterator[Any]:
    """Single keys, without waiting for a line; the terminal is as before afterwards."""
    if not os.isatty(0):
        yield _nobody
        return
    before = termios.tcgetattr(0)
    tty.setcbreak(0)

    def pressed() -> str:
        ready, _, _ = select.select([0], [], [], _TICK)
        return os.read(0, 1).decode("ascii", "replace") if ready else ""

    try:
        yield pressed
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)
