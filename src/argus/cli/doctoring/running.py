"""What runs: the daemon, the port it has or would have, and daemons that were left over."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil

from argus import __version__, home
from argus.cli import client
from argus.cli.doctoring import folder
from argus.cli.doctoring.finding import Case, Finding, bad, depends, ok, warn
from argus.core.errors import ACTIONS, ArgusError
from argus.host import ports

_PATIENCE = 5.0
_AGAIN = "argus down && argus up --detach"


def asked(case: Case) -> Case:
    """With what a running daemon says of itself, or why it says nothing; none is started."""
    if case.daemon is None:
        return case
    try:
        return replace(case, state=client.ask(None, "GET", "/api/state", timeout=_PATIENCE, start=False))
    except client.Refused as refused:
        remedy = (
            "ARGUS_TOKEN is set here: unset it, or correct it"
            if os.environ.get("ARGUS_TOKEN")
            else f"{_AGAIN}: a start takes the token that is in the state folder"
        )
        return replace(case, silence=f"refuses us: {refused}", remedy=remedy)
    except ArgusError as error:
        remedy = (
            "; ".join([error.details["hint"], *(ACTIONS[one] for one in error.actions or ())])
            if ("hint" in error.details)
            else f"read logs/argus.log in {case.home}; {_AGAIN}"
        )
        return replace(case, silence=f"gives no answer: {error.message}", remedy=remedy)


def daemon(case: Case) -> Finding:
    if case.daemon is None and folder.is_closed(case.home):
        return depends("DAEMON")
    if case.daemon is None:
        return ok("DAEMON", "none runs on this state folder", "argus up --detach")
    where = f"pid {case.daemon.identity.pid} at {case.daemon.url}"
    if case.state is None:
        return bad("DAEMON", f"{where} {case.silence}", case.remedy)
    said = case.said()
    if said.get("version") != __version__:
        return warn("DAEMON", f"{where} is {said.get('version')}, and this command is {__version__}", _AGAIN)
    if said.get("store") != "ok":
        why = "DISK_SPACE" if folder.is_full(case, case.home) else "STORE"
        return bad("DAEMON", f"{where} cannot write its record ({said.get('store')}), so it does nothing", f"see {why}")
    if not _is_there(said.get("home", ""), case.home):
        return warn("DAEMON", f"{where} was started on {said['home']}, and its folder is {case.home} now", _AGAIN)
    return ok("DAEMON", f"{where}, {__version__}")


def _is_there(said: str, place: Path) -> bool:
    """Whether the daemon's own name for its state folder still leads to it."""
    try:
        return not said or os.path.samefile(said, place)
    except OSError:
        return False


def port(case: Case) -> Finding:
    if case.daemon is not None:
        return ok("PORT", f"{case.daemon.port} is ours")
    wanted, host = case.config.server.port, case.config.server.host
    barred = ports.barred(host)
    if barred:
        return bad("PORT", f"nothing can listen on {host}: {barred}", "correct server.host, or argus up --host HOST")
    if wanted == 0:
        return ok("PORT", "any free one is taken")
    holder = ports.occupants([wanted]).get(wanted)
    if holder is None:
        return ok("PORT", f"{wanted} is free")
    by = f"{holder.program} (pid {holder.pid})" if holder.pid else "a process of somebody else"
    return bad("PORT", f"{wanted} is taken by {by}", "stop it, or use another: server.port, or argus up --port N")


def leftovers(case: Case) -> Finding:
    """A second daemon on this folder, or one whose folder is gone: nobody can reach or end them by a command."""
    own = case.daemon.identity.pid if case.daemon else None
    others, lost = 0, []
    for pid, place in _daemons():
        if pid == own:
            continue
        if place == case.home or _is_gone(place):
            lost.append(f"pid {pid} on {place}")
        else:
            others += 1
    if lost:
        return warn("LEFTOVERS", f"daemons that no command reaches: {', '.join(lost[:5])}", "end them: kill PID")
    return ok("LEFTOVERS", f"none; {others} on other state folders" if others else "none")


def _is_gone(place: Path) -> bool:
    try:
        place.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False  # who cannot look does not know
    return False


def _daemons() -> Iterator[tuple[int, Path]]:
    for process in psutil.process_iter():
        try:
            words = process.cmdline()
            if _is_elsewhere(process.pid):
                continue
            if process.uids().effective != os.geteuid() or process.status() == psutil.STATUS_ZOMBIE:
                continue
            by_hand = (
                any(os.path.basename(word) == "argus" for word in words[:2])
                and "up" in words
                and "--detach" not in words
            )
            if "argus.daemon" in words[:4] or by_hand:
                yield process.pid, home.folder(process.environ())
        except (psutil.Error, OSError):
            continue  # gone meanwhile, or not ours to look at


def _is_elsewhere(pid: int) -> bool:
    """In a container, or with another view of the files: its paths mean nothing here, and commands from there reach it.
    Who cannot be looked at counts as there."""
    for kind in ("ns/mnt", "ns/pid", "root"):
        try:
            ours = os.readlink(f"/proc/self/{kind}")
        except OSError:
            continue  # this kernel has no such thing
        try:
            if os.readlink(f"/proc/{pid}/{kind}") != ours:
                return True
        except OSError:
            return True
    return False
