"""process: something runs, as launchd, systemd, a PID file or the list of processes says."""

from __future__ import annotations

import re
from typing import Any, Literal

from pydantic import Field, model_validator

from argus.core.cutting import ending
from argus.host.processes import NoProcess
from argus.host.seam import Host, Ran
from argus.schema import PositiveDuration, lasting
from argus.services.checks.base import Interval, Service
from argus.services.model import Seen, Status
from argus.services.restarters.systemd import systemctl

_WAYS = ("launchdLabel", "systemdUnit", "pidFile", "processName")
_SHOWN = "ActiveState,SubState,LoadState,MainPID,Result"
_MISSING = 113
"""How launchctl ends for a label that it does not know."""


_SAID = 200
"""Characters of what a program says that cannot answer."""


class ProcessService(Service):
    type: Literal["process"] = Field(description="Looks whether a process runs.")
    interval: Interval = lasting("120s", "How often it is checked, at least 100ms; intervalMs takes milliseconds.")
    timeout: PositiveDuration = lasting("3s", "How long one check may take, everything included; also timeoutMs.")
    pid_file: str | None = Field(default=None, min_length=1, max_length=4096, description="Where its PID is written.")
    process_name: str | None = Field(
        default=None, min_length=1, max_length=255, description="The exact name of its program."
    )

    @model_validator(mode="before")
    @classmethod
    def _is_found_in_one_way(cls, values: Any) -> Any:
        if isinstance(values, dict):
            given = [way for way in _WAYS if values.get(way) is not None]
            if len(given) != 1:
                raise ValueError(f"give one of {', '.join(_WAYS)}")
        return values

    @property
    def place(self) -> str:
        named = self.launchd_label or self.systemd_unit or self.pid_file or self.process_name
        return f"Process {named}"

    async def probe(self, host: Host) -> Seen:
        if self.launchd_label:
            return launchd(await host.ask(["launchctl", "list", self.launchd_label], timeout=self.timeout))
        if self.systemd_unit:
            words = systemctl("show", f"--property={_SHOWN}", "--", self.systemd_unit, user=self.systemd_user)
            return systemd(await host.ask(words, timeout=self.timeout))
        try:
            if self.pid_file:
                return _runs(await host.process_of_file(self.pid_file, timeout=self.timeout))
            return _run(await host.processes_named(self.process_name or "", timeout=self.timeout), self.process_name)
        except NoProcess as none:
            return _down("not running", str(none))
        except TimeoutError:
            return Seen(Status.UNKNOWN, None, "Argus could not ask", "the processes could not be listed in time")


def launchd(ran: Ran) -> Seen:
    """What `launchctl list LABEL` said."""
    if ran.problem:
        return _unanswered("launchctl", ran)
    pid = re.search(r'"PID"\s*=\s*(\d+)', ran.output)
    status = re.search(r'"LastExitStatus"\s*=\s*(-?\d+)', ran.output)
    last = f", last exit status {status[1]}" if status else ""
    if pid and int(pid[1]):
        return Seen(Status.UP, None, "", f"PID {pid[1]}{last}")
    if ran.exit_code == _MISSING or "Could not find service" in ran.output:
        return _down("not loaded", "launchd does not know this label")
    if ran.exit_code != 0:
        return _unanswered("launchctl", ran)
    return _down("not running", f"launchd has no PID for it{last}")


def systemd(ran: Ran) -> Seen:
    """What `systemctl show` said."""
    if ran.problem or ran.exit_code != 0:
        return _unanswered("systemctl", ran)
    said = dict(line.split("=", 1) for line in ran.output.splitlines() if "=" in line)
    active, sub = said.get("ActiveState", ""), said.get("SubState", "")
    how = f"{active} ({sub})" if sub else active
    load = said.get("LoadState", "loaded")
    if active in ("active", "reloading", "refreshing"):
        # It runs, though its file was masked or removed meanwhile: that matters when it is started the next time.
        pid, now = said.get("MainPID", "0"), f", {load}" if load != "loaded" else ""
        return Seen(Status.UP, None, "", how + now + (f", PID {pid}" if pid != "0" else ""))
    if load in ("not-found", "bad-setting", "error", "masked"):
        return _down("not loaded", f"systemd says {load}")
    if active == "activating" and not sub.startswith("auto-restart"):
        return Seen(Status.PENDING, None, "starting", how)
    if not active:
        return _unanswered("systemctl", ran)
    result = said.get("Result", "success")
    return _down("not running", how + (f", {result}" if result != "success" else ""))


def _runs(pid: int) -> Seen:
    return Seen(Status.UP, None, "", f"PID {pid}")


def _run(pids: list[int], name: str | None) -> Seen:
    if not pids:
        return _down("not running", f"no process is called {name}")
    return _runs(pids[0]) if len(pids) == 1 else Seen(Status.UP, None, "", f"{len(pids)} processes")


def _down(cause: str, detail: str) -> Seen:
    return Seen(Status.DOWN, None, cause, detail, "SERVICE_DOWN")


def _unanswered(program: str, ran: Ran) -> Seen:
    """The program that knows cannot be asked: that says nothing about the service."""
    said = ran.problem or ending(" ".join(ran.output.split()), _SAID) or f"exit status {ran.exit_code}"
    return Seen(Status.UNKNOWN, None, "Argus could not ask", f"{program}: {said}")
