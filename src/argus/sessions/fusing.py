"""Many signs, one state. Pure: what was heard and when, into what the session does, with how that is known.

The newest sign wins, with a handicap for the sources that are trusted less: they have to be newer by it. What is true
for as long as nothing ends it (a tool that runs, a dialog that is open, a subagent) is followed from its beginning to
its end, not judged by its age.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile

from argus.core.clock import Stamp, age
from argus.core.units import stretch
from argus.sessions.model import WAITING, Activity, Limit, Source, Standing
from argus.sessions.readings import context_of, limits_of
from argus.sessions.signals import PROMPTS, Sign

_HANDICAP = {Source.HOOK: 0.0, Source.TRANSCRIPT: 1.0, Source.PANE: 5.0}
_OTHERS = 5.0
_LATE = 3.0
"""SessionStart comes by a program of its own, and may arrive after the first prompt."""
_BROKEN_OFF = -0.5
"""That a person broke a turn off stands in the transcript alone; a hook that was under way does not undo it."""
_HEARD = frozenset({Source.HOOK, Source.TRANSCRIPT, Source.ANSWER, Source.REPORTED})
"""What counts as a sign of progress. A screen turns its spinner, and a status line is drawn, whatever happens."""
_TOLD = frozenset({Activity.WORKING, Activity.IDLE, Activity.RATE_LIMITED, *WAITING})
"""What an agent can say of itself. The other states are concluded."""
_RESTING = frozenset({Activity.IDLE, Activity.RATE_LIMITED})
_LASTING = frozenset({Source.HOOK, Source.TRANSCRIPT})
_NOT_ITS_OWN = "agent-turn-complete"
"""Codex says this of threads besides the conversation, too."""


@dataclass(frozen=True, slots=True)
class Patience:
    stalled_after: float = 900.0
    """Seconds of silence in a turn in which no tool runs."""
    tool: float = 3600.0
    """Seconds for which a tool or a subagent is believed to run that nobody saw end."""


def fuse(
    signs: Iterable[Sign],
    now: Stamp,
    *,
    alive: bool | None = None,
    session: str = "",
    patience: Patience | None = None,
    window: int = 0,
) -> Standing:
    """`alive`: whether its process is there, where that is known. `session`: the conversation, where that is known;
    else it is the one that was heard last."""
    patience = patience or Patience()
    ordered = _in_order(signs, now)
    current = session or _current(ordered)
    heard = [sign for sign in ordered if sign.session in ("", current)]
    context = context_of(heard, now, window)
    known = Standing(
        Activity.UNKNOWN,
        "",
        session=current,
        context=context,
        context_age=age(context.at, now) if context else None,
        limits=limits_of(heard),
        cost=next((sign.cost for sign in reversed(heard) if sign.cost is not None), None),
    )
    if alive is False:
        return replace(known, state=Activity.DEAD, because="its process is gone", source=Source.PROCESS, age=0.0)
    return _judged(known, heard, now, patience)


def shortened(signs: list[Sign], limit: int) -> list[Sign]:
    """The newest, and of the others what is still true: calls that did not end, readings that nothing replaced."""
    if len(signs) <= limit:
        return signs
    kept = set(range(len(signs) - limit // 2, len(signs)))
    closed = {sign.call for sign in signs if sign.ended}
    latest: dict[object, int] = {}
    for n, sign in enumerate(signs):
        for key in _lasting(sign, closed):
            latest[key] = n
    kept.update(sorted(latest.values())[-limit // 2 :])
    return [signs[n] for n in sorted(kept)]


def _lasting(sign: Sign, closed: set[str]) -> list[object]:
    keys: list[object] = [("said", sign.subagent, sign.source)] if sign.activity is not None else []
    keys += [("open", sign.call)] if sign.call and sign.call not in closed else []
    keys += [("context", sign.source)] if sign.context else []
    keys += [("limits",)] if sign.limits else []
    keys += [("cost",)] if sign.cost is not None else []
    keys += [("prompt",)] if sign.event in PROMPTS and not sign.subagent else []
    keys += [("mark", sign.starts, sign.clears, sign.compacts)] if sign.starts or sign.clears or sign.compacts else []
    return keys + ([("subagents",)] if sign.subagents is not None else [])


def _in_order(signs: Iterable[Sign], now: Stamp) -> list[Sign]:
    """As they mostly are: then there is nothing to sort, which would be half of what a look costs."""
    found = list(signs)
    if all(then > later for then, later in pairwise([age(sign.at, now) for sign in found])):
        return found
    return sorted(found, key=lambda sign: _order(sign, now))


def _order(sign: Sign, now: Stamp) -> tuple[object, ...]:
    """In time; of the same moment, the better source last. Total, so that the order of arrival does not matter."""
    flags = (sign.ended, sign.starts, sign.ends, sign.clears, sign.compacts, sign.interrupts)
    figures = (sign.context.used if sign.context else -1, sign.resets_at or 0.0, sign.cost or 0.0, len(sign.limits))
    texts = (sign.event, sign.session, sign.tool, sign.call, sign.subagent, sign.question, str(sign.subagents))
    return (-age(sign.at, now), -sign.source.rank, str(sign.activity), flags, figures, texts)


def _moment(sign: Sign, now: Stamp) -> float:
    """When it counts as said."""
    handicap = _HANDICAP.get(sign.source, _OTHERS)
    if sign.interrupts:
        handicap = _BROKEN_OFF
    elif sign.starts:
        handicap = max(handicap, _LATE)
    return -age(sign.at, now) - handicap


def _current(ordered: list[Sign]) -> str:
    named = [sign for sign in ordered if sign.session]
    own = [sign for sign in named if sign.event != _NOT_ITS_OWN and (not sign.ends or sign.subagent)]
    # A transcript that was found for the project says whose it is, also when hooks of others come in.
    return (own or named)[-1].session if named else ""


def _judged(known: Standing, heard: list[Sign], now: Stamp, patience: Patience) -> Standing:
    actors: dict[str, list[Sign]] = defaultdict(list)
    for sign in heard:
        if sign.activity in _TOLD:
            actors[sign.subagent].append(sign)
    running = _subagents(heard, now, patience)
    known = replace(known, subagents=len(running))
    main = _last_word(actors[""], now)
    waiting = _waiting(main, heard, [_last_word(actors[id], now) for id in sorted(running)])
    if waiting is not None:
        return _said(known, waiting, actors[""], now, question=waiting.question, tool=waiting.tool)
    if main is None or _is_over(main, heard, now):
        return _unknown(known, heard)
    if main.activity in WAITING:
        # Only a reminder, and the work went on since.
        main = replace(main, activity=Activity.WORKING, question="")
    if main.activity is Activity.RATE_LIMITED:
        return _said(
            known, main, actors[""], now, question=main.question, resets_at=main.resets_at or _full(known.limits)
        )
    if main.activity is Activity.IDLE and not running:
        return _said(known, main, actors[""], now, question=main.question)
    tool = _tool(heard, now, patience) if main.activity is Activity.WORKING else None
    if main.activity is Activity.IDLE:
        return replace(
            _said(known, main, actors[""], now), state=Activity.WORKING, because=_subagents_run(len(running))
        )
    last = _last_heard(heard)
    silence = age(last.at, now)
    if tool is None and not running and silence >= patience.stalled_after:
        because = f"{_because(main)}, and nothing was heard of it for {stretch(silence)}, with no tool at work"
        return replace(known, state=Activity.STALLED, because=because, source=last.source, age=silence)
    return _said(known, main, actors[""], now, tool=tool.tool if tool else "")


def _last_word(signs: list[Sign], now: Stamp) -> Sign | None:
    """Of one actor. A question stands until it is answered: another tool that begins or ends meanwhile is no answer."""
    wait: Sign | None = None
    last: Sign | None = None
    for sign in sorted(signs, key=lambda one: _moment(one, now)):
        if sign.activity in WAITING:
            # The reminder says less than the question it reminds of.
            wait = wait if wait is not None and sign.event == "Notification" else sign
        elif wait is not None and wait.tool and sign.tool and sign.tool != wait.tool:
            continue
        else:
            wait = None
        last = sign
    return wait or last


def _waiting(main: Sign | None, heard: list[Sign], others: list[Sign | None]) -> Sign | None:
    if main is not None and main.activity in WAITING:
        # A reminder does not say who asks: anything that was said after it by anybody means that it was answered.
        later = heard[heard.index(main) + 1 :]
        if main.event != "Notification" or not any(sign.activity is Activity.WORKING for sign in later):
            return main
    return next((one for one in others if one is not None and one.activity in WAITING), None)


def _is_over(main: Sign, heard: list[Sign], now: Stamp) -> bool:
    ends = [sign for sign in heard if sign.ends and not sign.subagent]
    return bool(ends) and age(ends[-1].at, now) <= age(main.at, now) and not main.starts


def _subagents(heard: list[Sign], now: Stamp, patience: Patience) -> dict[str, Sign]:
    running: dict[str, Sign] = {}
    over: set[str] = set()
    for sign in heard:
        if sign.subagents is not None:
            running = {id: sign for id in sign.subagents if id not in over}
        elif sign.subagent and sign.ends:
            over.add(sign.subagent)
            running.pop(sign.subagent, None)
        elif sign.subagent:
            if sign.event == "SubagentStart":
                over.discard(sign.subagent)
            if sign.subagent not in over:
                running[sign.subagent] = sign
        elif sign.starts or sign.ends:
            running.clear()
    return {id: sign for id, sign in running.items() if age(sign.at, now) <= patience.tool}


def _tool(heard: list[Sign], now: Stamp, patience: Patience) -> Sign | None:
    """The use of a tool that began last and has not ended."""
    closed = {sign.call for sign in heard if sign.call and sign.ended}
    open_: dict[str, Sign] = {}
    for sign in heard:
        if sign.call and not sign.ended and sign.call not in closed:
            open_.setdefault(sign.call, sign)
        elif sign.activity in _RESTING and not sign.subagent and sign.source in _LASTING:
            open_ = {call: one for call, one in open_.items() if one.subagent}
    found = [sign for sign in open_.values() if age(sign.at, now) <= patience.tool]
    return max(found, key=lambda sign: (not sign.subagent, -age(sign.at, now)), default=None)


def _last_heard(heard: list[Sign]) -> Sign:
    return ([sign for sign in heard if sign.source in _HEARD] or heard)[-1]


def _full(limits: tuple[Limit, ...]) -> float | None:
    """The end of the window that is used up."""
    ends = [one.resets_at for one in limits if one.used >= 100 and one.resets_at is not None]
    return max(ends, default=None)


def _said(
    known: Standing,
    sign: Sign,
    others: list[Sign],
    now: Stamp,
    *,
    tool: str = "",
    question: str = "",
    resets_at: float | None = None,
) -> Standing:
    assert sign.activity is not None
    because, then = _because(sign), age(sign.at, now)
    # Of each source its last word: what a screen showed before it was drawn anew is no objection.
    newer: dict[Source, Sign] = {}
    for one in takewhile(lambda one: age(one.at, now) < then, reversed(others)):
        newer.setdefault(one.source, one)
    newer.pop(sign.source, None)
    against = next((one for one in newer.values() if one.activity is not sign.activity), None)
    if against is not None:
        because += f"; its {_NAMES[against.source]} said {against.activity} after that, and is trusted less"
    return replace(
        known,
        state=sign.activity,
        because=because,
        source=sign.source,
        age=then,
        tool=tool,
        question=question,
        resets_at=resets_at,
    )


def _unknown(known: Standing, heard: list[Sign]) -> Standing:
    if not heard:
        return replace(known, because="nothing was heard of it")
    if any(sign.ends and not sign.subagent for sign in heard):
        return replace(known, because="its conversation ended, and no other has begun")
    return replace(known, because="what was heard of it does not tell what it does")


def _because(sign: Sign) -> str:
    if sign.source is Source.PANE:
        return f"its screen showed {_SHOWN.get(sign.event) or f'that it is {_plainly(sign.activity)}'}"
    what = f"{sign.event} ({sign.tool})" if sign.tool else sign.event
    return f"its {_NAMES[sign.source]} said {what}" if what else f"its {_NAMES[sign.source]} said {sign.activity}"


def _plainly(activity: Activity | None) -> str:
    return str(activity).replace("_", " ")


def _subagents_run(count: int) -> str:
    return f"its turn is over, and {count} subagent{' works' if count == 1 else 's work'} on"


_SHOWN = {"dialog": "a dialog", "limit": "a limit"}
"""What was seen on a screen, where that is more than what it came to."""
_NAMES = {
    Source.PROCESS: "process",
    Source.HOOK: "hook",
    Source.STATUS_LINE: "status line",
    Source.TRANSCRIPT: "transcript",
    Source.PANE: "screen",
    Source.ANSWER: "answer",
    Source.REPORTED: "report",
    Source.ESTIMATE: "estimate",
}
