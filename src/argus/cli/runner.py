"""Runs agents in this terminal, one generation after the other, as the daemon decides."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from dataclasses import dataclass
from typing import Any

from argus.cli.companion import RETRY, Companion, report_end, tell
from argus.cli.render import clean
from argus.host import shim
from argus.host.identity import Identity, is_alive
from argus.host.launching import NONCE
from argus.host.programs import problem
from argus.host.runfolder import RunFolder
from argus.host.terminal import PASSED_ON, Job, Terminal, next_signal, signals_held

_TICK = 0.5
_BEGINS = 0.01
_GRACE = 30.0
"""Seconds to end after being asked, before it is killed."""
_HANGUP = 5.0
"""Seconds for an agent to end after its terminal was closed. One that goes on is the daemon's."""
_PATIENCE = 60.0
"""Seconds without any daemon after which nobody is waited for."""
_NOT_STARTED = 127
_UNKNOWN = 1


FINISHED = "finished"


@dataclass(frozen=True)
class End:
    exit_status: int
    left_by: int = 0
    """The signal that told the launcher to go."""
    is_known: bool = True
    failure: str = ""

    @property
    def how(self) -> str:
        if self.failure or not self.is_known:
            return self.failure or "has ended, or goes on without this terminal"
        return FINISHED if self.exit_status == 0 else f"ended with exit status {self.exit_status}"


def run(launch: dict[str, Any]) -> int:
    """Runs what the daemon registered, and what follows it. Returns the exit status of the last one."""
    # Whoever was started in the background of a script ignores it; in a terminal Ctrl-C is meant for us.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    terminal = Terminal()
    while True:
        id = str(launch["agent"]["agent_id"])
        try:
            end = _Generation(id, launch, terminal).run()
            report_end(id, exit_status=end.exit_status if end.is_known else None, failure=end.failure)
            if end.left_by:
                say(f"{id} {end.how}; what follows is up to the daemon: argus agents list")
            if end.left_by or end.how == FINISHED:
                return end.exit_status
            following = _following(id, end.how)
        except KeyboardInterrupt:
            # Ctrl-C while the terminal was ours and not the agent's: whoever sits there wants no other.
            tell(f"/api/agents/{id}/stop", {})
            say(f"{id} was stopped")
            return 128 + signal.SIGINT
        if following is None:
            return end.exit_status
        say(f"{id} {end.how}; it goes on as {following['agent']['agent_id']}")
        launch = following


def say(text: str) -> None:
    with contextlib.suppress(OSError):  # the terminal may be gone; the journal has it all
        sys.stderr.write(f"argus: {clean(text)}\n")
        sys.stderr.flush()


class _Generation:
    """One agent, from its start to its end."""

    def __init__(self, id: str, launch: dict[str, Any], terminal: Terminal) -> None:
        self._id = id
        self._start = launch["start"]
        self._interval = float(launch["interval"])
        self._terminal = terminal
        self._folder = RunFolder(str(self._start["folder"]))
        self._companion: Companion | None = None
        self._agent: Identity | None = None
        self._left_by = 0
        self._leave_at = self._kill_at = float("inf")

    def run(self) -> End:
        start = self._start
        added = {**start["env"], NONCE: start["nonce"]}
        env = {**os.environ, **added}
        wrong = problem(start["argv"], start["cwd"], env, start["env"])
        if wrong:
            return End(_NOT_STARTED, failure=f"could not be started: {wrong}", is_known=False)
        before = shim.command(
            folder=start["folder"],
            attempt=int(start["attempt"]),
            umask=_umask(),
            cwd=start["cwd"],
            nonce=start["nonce"],
        )
        with signals_held():
            job = Job((*before, *start["argv"]), env, self._terminal)
            try:
                while self._goes_on(job):
                    self._attend(job)
                    self._take(next_signal(_TICK if self._agent else _BEGINS), job)
            finally:
                if self._companion is not None:
                    self._companion.end()
            end = self._end()
            if end.exit_status > 128 or not end.is_known:
                job.restore_modes()
            return end

    def _goes_on(self, job: Job) -> bool:
        if time.monotonic() > self._leave_at:
            return False
        # Also when its shim was killed: nobody will say how it ended, but it is still there.
        return job.goes_on() or (self._agent is not None and is_alive(self._agent))

    def _attend(self, job: Job) -> None:
        if self._agent is None:
            began = None
            with contextlib.suppress(OSError):  # an agent that spoilt its own note is the daemon's alone
                began = self._folder.began()
            if began is not None and began.running.shim.pid == job.pid:
                self._agent = began.running.agent
                self._companion = Companion(self._id, self._agent, self._interval)
                self._companion.start()
        if self._agent is None or self._companion is None:
            return
        job.attend(self._agent)
        if self._companion.stop and self._kill_at == float("inf"):
            say(f"{self._id} is to end: {self._companion.stop}")
            self._kill_at = time.monotonic() + _GRACE
            self._ask_to_end(job, signal.SIGTERM)
        elif time.monotonic() > self._kill_at:
            self._ask_to_end(job, signal.SIGKILL)

    def _ask_to_end(self, job: Job, number: int) -> None:
        job.signal(number, self._agent)
        job.signal(signal.SIGCONT, self._agent)  # one that is stopped would hear of it only later

    def _take(self, number: int, job: Job) -> None:
        if number not in PASSED_ON:
            return
        self._ask_to_end(job, number)
        if number != signal.SIGINT:
            self._left_by = number
        if number == signal.SIGHUP:
            self._leave_at = time.monotonic() + _HANGUP

    def _end(self) -> End:
        try:
            began = self._folder.began()
        except OSError:
            return End(_UNKNOWN, self._left_by, False)
        if began is None:
            return End(_NOT_STARTED, self._left_by, False, "could not be started: Argus did not wait for it any longer")
        status = self._folder.exit_status(began.running.shim)
        if status is not None:
            return End(status, self._left_by)
        if self._left_by and self._agent is not None and is_alive(self._agent):
            return End(128 + self._left_by, self._left_by, False)
        return End(_UNKNOWN, self._left_by, False)


def _following(id: str, how: str) -> dict[str, Any] | None:
    """What the daemon wants to run here next; None when nothing follows, which is said."""
    told, patience = "", time.monotonic() + _PATIENCE
    while True:
        status, answer = tell(f"/api/agents/{id}/next", {"pid": os.getpid()})
        if status == 200:
            patience = time.monotonic() + _PATIENCE
            if answer["launch"] is not None:
                launch: dict[str, Any] = answer["launch"]
                return launch
            if answer["over"]:
                say(f"{id} {how}; nothing follows here: {answer['over']}")
                return None
            waits_for = str(answer["waits_for"])
        else:
            waits_for = "no daemon answers"
            if time.monotonic() > patience:
                say(f"{id} {how}; {waits_for}, and what follows is up to the next one")
                return None
            time.sleep(RETRY)
        if waits_for and waits_for != told:
            told = waits_for
            say(f"{id} {how}; waiting: {waits_for} (Ctrl-C: nothing follows)")


def _umask() -> int:
    mask = os.umask(0o077)  # it can only be asked by setting it
    os.umask(mask)
    return mask
