"""What is done for a session by itself: handed on, asked for its context, told to go on after a limit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from argus.core.clock import Stamp, age, stamp
from argus.sessions import policy, reports
from argus.sessions.growth import Growth
from argus.sessions.handing import Handing, Put
from argus.sessions.handoff import Limits, Step
from argus.sessions.policy import AskContext, Circumstances, GoOn, HandOff, HeldBack
from argus.sessions.prompting import Prompting
from argus.sessions.settings import Sessions as Settings
from argus.sessions.tools import Tools
from argus.sessions.watched import Watched
from argus.store.records import Append

_CONTEXT_QUESTION = "Report your current context window usage from system warnings"
_GO_ON = "The usage limit is over. Continue with what you were doing."


class Acting:
    def __init__(
        self, tools: Tools, put: Put, handing: Handing, prompting: Prompting, settings: Callable[[], Settings]
    ) -> None:
        self._tools = tools
        self._put = put
        self._handing = handing
        self._prompting = prompting
        self._settings = settings
        self._began: dict[str, Stamp] = {}
        self._went_on: dict[str, Stamp] = {}
        """Known at once, before anything is on record: two sessions are looked at in the same moment."""

    def began(self, project: str, at: Stamp) -> None:
        self._began[project] = at

    async def act(self, one: Watched) -> None:
        await self._handing.tidy(one)
        session = one.session
        if session.is_handing_off:
            settings = self._settings().handoff
            limits = Limits(settings.timeout, settings.settle, self._settings().context.quiet_from / 100)
            after = await self._handing.advance(one, limits)
            if after.handoff is not None and after.handoff.step is Step.DONE:
                one.growth = Growth()
            return
        match policy.decide(session, one.standing, self._around(one)):
            case HandOff(why):
                self._began[session.project] = stamp(self._tools.clock)
                await self._handing.begin(session, one.standing, why.value, "argus")
            case HeldBack(gate):
                key = f"held:{gate}"
                if session.told != key:
                    told = reports.handoff_held_back(session, gate, self._tools.autonomy().value)
                    await self._put(replace(session, told=key), Append(told), certain=False)
            case AskContext():
                asked = replace(session, asked=stamp(self._tools.clock))
                await self._put(asked, certain=False)
                await self._prompting.type(session.place, "context", _CONTEXT_QUESTION)
            case GoOn(resets_at):
                self._went_on[session.project] = stamp(self._tools.clock)
                await self._put(replace(session, resumed=resets_at), certain=True)
                await self._prompting.type(session.place, "limit", _GO_ON)
            case None:
                pass

    def _around(self, one: Watched) -> Circumstances:
        now, settings = stamp(self._tools.clock), self._settings()
        name = one.session.project
        return Circumstances(
            now=now,
            autonomy=self._tools.autonomy(),
            enabled=settings.handoff.enabled,
            others_began=_since(self._began, name, now),
            gap=settings.handoff.gap,
            ask_after=settings.context.ask_after,
            quiet_from=settings.context.quiet_from / 100,
            look_ahead=settings.context.look_ahead,
            until_full=one.until_full(now),
            untold=one.untold(now),
            others_went_on=_since(self._went_on, name, now),
        )


def _since(moments: Mapping[str, Stamp], but: str, now: Stamp) -> float | None:
    return min((age(at, now) for name, at in moments.items() if name != but), default=None)
