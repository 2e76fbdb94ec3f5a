"""A unit of systemd: of the user's own manager, or of the system."""

from __future__ import annotations

import contextlib
import os
import pwd
from collections.abc import Mapping
from pathlib import Path

from argus import home
from argus.cli.installing import files
from argus.cli.installing.manager import STARTING, Ran, Standing, ask
from argus.cli.installing.plan import Plan

UNIT = "argus.service"
_SHOWN = "LoadState,ActiveState,SubState,MainPID,UnitFileState"

# on-failure: `argus down` is an end that was asked for, and what a person stopped stays stopped. 2 is a configuration
# that cannot be read, or another Argus on the state folder, which no new start mends. process: what Argus started
# outlives it, with a stop as with a crash; and an agent that takes too much memory is the agent's end, not ours.
_UNIT = """\
[Unit]
Description=Argus, which watches the machine that AI agents work on
StartLimitIntervalSec=0
{after}
[Service]
Type=notify
{whose}WorkingDirectory=/
{environment}
ExecStart={command}
ExecReload=/bin/kill -HUP $MAINPID
Restart=on-failure
RestartSec=2
RestartPreventExitStatus=2
KillMode=process
OOMPolicy=continue
TasksMax=infinity
TimeoutStopSec=30

[Install]
WantedBy={target}
"""


def render(plan: Plan, *, system: bool) -> str:
    text = _UNIT.format(
        after="After=network.target\n" if system else "",
        whose=f"User={_name()}\n" if system else "",
        environment="\n".join(f"Environment={_quoted(f'{name}={text}')}" for name, text in plan.environment.items()),
        command=" ".join(_quoted(word, command=True) for word in plan.command),
        target="multi-user.target" if system else "default.target",
    )
    return f"# {files.mark(text)}\n{text}"


def _quoted(text: str, *, command: bool = False) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped.replace("$", "$$") if command else escaped}"'


def _name() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


class Systemd:
    def __init__(self, environ: Mapping[str, str], *, system: bool) -> None:
        self.name = "systemd"
        self._system = system
        self._environ = environ
        # Not $XDG_CONFIG_HOME: a shell's profile sets that, and the manager was started before any shell.
        folder = Path("/etc/systemd/system") if system else home.of_the_user(environ) / ".config" / "systemd" / "user"
        self.file = folder / UNIT

    def render(self, plan: Plan) -> str:
        return render(plan, system=self._system)

    def prepare(self, plan: Plan) -> None:
        pass

    def look(self) -> Standing:
        ran = self._ask("show", f"--property={_SHOWN}", "--", UNIT)
        if not ran.well:
            return Standing(reached=ran.said or "systemctl fails")
        said = dict(line.split("=", 1) for line in ran.said.splitlines() if "=" in line)
        if "ActiveState" not in said:
            return Standing(reached=ran.said)
        pid = int(said.get("MainPID") or 0)
        return Standing(
            enabled=said.get("UnitFileState") == "enabled",
            active=said["ActiveState"] in ("active", "reloading"),
            state=f"{said['ActiveState']} ({said.get('SubState', '')})",
            pid=pid or None,
        )

    def enable(self) -> Ran:
        loaded = self.load()
        return self._ask("restart", "--", UNIT, patience=STARTING) if loaded.well else loaded

    def load(self) -> Ran:
        read = self._ask("daemon-reload")
        return self._ask("enable", "--", UNIT) if read.well else read

    def disable(self) -> Ran:
        return self._ask("disable", "--now", "--", UNIT, patience=STARTING)

    def forget(self) -> None:
        self._ask("daemon-reload")
        self._ask("reset-failed", "--", UNIT)  # fails where it had not failed

    def unlink(self) -> None:
        """What `systemctl enable` made; without the file it would no longer take that back."""
        for folder in self.file.parent.glob("*.wants"):
            with contextlib.suppress(OSError):
                if os.path.normpath(folder / os.readlink(folder / UNIT)) == os.path.normpath(self.file):
                    (folder / UNIT).unlink()

    def by_hand(self) -> list[str]:
        return [f"{self._command} daemon-reload", f"{self._command} enable --now {UNIT}"]

    def undone_by_hand(self) -> list[str]:
        return [f"{self._command} stop {UNIT}", f"{self._command} daemon-reload"]

    @property
    def _command(self) -> str:
        return "systemctl" if self._system else "systemctl --user"

    def advice(self) -> list[str]:
        """The user's own manager ends with the last log-out, unless it is told to linger."""
        if self._system or Path("/var/lib/systemd/linger", _name()).exists():
            return []
        return [f"loginctl enable-linger {_name()}    # keeps it running when you are logged out"]

    def _ask(self, *words: str, patience: float = 20.0) -> Ran:
        if self._system:
            return ask(["systemctl", "--no-ask-password", *words], patience=patience)
        # Who was not logged in (cron, ssh without a session) was not told where the user's own manager is.
        told = {"XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"} & self._environ.keys()
        place = [] if told else ["env", f"XDG_RUNTIME_DIR=/run/user/{os.getuid()}"]
        return ask([*place, "systemctl", "--user", *words], patience=patience)
