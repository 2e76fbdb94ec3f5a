"""Units in every state that matters, and what `systemctl` says of them: on record, and by a systemd that runs.

The files were written by `python -m tests.recorded_systemd` from real systemds that ran as PID 1, in the way of
tests/systemd_machine.py. The table says how each unit came into its state, and what Argus has to make of it.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from argus.host.seam import Ran
from argus.services.model import Status
from tests.systemd_machine import Machine

FOLDER = Path(__file__).parent
SHOWN = "ActiveState,SubState,LoadState,MainPID,Result"
_RUNS = "ExecStart=/bin/sleep infinity"
_LIMIT = 60.0


@dataclass(frozen=True)
class Case:
    name: str
    unit: str
    status: Status
    detail: str
    """What Argus says; a PID is left out."""
    file: tuple[str, ...] = (_RUNS,)
    """The lines of its service section; empty: there is no file."""
    steps: tuple[str, ...] = ()
    """Words for systemctl, or: kill, remove (the file)."""
    until: str = ""
    """The SubState that it comes to."""
    restarts: bool | None = True
    """Whether `systemctl restart` ends well; None: it would not end, or take others with it."""
    head: tuple[str, ...] = ()
    """Lines of the unit section."""
    template: str = ""
    """The name of the file, where it is not the unit's."""


_UP, _DOWN, _PENDING, _UNKNOWN = Status.UP, Status.DOWN, Status.PENDING, Status.UNKNOWN
_START = ("start",)

CASES = (
    Case("runs", "runs.service", _UP, "active (running)", steps=_START),
    Case("never-started", "never.service", _DOWN, "inactive (dead)"),
    Case("stopped", "stopped.service", _DOWN, "inactive (dead)", steps=("start", "stop")),
    Case("killed", "killed.service", _DOWN, "failed (failed), signal", steps=("start", "kill"), until="failed"),
    Case(
        "ends-at-once", "ends.service", _DOWN, "failed (failed), exit-code", ("ExecStart=/bin/false",), _START, "failed"
    ),
    Case(
        "no-such-program", "program.service", _DOWN, "failed (failed), exit-code",
        ("Type=exec", "ExecStart=/no/such/program"), ("start?",), "failed", restarts=False,
    ),
    Case(
        "cannot-start", "start.service", _DOWN, "failed (failed), exit-code",
        ("Type=oneshot", "ExecStart=/bin/false"), ("start?",), "failed", restarts=False,
    ),
    Case(
        "not-ready-in-time", "ready.service", _DOWN, "failed (failed), timeout",
        ("Type=notify", "TimeoutStartSec=200ms", _RUNS), ("start?",), "failed", restarts=False,
    ),
    Case(
        "starting", "starting.service", _PENDING, "activating (start)",
        ("Type=notify", "TimeoutStartSec=infinity", _RUNS), ("start --no-block",), "start", restarts=None,
    ),
    Case(
        "stopping", "stopping.service", _DOWN, "deactivating (stop)",
        (_RUNS, "ExecStop=/bin/sleep infinity", "TimeoutStopSec=infinity"), ("start", "stop --no-block"), "stop",
        restarts=None,
    ),
    Case(
        "crashing-again-and-again", "crashing.service", _DOWN, "activating (auto-restart), exit-code",
        ("ExecStart=/bin/false", "Restart=always", "RestartSec=1h"), _START, "auto-restart",
    ),
    Case(
        "a-oneshot-that-is-done", "done.service", _UP, "active (exited)",
        ("Type=oneshot", "RemainAfterExit=yes", "ExecStart=/bin/true"), _START,
    ),
    Case("an-instance", "worker@1.service", _UP, "active (running)", steps=_START, template="worker@.service"),
    Case(
        "an-instance-with-spaces", r"worker@a\x20b-c.service", _UP, "active (running)", steps=_START,
        template="worker@.service",
    ),
    Case("a-name-with-spaces", r"my\x20own\x20unit.service", _UP, "active (running)", steps=_START),
    Case("without-its-suffix", "suffix", _UP, "active (running)", steps=_START, template="suffix.service"),
    Case("unknown", "unknown.service", _DOWN, "systemd says not-found", (), restarts=False),
    Case("masked", "masked.service", _DOWN, "systemd says masked", (), ("mask",), restarts=False),
    Case(
        "masked-while-it-runs", "masked-late.service", _UP, "active (running), masked",
        steps=("start", "remove", "mask"), restarts=False,
    ),
    Case(
        "removed-while-it-runs", "removed.service", _UP, "active (running), not-found", steps=("start", "remove"),
        restarts=False,
    ),
    Case(
        "a-file-with-a-mistake", "mistake.service", _DOWN, "systemd says bad-setting", ("Restart=no",), restarts=False
    ),
    Case(
        "a-condition-that-is-not-met", "condition.service", _DOWN, "inactive (dead)", steps=_START,
        head=("ConditionPathExists=/no/where",),
    ),
    Case(
        "not-to-be-started-by-hand", "hands-off.service", _DOWN, "inactive (dead)", head=("RefuseManualStart=yes",),
        restarts=False,
    ),
    Case(
        "what-it-requires-is-unknown", "requires.service", _DOWN, "inactive (dead)", head=("Requires=unknown.service",),
        restarts=False,
    ),
    Case("a-template", "worker@.service", _UNKNOWN, "systemctl: Failed to get properties", restarts=False),
    Case("a-socket", "dbus.socket", _UP, "active (running)", (), restarts=None),
    Case("a-target", "basic.target", _UP, "active (active)", (), restarts=None),
)  # fmt: skip


def bring_about(machine: Machine, case: Case) -> None:
    """The unit, in its state."""
    if case.file:
        head = ["[Unit]", *case.head] if case.head else []
        machine.write(case.template or case.unit, *head, "[Service]", *case.file)
    for step in case.steps:
        if step == "kill":
            machine.kill(case.unit)
        elif step == "remove":
            machine.remove(case.unit)
        elif step.endswith("?"):  # it may fail
            machine.run("systemctl", step.removesuffix("?"), "--", case.unit)
        else:
            machine.do("systemctl", *step.split(), "--", case.unit)
    until = time.monotonic() + _LIMIT
    while case.until and (now := machine.show(case.unit, "SubState")) != case.until:
        assert time.monotonic() < until, f"{case.unit} is {now}"
        time.sleep(0.02)


def record(machine: Machine) -> dict[str, dict[str, Ran]]:
    """What this systemd says of every case, before its restart and to it."""
    said: dict[str, dict[str, Ran]] = {}
    for case in CASES:
        bring_about(machine, case)
        questions = {"show": ["show", f"--property={SHOWN}"], "restart": ["--no-ask-password", "restart"]}
        if case.restarts is None:
            del questions["restart"]
        said[case.name] = {one: machine.said("systemctl", *words, "--", case.unit) for one, words in questions.items()}
    return said


def recorded() -> dict[str, dict[str, dict[str, Ran]]]:
    """By the version of systemd, by case: what was said to `show` and to `restart`."""
    files: dict[str, Any] = {one.stem: yaml.safe_load(one.read_text()) for one in sorted(FOLDER.glob("*.yaml"))}
    return {
        version: {
            case: {
                question: Ran(one["exit"], "".join(f"{line}\n" for line in one["said"]), 0.0)
                for question, one in both.items()
            }
            for case, both in cases.items()
        }
        for version, cases in files.items()
    }


def without_pid(text: str) -> str:
    return re.sub(r", PID [1-9]\d*$", "", text)
