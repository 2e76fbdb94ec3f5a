"""Finding the daemon, starting one where there is none, and asking it."""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from argus import home
from argus.cli.http import SILENCE, TIMEOUT, Unanswered, request
from argus.core.errors import HELD_UP, WITH_A_WRONG_TOKEN, ArgusError, Code
from argus.host.identity import Identity, is_alive, is_stopped
from argus.host.locked import is_held
from argus.host.state_folder import check_owner, mark, read

_START = 20.0
_UNAUTHORIZED = 401


@dataclass(frozen=True)
class Daemon:
    identity: Identity
    host: str
    port: int
    url: str
    folder: str | None = None
    """The mark of its state folder; an Argus of before said none."""


class Refused(Exception):
    """The daemon's own structured error."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error.get("message", ""))
        self.error = error


def running(folder: Path) -> Daemon | None:
    """The daemon of this state folder, if it lives. Its lock says the same as its note, should that be gone.

    Not one that is named here and has another folder: this one is a copy of that.
    """
    try:
        # Somebody else's note would name us a process to signal, and a place to send the token to.
        for one in (folder, folder / "daemon.json", folder / "argus.lock"):
            check_owner(one)
        here = mark(folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ArgusError(
            Code.STORE_UNAVAILABLE, f"{folder} cannot be used: {error.strerror}", folder=str(folder)
        ) from None
    for name in ("daemon.json", "argus.lock"):
        daemon = _read(folder / name)
        if daemon is None or not is_alive(daemon.identity):
            continue
        if daemon.folder == here or (daemon.folder is None and name == "argus.lock" and is_held(folder / name)):
            return daemon
    return None


def _read(path: Path) -> Daemon | None:
    try:
        said = json.loads(read(path))
        identity = Identity(int(said["pid"]), str(said["started"]))
        host, _, port = str(said["url"]).removeprefix("http://").rpartition(":")
        return Daemon(identity, host.strip("[]"), int(port), str(said["url"]), said.get("folder"))
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        return None


def token(folder: Path) -> str:
    given = os.environ.get("ARGUS_TOKEN")
    if given:
        return given
    try:
        kept = read(folder / "token").strip()
        if not kept:
            raise ValueError("it is empty; a start of Argus makes a new one")
        return kept
    except FileNotFoundError:
        raise _no_token(folder) from None
    except (OSError, ValueError) as error:
        raise ArgusError(
            Code.STORE_UNAVAILABLE, f"the token in {folder} cannot be read: {error}", folder=str(folder)
        ) from None


def _no_token(folder: Path) -> ArgusError:
    if (folder / "token").is_symlink():
        leads = os.path.realpath(folder / "token")
        said = f"the token in {folder} is a link to {leads}, which is not there; a start makes a new one"
        error = ArgusError(Code.STORE_UNAVAILABLE, said, folder=str(folder))
        error.actions = WITH_A_WRONG_TOKEN
        return error
    was_used = (folder / "argus.lock").exists()
    why = "a start makes a new one" if was_used else "Argus was never started on this state folder"
    return ArgusError(Code.NO_DAEMON, f"there is no token{'' if was_used else ' yet'}: {why}", folder=str(folder))


def find_or_start(config: str | None) -> Daemon:
    if config and not os.path.isfile(os.path.expanduser(config)):
        # Also where a daemon runs, which reads none now: who names a file by mistake believes that it counts.
        from argus.cli import here

        here.configuration(config)
    folder = home.folder(os.environ)
    daemon = running(folder)
    if daemon is not None:
        return daemon
    if os.environ.get("ARGUS_NO_AUTOSTART") == "1":
        raise ArgusError(Code.NO_DAEMON, "no Argus runs on this state folder", folder=str(folder))
    from argus.cli import launch

    print(f"argus: no daemon runs on {folder}; starting one", file=sys.stderr)
    launch.start_detached(config, idle_exit=_idle_exit())
    daemon = wait_for(folder)
    if daemon is None:
        raise ArgusError(Code.NO_DAEMON, "the daemon was started and is gone again", folder=str(folder))
    return daemon


def _idle_exit() -> float:
    given = os.environ.get("ARGUS_IDLE_EXIT", "600")
    try:
        return float(given)
    except ValueError:
        raise ArgusError(Code.INVALID_REQUEST, f"ARGUS_IDLE_EXIT is a number of seconds, not {given[:40]!r}") from None


def wait_for(folder: Path) -> Daemon | None:
    """One that somebody else started this instant needs a moment to say where it listens."""
    until = time.monotonic() + _START
    while time.monotonic() < until:
        daemon = running(folder)
        if daemon is not None:
            return daemon
        time.sleep(0.05)
    return None


def ask(
    config: str | None, method: str, target: str, body: Any = None, *, timeout: float = TIMEOUT, start: bool = True
) -> Any:
    """`start`: a daemon, where there is none."""
    daemon = find_or_start(config) if start else running(home.folder(os.environ))
    if daemon is None:
        raise ArgusError(Code.NO_DAEMON, "no Argus runs on this state folder")
    secret = token(home.folder(os.environ))
    # What takes long by its nature is never cut short for it.
    doubt = (lambda: _look(daemon, secret)) if SILENCE < timeout <= TIMEOUT else None
    try:
        status, answer = request(daemon.host, daemon.port, secret, method, target, body, timeout=timeout, doubt=doubt)
    except TimeoutError:
        raise _silent(daemon) from None
    except Unanswered:
        raise _gone(daemon) from None
    except OSError as error:
        raise ArgusError(Code.NO_DAEMON, f"the daemon at {daemon.url} cannot be reached: {error}") from None
    if status >= 400:
        said = answer.get("error", {}) if isinstance(answer, dict) else {}
        if status == _UNAUTHORIZED:
            said = {**said, "suggestedActions": list(WITH_A_WRONG_TOKEN)}  # `argus token` would print this very one
        raise Refused(said)
    return answer


def _look(daemon: Daemon, secret: str) -> None:
    """Raises TimeoutError where there is no hope. One that only works hard answers this at once, or nearly."""
    if not is_stopped(daemon.identity):
        try:
            request(daemon.host, daemon.port, secret, "GET", "/healthz", timeout=SILENCE)
            return
        except TimeoutError:
            raise
        except OSError:
            return  # it is about to end: what was asked says so itself
    raise TimeoutError


def _gone(daemon: Daemon) -> ArgusError:
    pid = daemon.identity.pid
    hint = "what was asked for may have been done, or not: look how it stands (argus status), then ask again"
    how = "closed the connection" if is_alive(daemon.identity) else "ended"
    said = f"the daemon (pid {pid}) {how} before it had answered"
    return ArgusError(Code.NO_DAEMON, said, pid=pid, url=daemon.url, hint=hint)


def _silent(daemon: Daemon) -> ArgusError:
    pid, stopped = daemon.identity.pid, is_stopped(daemon.identity)
    why = "is stopped, by a signal or a debugger" if stopped else "does not answer"
    hint = f"kill -CONT {pid} lets it go on" if stopped else "a machine that is very busy can be the reason: ask again"
    error = ArgusError(
        Code.NO_DAEMON, f"the daemon (pid {pid}) has the state folder and {why}", pid=pid, url=daemon.url, hint=hint
    )
    error.actions = HELD_UP
    return error
