"""A job of launchd, in the user's own domain. By macOS's documents: no test of ours runs on a Mac."""

from __future__ import annotations

import os
import plistlib
import re
from collections.abc import Mapping

from argus import home
from argus.cli.installing import files
from argus.cli.installing.manager import STARTING, Ran, Standing, ask
from argus.cli.installing.plan import Plan

LABEL = "argusd"


def render(plan: Plan) -> str:
    log = str(plan.home / "logs" / "argus.err")
    made = plistlib.dumps(
        {
            "Label": LABEL,
            "ProgramArguments": list(plan.command),
            "EnvironmentVariables": plan.environment,
            "WorkingDirectory": "/",
            "RunAtLoad": True,
            # An end that was asked for stays one, as with systemd.
            "KeepAlive": {"SuccessfulExit": False},
            # What Argus started outlives it.
            "AbandonProcessGroup": True,
            "StandardErrorPath": log,
            "Umask": 0o077,
        },
        sort_keys=False,
    ).decode()
    head, newline, rest = made.partition("\n")
    return f"{head}{newline}<!-- {files.mark(made)} -->\n{rest}"


class Launchd:
    def __init__(self, environ: Mapping[str, str]) -> None:
        self.name = "launchd"
        self.file = home.of_the_user(environ) / "Library" / "LaunchAgents" / f"{LABEL}.plist"
        self._domain = f"gui/{os.getuid()}"

    def render(self, plan: Plan) -> str:
        return render(plan)

    def prepare(self, plan: Plan) -> None:
        # launchd opens the file of errors itself, before Argus could make its folder.
        for folder in (plan.home, plan.home / "logs"):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def look(self) -> Standing:
        ran = ask(["launchctl", "print", f"{self._domain}/{LABEL}"])
        if not ran.well:
            missing = "Could not find service" in ran.said
            return Standing(state="not loaded") if missing else Standing(reached=ran.said)
        state = re.search(r"^\s*state = (.+)$", ran.said, re.M)
        pid = re.search(r"^\s*pid = (\d+)$", ran.said, re.M)
        found = state[1].strip() if state else "loaded"
        return Standing(enabled=True, active=found == "running", state=found, pid=int(pid[1]) if pid else None)

    def enable(self) -> Ran:
        ask(["launchctl", "bootout", f"{self._domain}/{LABEL}"], patience=STARTING)  # fails where it was not loaded
        return ask(["launchctl", "bootstrap", self._domain, str(self.file)], patience=STARTING)

    def load(self) -> Ran:
        return Ran(True, "")  # loading a job that runs at load would start it; the next login does

    def disable(self) -> Ran:
        return ask(["launchctl", "bootout", f"{self._domain}/{LABEL}"], patience=STARTING)

    def forget(self) -> None:
        pass

    def unlink(self) -> None:
        pass

    def by_hand(self) -> list[str]:
        return [f"launchctl bootstrap {self._domain} {self.file}"]

    def undone_by_hand(self) -> list[str]:
        return [f"launchctl bootout {self._domain}/{LABEL}"]

    def advice(self) -> list[str]:
        return []
