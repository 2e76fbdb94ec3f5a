"""What long work is doing, on standard error, while its answer is waited for."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from argus.cli.render import clean

_TEXTS: dict[str, Callable[[dict[str, Any]], str]] = {
    "build:build_started": lambda data: f"building {data['image']}",
    "build:build_output": lambda data: f"  {data['line']}",
    "build:build_finished": lambda data: f"built {data['image']} in {data['seconds']:g} s",
    "setup:waiting_for_turn": lambda data: "waiting: another change of this environment is under way",
    "setup:network_created": lambda data: f"network {data['network']}",
    "setup:service_starting": lambda data: f"{data['service']}: starting",
    "setup:service_waiting": lambda data: f"{data['service']}: waiting, {data['waitingFor']}",
    "setup:service_ready": lambda data: f"{data['service']}: ready after {data['seconds']:g} s",
    "resilience:preflight_check": lambda data: f"{data['name']}: {data['status']}, {data['message']}",
    "resilience:port_reassigned": lambda data: f"{data['service']}: port {data['original']} -> {data['actual']}",
    "resilience:network_check": lambda data: f"{data['service']}: {data['status']}",
    "resilience:cleanup_resource": lambda data: f"{data['resourceType']} {data['name']}: {data['action']}",
}


@contextlib.contextmanager
def shown(config: str | None) -> Iterator[None]:
    """For the length of the block. What cannot be shown is not: the work goes on without it."""
    ended = threading.Event()
    thread = threading.Thread(target=_follow, args=(config, ended, time.monotonic()), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        # What was told at the very end is still on its way.
        thread.join(0.2)


def _follow(config: str | None, ended: threading.Event, began: float) -> None:
    from argus.cli.stream import events

    with contextlib.suppress(Exception):
        for event in events(config, follow=True, last=0, after=None, channel=None, live=True):
            text = line(event)
            if text:
                print(f"{time.monotonic() - began:6.1f} s  {text}", file=sys.stderr, flush=True)
            if ended.is_set():
                return


def line(event: dict[str, Any]) -> str:
    make = _TEXTS.get(str(event.get("event", "")))
    try:
        return clean(make(event["data"])) if make else ""
    except (KeyError, TypeError, ValueError):
        return ""
