"""Work that a session gave away, judged by its output file. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from argus.core.clock import Stamp, age
from argus.core.cutting import beginning
from argus.core.units import stretch, written
from argus.typist import inert

LINES = 50
_QUOTED = re.compile(
    r"^\s*([\"'`>|]|(?:PASS|FAIL)(?:ED)?\b(?!:)|ok\b|not ok\b|=== |--- |✓|✗|•|\d+ (passed|failed)|test[_ ]|it\()", re.I
)
"""Lines that cite, and those of test runners: what they name is not what happened to this work."""
_TRACEBACK = re.compile(r"^[A-Za-z_][\w.]*(Error|Exception|Interrupt|Exit)\b(:|$)")
_STARTS = re.compile(r"^\s*(?:\[[^\]]{1,40}\]\s*)?(?:fatal\s+)?(Error:|Failed:|Cannot\b|Exception\b)", re.I)
_NONE = re.compile(r":\s*(?:0|none|\[\])\s*[.,]?\s*$", re.I)
"""`Failed: 0` is good news."""


class Status(StrEnum):
    RUNNING = "running"
    STALLED = "stalled"
    FAILED = "failed"
    ABANDONED = "abandoned"
    COMPLETED = "completed"

    @property
    def goes_on(self) -> bool:
        return self in (Status.RUNNING, Status.STALLED)


@dataclass(frozen=True, slots=True)
class Mark:
    """A file as it was seen: another mark is a change, also when it shrank or was replaced."""

    inode: int
    size: int
    modified: float


@dataclass(frozen=True, slots=True)
class Spawn:
    id: int
    project: str
    task_id: str
    began: Stamp
    changed: Stamp
    """When its output was last seen to change; before that, its start."""
    task_type: str = ""
    description: str = ""
    output_file: str = ""
    status: Status = Status.RUNNING
    reason: str = ""
    mark: Mark | None = None
    exit_code: int | None = None
    error: str = ""
    ended: float | None = None
    is_hint: bool = False
    """Failed by what its output says: more output takes that back."""
    folder: str = ""
    """In which the agent that registered it works; empty: a person did."""


@dataclass(frozen=True, slots=True)
class Output:
    mark: Mark | None
    """None: there is no such file."""
    tail: Sequence[str] = ()
    problem: str = ""
    """Why it cannot be read. Then there is no output, as with a file that is not there."""
    is_passing: bool = False
    """Only just now, as when a disk hangs: then nothing is concluded from it."""


@dataclass(frozen=True, slots=True)
class Limits:
    stalled: float = 900.0
    abandoned: float = 1800.0

    @property
    def resting(self) -> float:
        """Seconds without output before what it last said may mean that it failed. Sooner than it is stalled."""
        return min(60.0, self.stalled / 2)


def judge(spawn: Spawn, output: Output, now: Stamp, limits: Limits) -> Spawn:
    """What is known after one more look. The same value when nothing changed."""
    if not (spawn.status.goes_on or spawn.is_hint):
        return spawn
    if output.is_passing:
        return spawn
    if output.mark is not None and output.mark != spawn.mark:
        moved = replace(spawn, mark=output.mark, changed=_changed(spawn, output.mark, now))
        spawn = _running(moved)
    silence = age(spawn.changed, now)
    sign = failure(output.tail)
    if spawn.is_hint or (sign and silence > limits.resting):
        # Before any silence: why it is silent is known. It failed once, whatever the time it is looked at.
        return spawn if spawn.is_hint else _over(spawn, Status.FAILED, f"its output says: {sign}", now, is_hint=True)
    if silence > limits.abandoned:
        return _over(spawn, Status.ABANDONED, _silent(silence, output), now)
    if silence > limits.stalled:
        is_new = spawn.status is not Status.STALLED
        return replace(spawn, status=Status.STALLED, reason=_silent(silence, output)) if is_new else spawn
    return replace(spawn, reason=_unreadable(output)) if spawn.status is Status.RUNNING else spawn


def is_settled(spawn: Spawn, now: Stamp, limits: Limits) -> bool:
    """Nothing more is expected of its output. One that failed by what it says may go on after all, for a while."""
    return not (spawn.status.goes_on or (spawn.is_hint and age(spawn.changed, now) <= limits.abandoned))


def _silent(silence: float, output: Output) -> str:
    wrong = _unreadable(output) or ("" if output.mark else "there is no output file")
    return f"no output for {stretch(silence)}" + (f"; {wrong}" if wrong else "")


def _unreadable(output: Output) -> str:
    return f"its output cannot be read: {output.problem}" if output.problem else ""


def _changed(spawn: Spawn, mark: Mark, now: Stamp) -> Stamp:
    """At the first look, the file's own time counts, if it is of this work's time."""
    if spawn.mark is not None:
        return now
    ago = max(0.0, now.wall - mark.modified)
    if ago > age(spawn.began, now):
        return spawn.changed
    return Stamp(now.boot_id, now.boot - ago, now.wall - ago)


def _running(spawn: Spawn) -> Spawn:
    return replace(spawn, status=Status.RUNNING, reason="", is_hint=False, ended=None)


def _over(spawn: Spawn, status: Status, reason: str, now: Stamp, *, is_hint: bool = False) -> Spawn:
    return replace(spawn, status=status, reason=reason, ended=now.wall, is_hint=is_hint)


def failure(lines: Sequence[str]) -> str:
    """The line among the last ones that tells of a failure; empty when none does. A hint, no proof."""
    inside = False
    for line in lines[-LINES:]:
        text = line.rstrip()
        if text.startswith("Traceback (most recent call last)"):
            inside = True
            continue
        if inside and _TRACEBACK.match(text):
            return beginning(text.strip(), 200)
        if text and not text[0].isspace():
            inside = inside and text.startswith("Traceback")
        if _STARTS.match(text) and not _QUOTED.match(text) and not _NONE.search(text):
            return beginning(text.strip(), 200)
    return ""


def prompt(spawn: Spawn, limits: Limits) -> str:
    """What the session that gave it away is told, once for each change. What came from outside is quoted as data."""
    name = quoted(spawn.task_id, 100)
    if spawn.status is Status.STALLED:
        long = written(limits.stalled)
        return f"Spawn {name} has not produced output for more than {long}. Investigate and report."
    if spawn.status is Status.FAILED:
        return f"Spawn {name} failed ({quoted(spawn.error or spawn.reason, 200)}). Investigate and report."
    if spawn.status is Status.ABANDONED:
        return f"Spawn {name} has been given up: {spawn.reason}. Decide whether to start it again, and report."
    return ""


def quoted(text: str, limit: int) -> str:
    """On one line, bounded, without what could end the quotes, or what a terminal or an agent's program acts on."""
    plain = "".join(one if one.isprintable() and one not in '"`' else " " for one in text)
    plain = inert(" ".join(plain.split()))
    return f'"{plain}"' if len(plain) <= limit else f'"{beginning(plain, limit - 1)}…"'
