"""Starting and stopping the daemon."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from argus import home
from argus.cli import here
from argus.cli.client import Refused, running, wait_for
from argus.core.errors import HELD_UP, ArgusError, Code
from argus.host import state_folder
from argus.host.identity import Identity, is_alive, is_stopped, send
from argus.host.launching import NONCE

_READY = 30.0
_END = 20.0
"""A setup under way is taken back first, which has ten seconds."""


def start_detached(
    config: str | None, *, host: str | None = None, port: int | None = None, idle_exit: float | None = None
) -> dict[str, Any]:
    """Starts a daemon in a session of its own and returns its announcement; raises what kept it from starting."""

    folder = home.folder(os.environ)
    path = here.configuration(config)
    errors = _error_file(folder)
    reading, writing = os.pipe()
    argv = [sys.executable, "-m", "argus.daemon", "--ready-fd", str(writing), "--folder", str(here.or_nowhere())]
    for option, value in (("--config", path and path.absolute()), ("--host", host), ("--port", port)):
        if value is not None:
            argv += [option, str(value)]
    if idle_exit is not None:
        argv += ["--idle-exit", str(idle_exit)]
    try:
        child = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            pass_fds=[writing],
            start_new_session=True,
            cwd="/",
            # A relative one means where we are, and the daemon is somewhere else.
            env={**{name: text for name, text in os.environ.items() if name != NONCE}, "ARGUS_HOME": str(folder)},
        )
    finally:
        os.close(writing)
        os.close(errors)
    said = _read_announcement(reading)
    if said is None:
        child.poll()
        raise ArgusError(
            Code.NO_DAEMON,
            "the daemon did not start; its log says why",
            log=str(folder / "logs"),
            exitCode=child.returncode,
        )
    # Our child goes on without us; nobody is meant to wait for it.
    child.returncode = child.returncode if child.poll() is not None else 0
    if not said.get("ready"):
        error = said.get("error", {})
        # Another command started one on this folder in the same instant: that one is as good.
        same = error.get("details", {}).get("lock") == str(folder / "argus.lock")
        if idle_exit is not None and error.get("code") == Code.ALREADY_RUNNING and same and wait_for(folder):
            return {"ready": True}
        raise Refused(error)
    return said


def _error_file(folder: Path) -> int:
    try:
        state_folder.make(folder)
        (folder / "logs").mkdir(mode=0o700, exist_ok=True)
        return os.open(folder / "logs" / "argus.err", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    except OSError as error:
        raise state_folder.unusable(folder, error, home.ANOTHER) from None


def _read_announcement(reading: int) -> dict[str, Any] | None:
    until, text = time.monotonic() + _READY, b""
    try:
        while not text.endswith(b"\n"):
            left = until - time.monotonic()
            if left <= 0 or not select.select([reading], [], [], left)[0]:
                return None
            data = os.read(reading, 65536)
            if not data:
                return None
            text += data
    finally:
        os.close(reading)
    said: dict[str, Any] = json.loads(text)
    return said


def stop(*, force: bool = False) -> int | None:
    """Ends the daemon of this state folder, and returns how many records were lost with it; None when there is none.
    `force`: also one that does not end when told."""
    if os.environ.get("ARGUS_TOKEN", "").startswith("argus."):
        # Whoever was given a token of its own may not do more by a signal than by asking.
        raise ArgusError(Code.FORBIDDEN, "the token in ARGUS_TOKEN is an agent's; it does not stop Argus")
    folder = home.folder(os.environ)
    daemon = running(folder)
    if daemon is None:
        return None
    send(daemon.identity, signal.SIGTERM)
    if is_stopped(daemon.identity):
        send(daemon.identity, signal.SIGCONT)  # else it would never see that it is told to end
    pid = daemon.identity.pid
    if _ends(daemon.identity):
        return _lost(folder, pid)
    if force:
        # What it was about is on record as an intent, and the next start closes that.
        send(daemon.identity, signal.SIGKILL)
        if _ends(daemon.identity):
            return 0
    refused = ArgusError(Code.INVALID_STATE, f"the daemon (pid {pid}) does not end", pid=pid)
    refused.actions = HELD_UP
    raise refused


def _lost(folder: Path, pid: int) -> int:
    """By the last word of the daemon that has ended: only it knows what it could still write."""
    try:
        said = json.loads(state_folder.read(folder / "argus.lock"))
        return int(said["lost"]) if said["pid"] == pid else 0
    except (OSError, ValueError, KeyError, TypeError):
        return 0


def _ends(identity: Identity) -> bool:
    until = time.monotonic() + _END
    while is_alive(identity):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True
