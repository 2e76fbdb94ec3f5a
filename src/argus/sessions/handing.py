"""Carrying a handoff out: every step on record before it is typed, and its outcome after."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace

from argus.core.clock import Stamp, age, stamp
from argus.core.errors import ArgusError, Code
from argus.sessions import handoff as machine
from argus.sessions import reports
from argus.sessions.handoff import CallOff, Facts, Fail, Handoff, Interrupt, Limits, Move, Paper, Step, Type, Wait
from argus.sessions.model import Activity, Source, Standing
from argus.sessions.policy import Why
from argus.sessions.rests import Rests
from argus.sessions.session import Session
from argus.sessions.signals import PROMPTS, Sign
from argus.sessions.tools import Answer, Tools
from argus.sessions.watched import Watched
from argus.store.records import Act, Append, CloseAct, OpenAct, Write
from argus.typist import stands

TYPED = "session_typed"
_CLEAR = {"claude": "/clear", "codex": "/new", "plain": "/clear"}
_STEPS = 6
"""Decisions that one look may lead to: a step that is done is followed at once."""

Put = Callable[..., Awaitable[None]]
"""Keeps a session, with writes beside it: `certain` where nothing may follow without the record."""


class Handing:
    def __init__(self, tools: Tools, put: Put, heard: Callable[[str], Iterable[Sign]]) -> None:
        self._tools = tools
        self._put = put
        self._heard = heard
        self._rests = Rests()

    async def begin(self, session: Session, standing: Standing, why: str, by: str) -> Session:
        now = stamp(self._tools.clock)
        path = await self._tools.files.choose(session.place, now.wall)
        percent = None if session.share is None else round(100 * session.share)
        one = Handoff(
            *(self._tools.new_id(), path, percent, Step.ASKING, now, now),
            conversation=standing.session,
            wanted=why == Why.ASKED,
            left=session.handoff.left if session.handoff else "",
        )
        begun = replace(session, handoff=one, handed=now)
        told = reports.handoff("handoff_started", begun, one, why=why, by=by, context_usage=session.share)
        row = reports.step_row(begun, one, "warning", now.wall, f"handoff begun: {why}")
        await self._put(begun, Append(told), row, certain=True)
        return begun

    async def tidy(self, watched: Watched) -> None:
        """Takes back what an Argus that was killed left at the prompt, of a handoff or a step that has ended since. It
        would be in everybody's way, also in that of the next line, and a person could submit it without a thought."""
        session, one = watched.session, watched.session.handoff
        if one is None or not one.left or watched.line is None:
            return
        if stands(watched.line, one.left) and not await self._tools.hands.erase(session.place, one.left):
            return  # not now: it is tried again with the next look
        after = replace(session, handoff=replace(one, left=""))
        row = reports.step_row(after, one, "ok", stamp(self._tools.clock).wall, f"not at the prompt: {one.left}")
        await self._put(after, row, certain=False)

    async def advance(self, watched: Watched, limits: Limits) -> Session:
        """As far as it goes by what was just seen."""
        session = watched.session
        for _ in range(_STEPS):
            one = session.handoff
            if one is None or one.is_over:
                return session
            facts = await self._facts(watched, one, limits)
            decision = machine.decide(one, facts, limits, _CLEAR[session.place.agent])
            match decision:
                case Wait():
                    return session
                case Move(step):
                    session = await self._move(session, one, step)
                case CallOff(why):
                    return await self._call_off(session, one, why)
                case Fail(why, code):
                    return await self._fail(session, one, why, code)
                case Type():
                    return await self._type(session, one, decision)
                case Interrupt():
                    return await self._interrupt(session, one)
        return session

    async def _facts(self, watched: Watched, one: Handoff, limits: Limits) -> Facts:
        place, standing, now = watched.session.place, watched.standing, stamp(self._tools.clock)
        paper = self._rests.seen(one, await self._tools.files.leaf(place, one.path), now)
        since = age(one.since, now)
        fresh = [sign for sign in watched.signs if age(sign.at, now) < since and not _of_another(sign, watched)]
        confirmed = one.tries > 0 and not one.uncertain
        by_pane = confirmed and (place.agent == "plain" or self._is_gone(watched, one))
        other = bool(one.conversation and standing.session and standing.session != one.conversation)
        return Facts(
            now,
            standing.state,
            watched.readings,
            paper,
            cleared=by_pane or other or any(sign.clears for sign in fresh),
            taken=(confirmed and place.agent == "plain") or (one.tries > 0 and _took_up(fresh)),
            tells=place.agent != "plain",
            left=stands(watched.line, machine.typed_at(one, _CLEAR[place.agent])),
            asked=watched.asked,
            enough=_far_from_full(standing, limits),
            spoken=one.step is Step.CLEARING and await self._spoken(watched.session, one, paper, watched.signs),
        )

    async def _spoken(self, session: Session, one: Handoff, paper: Paper | None, signs: Iterable[Sign]) -> bool:
        """Whether somebody gave it more to do than the document can tell: heard since it was written, or on record with
        the agent since it was asked for."""
        if _heard(signs, one, paper, stamp(self._tools.clock)):
            return True
        ours = (machine.asks(one), machine.nudges(one))
        return await self._tools.eyes.spoken(session.place, one.conversation, ours) is True

    async def _spoken_since(self, session: Session, began: Stamp) -> bool:
        """Between the look by which it was decided and the last moment before it is done."""
        one = session.handoff
        since = Paper(0, 0.0, written=age(began, stamp(self._tools.clock)))
        return one is not None and await self._spoken(session, one, since, self._heard(session.project))

    def _is_gone(self, watched: Watched, one: Handoff) -> bool:
        """Whether the pane does not show any more what was asked there. An agent without hooks tells nothing of a
        clear: its next transcript begins with its next prompt."""
        return watched.text is not None and "".join(one.path.split()) not in watched.text

    async def _move(self, session: Session, one: Handoff, step: Step) -> Session:
        now = stamp(self._tools.clock)
        # What may still stand at the prompt is known to nobody once this step counts as done.
        left = _left(session, one)
        after = replace(one, step=step, since=now, tries=0, uncertain=False, reason="", left=left)
        moved = replace(session, handoff=after)
        if step is Step.DONE:
            self._rests.forget(one)
            moved = replace(moved, context=None, failures=0)
        type = "handoff_done" if step is Step.DONE else "handoff_step"
        told = reports.handoff(type, moved, after, seconds=round(age(one.began, now), 1))
        await self._put(moved, Append(told), reports.step_row(moved, after, "ok", now.wall, step.value), certain=True)
        return moved

    async def end(self, session: Session, why: str) -> Session:
        """From outside: whatever was under way has its outcome."""
        one = session.handoff
        return session if one is None or one.is_over else await self._fail(session, one, why, Code.INVALID_STATE)

    async def _call_off(self, session: Session, one: Handoff, why: str) -> Session:
        now = stamp(self._tools.clock)
        self._rests.forget(one)
        after = replace(one, step=Step.CALLED_OFF, since=now, reason=why, left=_left(session, one))
        calm = replace(session, handoff=after)
        told = reports.handoff("handoff_called_off", calm, after, at=one.step.value, reason=why)
        row = reports.step_row(calm, after, "warning", now.wall, f"handoff called off: {why}")
        await self._put(calm, Append(told), row, certain=False)
        return calm

    async def _fail(self, session: Session, one: Handoff, why: str, code: Code) -> Session:
        now = stamp(self._tools.clock)
        self._rests.forget(one)
        after = replace(one, step=Step.FAILED, since=now, reason=why, left=_left(session, one))
        failed = replace(session, handoff=after, failures=session.failures + 1)
        told = reports.handoff("handoff_failed", failed, after, at=one.step.value, reason=why, code=code.value)
        row = reports.step_row(failed, after, "critical", now.wall, f"handoff given up: {why}")
        await self._put(failed, Append(told), row, certain=False)
        return failed

    async def _type(self, session: Session, one: Handoff, wanted: Type) -> Session:
        now = stamp(self._tools.clock)
        trying = replace(one, since=now, tries=one.tries + 1, uncertain=True, nudged=one.nudged or wanted.nudge)
        if one.step in (Step.ASKING, Step.WRITING):
            # How long the document is waited for counts from the first time it was asked for.
            trying = replace(trying, since=one.since)
        act = Act(
            self._tools.new_id(), TYPED, session.project, now, None, {"text": wanted.text, "step": one.step.value}
        )
        attempt = replace(session, handoff=trying)
        answer = await self._recorded(attempt, act, wanted.text, command=wanted.command, left=wanted.left)
        after = self._after(one, trying, wanted, answer)
        done = replace(session, handoff=after)
        action = f"typed: {wanted.text}" if answer.typed else f"not typed: {answer.reason}"
        row = reports.step_row(done, after, "ok" if answer.typed else "warning", now.wall, action)
        if answer.typed or not answer.again or one.reason != answer.reason:
            await self._put(done, row, certain=False)
        if not answer.typed and not answer.again:
            return await self._fail(done, after, answer.reason, Code.PANE_NOT_READY)
        return done

    def _after(self, one: Handoff, trying: Handoff, wanted: Type, answer: Answer) -> Handoff:
        if not answer.typed:
            return replace(one, reason=answer.reason)
        typed = replace(trying, uncertain=not answer.certain, reason="" if answer.certain else answer.reason)
        if one.step is Step.ASKING:
            return replace(typed, step=Step.WRITING, since=stamp(self._tools.clock), tries=0, uncertain=False)
        if wanted.nudge:
            return replace(typed, tries=one.tries, uncertain=False)
        return typed

    async def _interrupt(self, session: Session, one: Handoff) -> Session:
        now = stamp(self._tools.clock)
        act = Act(self._tools.new_id(), TYPED, session.project, now, None, {"interrupt": True, "step": one.step.value})
        answer = await self._recorded(session, act, "", interrupt=True)
        action = "interrupted" if answer.typed else f"not interrupted: {answer.reason}"
        row = reports.step_row(session, one, "ok" if answer.typed else "warning", now.wall, action)
        await self._put(session, row, certain=False)
        return session

    async def _recorded(
        self,
        attempt: Session,
        act: Act,
        text: str,
        *,
        command: bool = False,
        interrupt: bool = False,
        left: bool = False,
    ) -> Answer:
        """The intent first, at the last moment before the pane changes; then what came of it."""
        opened = False
        began = act.begun

        async def before() -> None:
            nonlocal opened, began
            if command and await self._spoken_since(attempt, began):
                raise ArgusError(Code.INVALID_STATE, "somebody gave it something to do meanwhile")
            await self._put(attempt, OpenAct(act), certain=True)
            opened, began = True, stamp(self._tools.clock)

        def told() -> bool:
            now = stamp(self._tools.clock)
            since = [sign for sign in self._heard(attempt.project) if age(sign.at, now) < age(began, now)]
            return any(sign.clears for sign in since) if command else _took_up(since)

        hands, place = self._tools.hands, attempt.place
        try:
            if interrupt:
                answer = await hands.interrupt(place, before)
            else:
                answer = await hands.type(place, text, command=command, before=before, told=told, left=left)
        except ArgusError as error:
            answer = Answer(False, again=True, reason=error.message)
        if opened:
            outcome = "typed" if answer.typed else "not typed"
            closing: Write = CloseAct(act.id, outcome, self._tools.clock.wall(), {"reason": answer.reason})
            await self._tools.notes.note(closing)
        return answer


def _left(session: Session, one: Handoff) -> str:
    """What this step typed, where nobody knows whether it was submitted."""
    return machine.typed_at(one, _CLEAR[session.place.agent]) if one.uncertain else one.left


def _far_from_full(standing: Standing, limits: Limits) -> str:
    """A reading that contradicts what the handoff was begun for, in words: it was compacted meanwhile, or misread."""
    context = standing.context
    if context is None or context.share >= limits.needless:
        return ""
    return f"its context is read as {100 * context.share:.0f} % by now ({context.source.value})"


def _of_another(sign: Sign, watched: Watched) -> bool:
    """Told by another process, where this one tells of itself: somebody may have two agents in one folder."""
    return bool(watched.own and sign.pid and sign.pid != watched.pid)


def _heard(signs: Iterable[Sign], one: Handoff, paper: Paper | None, now: Stamp) -> bool:
    """Of this conversation: another agent may work in the same folder."""
    written = paper.written if paper else 0.0
    own = [sign for sign in signs if not (one.conversation and sign.session and sign.session != one.conversation)]
    return any(sign.event in PROMPTS and not sign.subagent and age(sign.at, now) < written for sign in own)


def _took_up(fresh: list[Sign]) -> bool:
    """It works, or has answered already: a transcript that is new is read from its last answer on."""
    own = [sign for sign in fresh if not sign.subagent]
    answered = any(sign.context is not None and sign.source is Source.TRANSCRIPT for sign in own)
    return answered or any(sign.activity is Activity.WORKING for sign in own)
