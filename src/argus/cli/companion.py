"""The companion of an agent: says that it lives while it does, and at once when it ended.

The daemon may be away for a while, or come back elsewhere: whatever fails here is tried again, and disturbs nobody.
"""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

from argus import home
from argus.cli import client
from argus.cli.http import request
from argus.core.errors import ArgusError
from argus.host.identity import Identity, is_alive

RETRY = 1.0
_ANSWER = 20.0
_LAST_WORD = 30.0
"""Seconds in which the news of an end is offered; after that, Argus finds out by itself."""
_NOBODY = 0


def tell(target: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """Status and answer of the daemon; 0 when there is none that answers. Starts none."""
    try:
        folder = home.folder(os.environ)
        daemon = client.running(folder)
        if daemon is None:
            return _NOBODY, {}
        secret = client.token(folder)
        status, answer = request(daemon.host, daemon.port, secret, "POST", target, body, timeout=_ANSWER)
    except (OSError, ValueError, ArgusError):
        return _NOBODY, {}
    return status, answer if isinstance(answer, dict) else {}


def report_end(agent_id: str, *, exit_status: int | None = None, failure: str = "") -> int:
    said: dict[str, Any] = {} if exit_status is None else {"exit_status": exit_status}
    if failure:
        said["failure"] = failure[:2000]
    return tell(f"/api/agents/{agent_id}/exited", said)[0]


class Companion(threading.Thread):
    """Beats for an agent that the launcher started. `stop` says why it should end, once that was the answer."""

    def __init__(self, agent_id: str, agent: Identity, interval: float) -> None:
        super().__init__(name="argus-companion", daemon=True)
        self._body = {"agent_id": agent_id, "pid": agent.pid}
        self._agent = agent
        self._interval = interval
        self._over = threading.Event()
        self.stop = ""

    def run(self) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())  # signals are the launcher's own affair
        while not self._over.is_set() and is_alive(self._agent):
            status, answer = tell("/api/heartbeat", self._body)
            self.stop = self.stop or _stop(answer)
            self._over.wait(self._interval if status == 200 else min(RETRY, self._interval))

    def end(self) -> None:
        self._over.set()


def accompany(body: dict[str, Any], who: Identity, interval: float, should_end: Callable[[str], None]) -> None:
    """Beats for a process that somebody else started, until it has ended, and says so then."""
    handle = _watch(who.pid)
    told, wait = "", interval
    try:
        while is_alive(who):
            if _ended(handle, wait):
                break
            status, answer = tell("/api/heartbeat", body)
            wait = interval if status == 200 else min(RETRY, interval)
            if not told and (told := _stop(answer)):
                should_end(told)
    finally:
        if handle >= 0:
            os.close(handle)
    until = time.monotonic() + _LAST_WORD
    while report_end(str(body["agent_id"])) == _NOBODY and time.monotonic() < until:
        time.sleep(RETRY)


def _stop(answer: dict[str, Any]) -> str:
    return str(answer.get("reason") or "asked to end") if answer.get("stop") else ""


def _watch(pid: int) -> int:
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):  # not Linux, or it is gone already
        return -1


def _ended(handle: int, seconds: float) -> bool:
    if handle < 0:
        time.sleep(min(seconds, RETRY))
        return False
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    return bool(poll.poll(seconds * 1000))
