"""What long work is doing, on standard error, while its answer is waited for."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from argus.cli.render import clean
from argus.core.steps import PASSING, TEXTS, Texts, said

_LAST = 3.0
"""Seconds for the last events, which are told when they are on record."""
_LISTENS = 10.0
"""Seconds to wait for the events before the work begins without them."""


@contextlib.contextmanager
def shown(
    config: str | None, project: str | None = None, until: str | None = None, service: str | None = None
) -> Iterator[None]:
    """For the length of the block. What cannot be shown is not: the work goes on without it.

    `project`: whose test suites; others may run theirs at the same time. `until`: the event that tells of the end.
    `service`: the one that Argus watches and that is meant.
    """
    screen = _Terminal() if is_terminal() else _Lines()
    begun, over = threading.Event(), threading.Event()

    def told(event: dict[str, Any]) -> None:
        is_watched = str(event.get("event")).startswith("services:")
        if event["data"]["service"] == service if is_watched else event["data"].get("projectPath", project) == project:
            screen.show(event)
            if event["event"] == until:
                over.set()

    thread = threading.Thread(target=_follow, args=(config, begun, told), daemon=True)
    thread.start()
    # The work may be over in less time than it takes to begin to listen.
    at_most = time.monotonic() + _LISTENS
    while not begun.wait(0.05) and thread.is_alive() and time.monotonic() < at_most:
        pass
    # What was told at the very end is still on its way.
    patience = 0.2
    try:
        yield
        patience = _LAST if until else patience
    finally:
        over.wait(patience)
        screen.close()


def _follow(config: str | None, begun: threading.Event, told: Callable[[dict[str, Any]], None]) -> None:
    from argus.cli.stream import events

    with contextlib.suppress(Exception):
        for event in events(config, follow=True, last=0, after=None, channel=None, live=True, begun=begun.set):
            told(event)


def is_terminal() -> bool:
    return sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"


class _Lines:
    """One for each thing that happens."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._lock = threading.Lock()
        self._is_closed = False

    def show(self, event: dict[str, Any]) -> None:
        with self._lock:
            if not self._is_closed:
                self._show(event)

    def close(self) -> None:
        """Nothing is shown any more: what follows is the answer."""
        with self._lock:
            self._is_closed = True
            self._end()

    def _show(self, event: dict[str, Any]) -> None:
        text = line(event)
        if text:
            print(self._timed(text), file=sys.stderr, flush=True)

    def _end(self) -> None:
        pass

    def _timed(self, text: str) -> str:
        return f"{time.monotonic() - self._began:6.1f} s  {text}"


class _Terminal(_Lines):
    """What stays worth reading stays; below it one line that changes, with what runs now."""

    def __init__(self) -> None:
        super().__init__()
        self._passed = 0
        self._now = ""

    def _show(self, event: dict[str, Any]) -> None:
        kind, data = event.get("event"), event["data"]
        has_passed = kind == "test:case_ended" and data.get("status") == "passed"
        self._passed += has_passed
        passing = line(event, PASSING)
        text = "" if has_passed or passing else line(event)
        if kind == "test:suite_ended":
            self._now = ""
        self._now = passing or self._now
        self._draw(text)

    def _end(self) -> None:
        self._now, self._passed = "", 0
        self._draw("")

    def _draw(self, text: str) -> None:
        above = f"{self._timed(text)}\n" if text else ""
        counted = f"{self._passed} passed  " if self._passed else ""
        below = self._timed(f"{counted}{self._now}") if self._now or counted else ""
        # A line that wraps could not be taken back.
        width = shutil.get_terminal_size().columns - 1
        sys.stderr.write(f"\r\x1b[K{above}{below[:width]}")
        sys.stderr.flush()


def line(event: dict[str, Any], texts: Texts = TEXTS) -> str:
    return clean(said(str(event.get("event", "")), event["data"], texts))
