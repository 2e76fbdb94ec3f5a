"""The guardian of one container: one thing at a time, decided on what is seen now, on record before it is done.

Whatever wakes it (an event, a sweep, a health check, the end of a wait), it looks at the container and judges anew. So
nothing depends on an event that was missed, and a wait that is interrupted goes on where it was.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace

from argus.core.backoff import HEALTHY_AGAIN
from argus.core.cutting import beginning
from argus.core.errors import ArgusError, Code
from argus.core.failpoints import GuardPlace, reach
from argus.environments.blueprint import Part
from argus.environments.guarding import reports
from argus.environments.guarding.model import Attempt, Charge, State
from argus.environments.guarding.policy import (
    Failed,
    Fallen,
    Finding,
    GiveUp,
    Left,
    Report,
    Restart,
    Well,
    decide,
    is_loop,
    judge,
)
from argus.environments.guarding.post import Post
from argus.environments.guarding.signs import Signs, hear
from argus.host.engine import refusals
from argus.host.engine.resources import Happening, Made
from argus.host.engine.seam import EngineRefused
from argus.store.records import CloseAct, OpenAct, Write

_START = 60.0
_RESTART = 120.0
"""Seconds, of which it may take many to end."""
_LATEST = 5.0
"""Seconds after a look in which it may be acted on."""
_LIVE = 2.0
"""Seconds in which an event is told that happens now, and not told again."""
_ROUNDED = 1.0
"""Seconds by which the times of an engine's events may be rounded."""
_CASE = 60.0
"""Seconds that a restart waits for the test case that is running, where the container still answers."""
_DEPENDED = 60.0
_BETTER = 5.0
"""Seconds for those that it may call while it starts. A relay answers in a moment, or something is wrong with it."""
_PROBLEM = 500
"""Characters of what went wrong with an attempt."""
_AWAY = (Code.DOCKER_UNAVAILABLE, Code.CIRCUIT_OPEN)
_SETTLED = (State.LEFT, State.FAILED, State.EXHAUSTED)
_WAKING = ("start", "kill", "die", "stop", "destroy", "pause", "unpause")


class Ward:
    def __init__(self, part: Part, charge: Charge, post: Post) -> None:
        self.part = part
        self.charge = charge
        self.signs = Signs()
        self.made: Made | None = None
        """As it was last seen."""
        self.lives = 0
        """How often it was heard or made to start: what was asked of it before says nothing about it now."""
        self.ailing = ""
        """What its health check in the file said so often that it counts."""
        self.answers = False
        """Whether it does answer, if not well."""
        self.trouble: ArgusError | None = None
        """Why nothing can be done just now."""
        self.is_well = asyncio.Event()
        self._post = post
        self._news = asyncio.Event()
        self._refusal: ArgusError | None = None
        """What the engine said to the last start."""
        self.ran: float | None = None
        """When it was last seen running, by the monotonic clock."""
        self._well_since: float | None = None
        self._well_until = 0.0
        """When it was last known to be well: what nobody could look at since does not count as health."""
        self._looked = 0.0
        self._known = self.signs
        """What had been heard before it was looked at."""
        self._words: list[str] | None = None
        self._is_holding = False
        self._decided: float | None = None
        self._due: tuple[str, float] | None = None
        """Of which failure, and when the next start is, by the monotonic clock: the other one may be set."""

    def hear(self, told: Happening, stream: int) -> None:
        self.signs = hear(self.signs, told, stream)
        clock = self._post.tools.clock
        if self.is_well.is_set() and abs(clock.wall() - told.at) < _LIVE:
            self._well_until = clock.monotonic()
        if told.action == "start":
            self._refusal = None
            self._lives_anew()
        if told.action in ("die", "health_status: unhealthy"):
            self.is_well.clear()  # also where it is well again before it is looked at
        if told.action == "die":
            self._foresee(told)
        if told.action in _WAKING or told.action.startswith("health_status"):
            self._news.set()

    def _foresee(self, told: Happening) -> None:
        """By what is told of its end, before the engine can be asked about it: it is busy with that end for a while.
        Where it will be started again, no test case begins from now on; what is seen then has the last word."""
        if self.made is None or self.charge.state is not State.WELL or not self._post.is_up():
            return
        ended = replace(
            self.made, state="exited", exit_code=told.exit_code or 0, oom_killed=self.signs.ran_out, finished=told.at
        )
        is_failed = isinstance(judge(ended, self.signs), Failed)
        if is_failed and isinstance(decide(self.charge.spent, self._post.order.settings), Restart):
            self._hold()
            self._decided = self._post.tools.clock.wall()

    def ail(self, what: str, *, answers: bool) -> None:
        self.ailing, self.answers = what, answers
        self._news.set()

    def recover(self) -> None:
        self.ailing = ""
        self._news.set()

    def see(self, made: Made | None) -> None:
        """In a look at all of them. Most often it is as it was."""
        is_fine = made is not None and made.state == "running" and made.health != "unhealthy"
        self._see_running(made)
        if is_fine and self.charge.state is State.WELL and not self.ailing:
            self.made, self.trouble = made, None
            self._is_up_again()
            return
        if made is None or made.state != "running":
            self.is_well.clear()  # before another that depends on it looks
            if self.charge.state is State.WELL and self._post.is_up():
                self._hold()  # until it is judged: a test case that begins now would find nobody
        self._news.set()

    def _lives_anew(self) -> None:
        self.lives += 1
        self.ailing = ""
        self.ran = self._post.tools.clock.monotonic()

    def _see_running(self, made: Made | None) -> None:
        if made is not None and made.state == "running":
            self.ran = self._post.tools.clock.monotonic()

    def _is_up_again(self) -> None:
        self._well_until = self._post.tools.clock.monotonic()
        if not self.is_well.is_set():
            self._well_since = self._well_until
            self.is_well.set()

    async def run(self) -> None:
        try:
            while True:
                await self._news.wait()
                self._news.clear()
                try:
                    await self._step()
                except (ArgusError, EngineRefused) as error:
                    # Looked at again when the engine is back, or by the next sweep.
                    self.trouble = refusals.in_words(error)
        finally:
            self._let_go()

    async def _step(self) -> None:
        if not self._post.is_up():
            return
        has_died = self.signs.died is not None and self.charge.state is State.WELL
        heard = self.signs
        made, self._words = await self._post.look(self.charge.id, has_died)
        was_down = self.made is not None and self.made.state != "running"
        if was_down and made is not None and made.state == "running" and self.signs is self._known:
            heard = self.signs = Signs()  # its start was missed: what was heard before is of its earlier life
            self._lives_anew()
        if made is not None and made.state == "exited" and self._is_earlier(made):
            heard = self.signs = Signs()  # of this end nothing was told yet
        self.made = made
        self._see_running(made)
        self._looked = self._post.tools.clock.monotonic()
        self.trouble = None
        if self.part.health is None and made is not None and made.health == "healthy":
            self.ailing = ""  # nobody else asks it
        if self.signs.asked is not None and self.signs.died is None:
            asked = replace(self.signs, is_asked_by_somebody=True)
            heard, self.signs = (asked if heard is self.signs else heard), asked
        self._known = heard
        if self.charge.act and await self._take_up(made):
            return
        key = _key(made)
        finding = self._judge(made)
        if isinstance(finding, Well):
            await self._well()
        elif self.is_settled(made):
            return  # judged before, and told
        elif isinstance(finding, Left):
            await self._leave(finding, key)
        elif made is not None and isinstance(finding, Fallen):
            await self._raise_again(made, key)
        elif made is not None and isinstance(finding, Failed):
            await self._mend(made, finding, key)

    def _is_earlier(self, made: Made) -> bool:
        """Whether the end that was told is one before this: an engine that tells late may not have told of its start
        since. None is told before it is over."""
        died = self.signs.died
        return died is not None and made.finished is not None and died < made.finished - _ROUNDED

    def _judge(self, made: Made | None) -> Finding:
        if made is not None and made.state != "running" and self._refusal is not None:
            return Failed(
                self._refusal.code, self._post.tools.clean(f"it could not be started: {self._refusal.message}")
            )
        fell = made is not None and self._post.fell(self, made)
        return judge(made, self.signs, ailing=self.ailing, has_check=self.part.health is not None, fell=fell)

    def is_settled(self, made: Made | None) -> bool:
        """Whether it was judged, as it is now, and nothing more will be done about it."""
        return self.charge.state in _SETTLED and self.charge.key == _key(made)

    def is_being_mended(self, made: Made) -> bool:
        """Whether an attempt is under way at this very failure."""
        return self.charge.under_way is not None and self.charge.key == _key(made)

    # Nothing to do.

    async def _well(self) -> None:
        if self.charge.under_way is not None:
            await self._settle("not_needed")
        elif self.charge.state is not State.WELL:
            await self._become(
                replace(
                    self.charge, state=State.WELL, why="", code="", key="", last=None, is_loop=False, trouble=None
                ).forgiven()
            )
        self._is_up_again()
        self._let_go()

    async def _leave(self, left: Left, key: str) -> None:
        self._is_down()
        if self.charge.under_way is not None:
            await self._settle("removed" if key == _GONE else "stopped")
        charge = replace(self.charge, state=State.LEFT, why=left.why, code="", key=key, trouble=None)
        await self._post.note(charge, self._post.event("container_left_alone", charge, {"reason": left.why}))
        self._let_go()

    # Failures.

    async def _mend(self, made: Made, failed: Failed, key: str) -> None:
        lasted = self._is_down()
        attempt = self.charge.under_way if key == self.charge.key else None
        if attempt is None:
            attempt = await self._plan(made, failed, key, was_well=lasted >= HEALTHY_AGAIN)
        if attempt is None:
            return
        if not failed.is_running:
            self._hold()
        if not self.charge.act:
            left = self._left(attempt)
            if left > 0:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(left):
                        await self._news.wait()
                self._news.set()  # whatever ended the wait: it is looked at again before anything is done
                return
        if failed.is_running and self.answers:
            async with self._post.turnstile.closed(_CASE):
                await self._act(attempt, made, is_running=True)
        else:
            self._hold()
            await self._act(attempt, made, is_running=failed.is_running)

    def _left(self, attempt: Attempt) -> float:
        """Seconds until its time has come."""
        clock, key = self._post.tools.clock, self.charge.key
        if self._due is None or self._due[0] != key:
            # An earlier Argus planned it.
            self._due = key, clock.monotonic() + min(attempt.delay, self.charge.due - clock.wall())
        return self._due[1] - clock.monotonic()

    async def _plan(self, made: Made, failed: Failed, key: str, *, was_well: bool) -> Attempt | None:
        """Recorded, with what was seen, before anything is done. None: nothing will be."""
        post, charge = self._post, self.charge
        if failed.is_running and not self.ailing:
            self.answers = await post.answers(self.part, made)
        found = await post.diagnoser.look(made, self._words)
        spent = 0 if was_well else charge.spent
        decision = decide(spent, post.order.settings)
        trouble = post.troubled(charge, failed.reason)
        after = replace(charge, key=key, spent=spent, code=failed.code.value, why=failed.reason, trouble=trouble)
        if isinstance(decision, Report):
            charge = replace(after, state=State.FAILED, last=found)
            await self._give_up(charge, "container_failed")
            return None
        if isinstance(decision, GiveUp):
            looped = is_loop(after.counted, found)
            charge = replace(after, state=State.EXHAUSTED, last=found, is_loop=looped)
            await self._give_up(charge, "restart_exhausted")
            return None
        clock = post.tools.clock
        now = clock.wall()
        self._due = key, clock.monotonic() + decision.delay
        attempt = Attempt(
            *(decision.attempt, decision.delay, failed.code.value, failed.reason, now, found), incident=trouble.incident
        )
        charge = after.with_attempt(attempt, state=State.WAITING, spent=decision.attempt, due=now + decision.delay)
        said = reports.attempt(charge, attempt, post.order.settings, self.signs.died, self._decided or now)
        writes = [post.event("restart_attempt", charge, said)]
        self._decided = None
        if not attempt.delay and not (failed.is_running and self.answers):
            # Nothing is waited for: the intent goes with it.
            await self._intend(charge, attempt, *writes)
        else:
            await post.intend(charge, *writes)
        reach(GuardPlace.PLANNED)
        return attempt

    async def _give_up(self, charge: Charge, event: str) -> None:
        await self._post.intend(charge, self._post.event(event, charge, reports.given_up(charge)))
        self._let_go()

    async def _raise_again(self, made: Made, key: str) -> None:
        """It fell with its engine. Those that it depends on come first; nothing is counted."""
        self._is_down()
        self._hold()
        before = self.charge.spent if self.charge.before is None else self.charge.before
        self.charge = replace(self.charge, state=State.WAITING, why="it ended with its engine", key=key, before=before)
        await self._post.until_well(self.part.depends_on, _DEPENDED)
        await self._post.until_well(self.part.starts_after, _BETTER)
        self._looked = self._post.tools.clock.monotonic()
        await self._act(None, made, is_running=False)

    # Acting.

    async def _intend(self, charge: Charge, attempt: Attempt | None, *writes: Write) -> None:
        post = self._post
        charge = replace(charge, state=State.STARTING, act=post.tools.new_id(), due=0.0)
        intent = {"attempt": attempt.number, "code": attempt.code} if attempt else {"attempt": 0, "code": ""}
        act = post.act(charge, intent)
        ordered = [post.event("restart_ordered", charge, {"act": act.id, "attempt": attempt.number})] if attempt else []
        await post.intend(charge, OpenAct(act), *writes, *ordered)

    async def _act(self, attempt: Attempt | None, made: Made, *, is_running: bool) -> None:
        post = self._post
        if not self.charge.act:
            await self._intend(self.charge, attempt)
        reach(GuardPlace.INTENDED)
        age = post.tools.clock.monotonic() - self._looked
        # Heard of since: somebody may have stopped it, or it is well. It is looked at again before anything is done.
        is_other = self.signs is not self._known
        if not post.is_up() or is_other or age > _LATEST + (_CASE if is_running else 0):
            await self._withdraw()
            return
        self._refusal = None
        try:
            if is_running:
                await post.dock.restart(made.id, timeout=_RESTART)
            else:
                await post.dock.start(made.id, timeout=_START)
        except (ArgusError, EngineRefused) as error:
            said = refusals.in_words(error)
            if said.code in _AWAY:
                raise  # what became of it is seen when the engine is back
            await self._refused(said)
            return
        self._lives_anew()
        reach(GuardPlace.STARTED)
        await self._verify()

    async def _verify(self) -> None:
        try:
            self.made = await self._post.waiter.until_ready(self.part, self.charge.id)
        except ArgusError as error:
            if error.code in _AWAY:
                raise
            outcome = _OUTCOMES.get(error.code, "crashed")
            if outcome == "crashed" and self.signs.is_on_purpose:
                outcome = "stopped"
            if outcome == "not_ready":
                self.ail(str(error.details.get("lastResult") or error.message), answers=False)
            await self._settle(outcome, error.message)
            self._news.set()
            return
        reach(GuardPlace.READY)
        await self._settle("recovered")
        await self._well()

    async def _refused(self, error: ArgusError) -> None:
        if error.code is not Code.CONTAINER_NOT_FOUND:
            self._refusal = error
            self._post.tell_conflict(self.part, error)
        await self._settle("refused", error.message)
        self._news.set()

    async def _take_up(self, made: Made | None) -> bool:
        """An act of which nobody knows what became: the engine went away, or an earlier Argus did. Whether there is
        nothing more to judge."""
        if made is None:
            await self._settle("removed")
            return False
        if _key(made) != self.charge.key:  # it was started since
            if made.state != "running":
                await self._settle("crashed")
                return False
            self._hold()
            await self._verify()
            return True
        attempt = self.charge.under_way
        if attempt is not None and made.state == "running":
            # An engine ends a container in its time: the order may still be carried out, and counts.
            await self._settle("interrupted")
            return False
        await self._withdraw()
        if attempt is None:
            await self._raise_again(made, _key(made))
            return True
        return False

    async def _withdraw(self) -> None:
        """The intent was not carried out. What made it necessary is judged again."""
        charge = replace(self.charge, state=State.WAITING, act="")
        await self._post.note(charge, *self._closing("interrupted", ""))
        self._news.set()

    async def _settle(self, outcome: str, problem: str = "") -> None:
        """What came of the attempt under way, or of a start after the engine's own."""
        post, charge, attempt = self._post, self.charge, self.charge.under_way
        problem = beginning(post.tools.clean(problem), _PROBLEM)
        writes: list[Write] = [*self._closing(outcome, problem)]
        is_over = outcome in ("recovered", "not_needed")
        if attempt is not None:
            seconds = max(0.0, post.tools.clock.wall() - attempt.at)
            attempt = replace(attempt, outcome=outcome, seconds=seconds, problem=problem)
            charge = charge.with_attempt(attempt)
            if outcome == "not_needed":
                charge = replace(charge, spent=max(0, charge.spent - 1))
            if outcome == "recovered":
                writes.append(post.event("restart_success", charge, reports.success(attempt)))
        state = State.WELL if is_over else State.WAITING
        charge = replace(charge, state=state, key="", act="", due=0.0)
        if is_over:
            charge = replace(charge, why="", code="", trouble=None).forgiven()
        await post.note(charge, *writes)

    def _closing(self, outcome: str, problem: str) -> list[CloseAct]:
        detail = {"problem": problem} if problem else {}
        wall = self._post.tools.clock.wall()
        return [CloseAct(self.charge.act, outcome, wall, detail)] if self.charge.act else []

    async def _become(self, charge: Charge) -> None:
        await self._post.note(charge)

    def _is_down(self) -> float:
        """How many seconds it was well before."""
        self.is_well.clear()
        since, self._well_since = self._well_since, None
        return 0.0 if since is None else self._well_until - since

    # While it is down no new test case begins.

    def _hold(self) -> None:
        if not self._is_holding:
            self._is_holding = True
            self._post.turnstile.close()

    def _let_go(self) -> None:
        if self._is_holding:
            self._is_holding = False
            self._post.turnstile.open()


_OUTCOMES = {Code.CONTAINER_NOT_FOUND: "removed", Code.HEALTH_CHECK_TIMEOUT: "not_ready"}
_GONE = "gone"


def _key(made: Made | None) -> str:
    """Names a failure: the same one is not counted twice."""
    if made is None:
        return _GONE
    if made.state == "running":
        return f"ill:{made.id[:12]}:{made.started}"
    return f"{made.id[:12]}:{made.finished}"
